"""What decisions take sizes for that nobody gave: every array and loop of an ordinary extent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.graph.build import build
from polymat.graph.pipeline import Pipeline
from polymat.model.assumed import UNKNOWN_EXTENT, UNKNOWN_WINDOW, assumed_sizes
from tests.tolerance import assert_close

H, W, C, R, S, K = (pm.Parameter(pm.Int, name) for name in "HWCRSK")


def layer(stride: int = 1) -> Any:
    return pm.conv2d(pm.Image(pm.Float, "x", [H, W, C]), pm.Image(pm.Float, "w", [R, S, C, K]), stride=stride)


def between(first: int, last: Any, *constraints: Any) -> Pipeline:
    """2 x over the indices first..last of an array of H elements."""
    i, x = pm.Variable(pm.Int, "i"), pm.Image(pm.Double, "x", [H])
    y = pm.Function(([i], [pm.Interval(pm.Int, first, last)]), pm.Double, "y")
    y.defn = [2 * x(i)]
    return build([y], constraints=constraints)


@pytest.mark.parametrize("stride", [1, 2])
def test_sizes_that_shorten_an_extent_are_windows(stride: int) -> None:
    sizes = assumed_sizes(build([layer(stride)]), {})
    assert {sizes[name] for name in "RS"} == {UNKNOWN_WINDOW}
    assert {sizes[name] for name in "HWCK"} == {UNKNOWN_EXTENT}


def test_windows_are_shorter_than_what_was_given() -> None:
    sizes = assumed_sizes(build([layer()]), {"H": 5, "S": 3000})
    assert sizes["H"] - sizes["R"] + 1 >= 3
    assert sizes["W"] - sizes["S"] + 1 >= 500
    assert (sizes["H"], sizes["S"], sizes["C"]) == (5, 3000, UNKNOWN_EXTENT)


def test_nothing_that_was_given_is_changed() -> None:
    given = {"H": 5, "W": 5, "C": 1, "R": 7, "S": 7, "K": 1}  # without any result
    assert assumed_sizes(build([layer()]), given) == given


def test_a_chain_of_windows_leaves_something_of_each() -> None:
    i, x = pm.Variable(pm.Int, "i"), pm.Image(pm.Double, "x", [H])
    stages = []
    for name, extent in (("y", H - R), ("z", R - S)):
        stage = pm.Function(([i], [pm.Interval(pm.Int, 0, extent - 1)]), pm.Double, name)
        stage.defn = [2 * x(i)]
        stages.append(stage)
    sizes = assumed_sizes(build(stages), {})
    assert sizes["H"] >= 2 * sizes["R"]
    assert sizes["R"] >= 2 * sizes["S"] >= 2


def test_constraints_are_met() -> None:
    sizes = assumed_sizes(between(0, H - 1, pm.Condition(H, ">=", 3000), pm.Condition(H, "<=", 9000)), {})
    assert 3000 <= sizes["H"] <= 9000
    assert assumed_sizes(between(0, H - 1, pm.Condition(H, "<=", 16)), {})["H"] <= 16


def test_a_constant_part_is_left_of_a_size() -> None:
    assert assumed_sizes(between(0, 40 - H), {})["H"] == UNKNOWN_WINDOW
    assert assumed_sizes(between(1, H - 2), {})["H"] == UNKNOWN_EXTENT


@pytest.mark.parametrize("stride", [1, 2])
def test_convolutions_without_estimates_take_register_blocks(stride: int, seed: int) -> None:
    compiled: Any = pm.compile(layer(stride), name="layer", options=pm.Options(blas="never", threads=2))
    report = compiled.explain()
    assert {group.kind for group in report.groups} == {"kernel"}
    assert report.assumed["R"] == UNKNOWN_WINDOW
    rng = np.random.default_rng(seed)
    for shape, taps in (((9, 11, 5), (3, 2, 5, 17)), ((3, 3, 1), (3, 3, 1, 1)), ((4, 5, 3), (1, 5, 3, 49))):
        arrays = [rng.uniform(-1, 1, each).astype(np.float32) for each in (shape, taps)]
        roundings = int(np.prod(taps[:3])) + 4
        expected = compiled.reference(*arrays)
        assert_close(compiled(*arrays), expected, roundings=roundings, magnitude=roundings)


@pytest.mark.parametrize("factor", [1, 2, 3, 5])
def test_equal_sizes_stay_ordinary(factor: int) -> None:
    """Sizes that halving and doubling never make equal are nearly so, and not tiny."""
    for more in (0, 1):
        wanted = pm.Condition(H, "==", factor * W + more)
        sizes = assumed_sizes(between(0, H + W - 1, wanted), {})
        assert min(sizes.values()) >= UNKNOWN_EXTENT / 8
        assert sizes["H"] == pytest.approx(factor * sizes["W"], rel=0.5)
