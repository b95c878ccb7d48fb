"""Interiors in which Min, Max and a Select on indices are decided: that they are parts, and values stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.graph.build import build
from polymat.graph.interiors import split_interiors
from polymat.graph.interpret import interpret
from polymat.graph.pipeline import Pipeline
from polymat.lang.affine import computed_in
from polymat.lang.traverse import loads_in
from polymat.poly.membership import members

N, M = pm.Parameter(pm.Int, "N"), pm.Parameter(pm.Int, "M")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
SHAPES = [(1, 1), (1, 5), (2, 3), (3, 2), (4, 9), (7, 6)]
Define = Callable[[Any], Any]


def pipeline_of(define: Define, shape: tuple[Any, Any] = (N, M)) -> Pipeline:
    image = pm.Image(pm.Double, "image", [*shape])
    found = pm.Function(([i, j], [pm.Interval(pm.Int, 0, size - 1) for size in shape]), pm.Double, "found")
    found.defn = [define(image)]
    least = [pm.Condition(size, ">=", 1) for size in shape if size in (N, M)]
    return build([found], constraints=least)


def edges(image: Any) -> Any:
    """The two neighbours on each side, of the edge beyond it."""
    rows = (image(pm.Clamp(i + k, 0, N - 1), j) for k in (-2, 2))
    return sum(rows) + image(i, pm.Clamp(j + 1, 0, M - 1))


def around(image: Any) -> Any:
    """The neighbour before, the last one of the first, of what values choose."""
    before = pm.Select(pm.Condition(i, ">=", 1), image(pm.Max(i - 1, 0), j), image(N - 1, j))
    return pm.Select(pm.Condition(image(i, j), ">", 0.5), image(i, j) - before, 2 * before)


def far(image: Any) -> Any:
    """A border as wide as half of the image is none."""
    return image(pm.Max(2 * i - N, 0) // 2, j)


def looked_up(image: Any) -> Any:
    return image(pm.Clamp(pm.Cast(pm.Int, 9 * image(i, j)), 0, N - 1), j)


def of_values(image: Any) -> Any:
    """A Select of numbers is one of lanes."""
    return pm.Select(pm.Condition(i, ">=", 1), 2.0, 3.0) * image(i, j)


@pytest.mark.parametrize(
    ("define", "parts"), [(edges, 2), (around, 2), (far, 1), (looked_up, 1), (of_values, 1)]
)
def test_interiors_have_indices_that_are_forms(define: Define, parts: int) -> None:
    given = pipeline_of(define)
    found = split_interiors(given)
    stage = found.stage("found")
    assert len(stage.parts) == parts
    assert (found is given) == (parts == 1)
    if parts == 2:
        first, second = (loads_in(part.expr) for part in stage.parts)
        assert not any(computed_in(load.indices) for load in first)
        assert any(computed_in(load.indices) for load in second)


@pytest.mark.parametrize("define", [edges, around])
@pytest.mark.parametrize("shape", SHAPES)
def test_values_stay(define: Define, shape: tuple[int, int]) -> None:
    given = pipeline_of(define)
    array = np.random.default_rng(shape[1]).random(shape)
    sizes = dict(zip("NM", shape, strict=True))
    before = interpret(given, {"image": array}, sizes)
    after = interpret(split_interiors(given), {"image": array}, sizes, members)
    np.testing.assert_array_equal(before["found"], after["found"])


def test_the_interior_of_known_sizes_is_the_larger_part() -> None:
    found = split_interiors(pipeline_of(lambda image: image(pm.Max(i - 2, 0), j), (50, 60))).stage("found")
    assert [len(part.domain.pieces()) for part in found.parts] == [1, 1]
    assert "2 <= i" in str(found.parts[0].domain)


@pytest.mark.parametrize("shape", SHAPES)
def test_compiled(shape: tuple[int, int]) -> None:
    image = pm.Image(pm.Double, "image", [N, M])
    outputs = []
    for define in (edges, around):
        spans = [pm.Interval(pm.Int, 0, size - 1) for size in (N, M)]
        outputs.append(pm.Function(([i, j], spans), pm.Double, define.__name__))
        outputs[-1].defn = [define(image)]
    constraints = [pm.Condition(size, ">=", 1) for size in (N, M)]
    compiled = pm.compile(outputs, inputs=[image], constraints=constraints)
    array = np.random.default_rng(1).random(shape)
    for got, expected in zip(compiled(array), compiled.reference(array), strict=True):
        np.testing.assert_allclose(got, expected)
