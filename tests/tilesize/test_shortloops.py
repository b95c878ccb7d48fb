"""Loops shorter than a vector are charged for what starting them takes, where only the call tells lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Float, Image, Int, Options, Parameter
from polymat.graph.group import Group
from polymat.tilesize.plain import plan_stage
from polymat.tilesize.shortloops import START, starting_operations
from tests.idiom.recognise import pipeline
from tests.tolerance import assert_close

H, W, C, R, S, K = (Parameter(Int, name) for name in "HWCRSK")
SHORT = {"H": 300, "W": 300, "C": 1, "R": 3, "S": 3, "K": 1}


def convolution(kind: Any, filters: Any) -> Any:
    return pm.conv2d(Image(kind, "x", [H, W, C]), Image(kind, "w", [R, S, C, filters]))


def price(filters: Any, estimates: dict[str, int], lanes: int = 16) -> float:
    built = pipeline(convolution(Float, filters))
    (stage,) = built.stages
    plan = plan_stage(Group((stage.name,)), stage, built.context)
    assert (plan.kind, plan.vector) == ("row", stage.dims[-1])
    return starting_operations(stage, estimates, plan, lanes)


def test_every_short_loop_is_charged_as_often_as_it_starts() -> None:
    points = 298 * 298
    assert price(K, SHORT) == pytest.approx(
        START * 16 * points * (1 + 3 + 9 + 9)
    )  # loops along l, m, n and k
    assert price(K, SHORT | {"K": 16}) == pytest.approx(START * 16 * points * (1 + 3 + 9))
    assert price(K, SHORT, lanes=3) == pytest.approx(START * 3 * points * (9 + 9))


def test_loops_of_known_length_are_free() -> None:
    assert price(1, SHORT) == pytest.approx(START * 16 * 298 * 298 * (1 + 3 + 9))


def test_long_loops_are_free() -> None:
    assert price(K, dict.fromkeys("HWCRSK", 16) | {"H": 100, "W": 100}) == 0.0


@pytest.mark.parametrize("kind", [Double, Float])
def test_a_convolution_to_one_channel_takes_register_blocks(kind: Any) -> None:
    x, w = Image(kind, "x", [H, W, C]), Image(kind, "w", [R, S, C, K])
    estimates = {size: SHORT[size.name] for size in (H, W, C, R, S, K)}
    run: Any = pm.compile(
        pm.conv2d(x, w), inputs=[x, w], estimates=estimates, options=Options(blas="never", threads=1)
    )
    assert "kernel loops" in str(run.explain())
    rng = np.random.default_rng(2)
    for shape, window in (((7, 5, 1), (3, 3, 1, 1)), ((3, 3, 2), (3, 3, 2, 1)), ((17, 9, 3), (1, 2, 3, 17))):
        image, weights = (rng.uniform(-1, 1, size).astype(kind.dtype) for size in (shape, window))
        roundings = int(np.prod(window[:3])) + 8
        assert_close(
            run(image, weights), run.reference(image, weights), roundings=roundings, magnitude=roundings
        )
