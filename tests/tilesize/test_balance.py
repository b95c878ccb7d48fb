"""Planes and other few pieces: which dimension threads share, and what it costs to share a few points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Float, Function, Image, Int, Interval, Op, Options, Parameter, Reduce, Reduction, Variable
from polymat.tilesize.balance import waiting
from tests.tolerance import assert_close

H, W = Parameter(Int, "H"), Parameter(Int, "W")
I, J, C = Variable(Int, "i"), Variable(Int, "j"), Variable(Int, "c")  # noqa: E741
A, B = Variable(Int, "a"), Variable(Int, "b")


def planes(count: Any) -> Any:
    sides = [Interval(Int, 0, count - 1), Interval(Int, 0, H - 1), Interval(Int, 0, W - 1)]
    return [C, I, J], sides


def blur(count: Any) -> Function:
    image = Image(Float, "image", [count, H + 2, W + 2])
    out = Function(planes(count), Float, "out")
    out.defn = [sum(image(C, I + a, J + b) * (0.1 * (a + b + 1)) for a in range(3) for b in range(3))]
    return out


def summed(count: int) -> Reduction:
    image, taps = Image(Float, "image", [count, H + 2, W + 2]), Image(Float, "taps", [3, 3])
    variables, sides = planes(count)
    window = ([*variables, A, B], [*sides, Interval(Int, 0, 2), Interval(Int, 0, 2)])
    out = Reduction((variables, sides), window, Float, "out")
    out.defn = [Reduce(out(C, I, J), image(C, I + A, J + B) * taps(A, B), Op.Sum)]
    return out


@pytest.mark.parametrize(("count", "parallel"), [(1, "i"), (3, "i"), (15, "i"), (16, "c"), (64, "c")])
def test_threads_share_the_rows_of_a_few_planes(count: int, parallel: str) -> None:
    compiled = pm.compile(blur(count), name="planes", options=Options(threads=2, parallel_threshold=0))
    assert compiled.explain().groups[0].parallel == parallel
    for height, width in ((1, 1), (2, 7), (5, 33)):
        image = np.random.default_rng(0).random((count, height + 2, width + 2), np.float32)
        assert_close(compiled(image), compiled.reference(image), roundings=20, magnitude=5.0)


def test_planes_of_unknown_number_are_shared() -> None:
    count = Parameter(Int, "N")
    assert pm.compile(blur(count), name="many").explain().groups[0].parallel == "c"


def test_sums_over_windows_of_planes() -> None:
    compiled = pm.compile(summed(3), name="windows", options=Options(threads=2, parallel_threshold=0))
    assert compiled.explain().groups[0].parallel == "i"
    taps = np.random.default_rng(1).random((3, 3), np.float32)
    for height, width in ((1, 1), (3, 7), (13, 33)):
        image = np.random.default_rng(0).random((3, height + 2, width + 2), np.float32)
        assert_close(compiled(image, taps), compiled.reference(image, taps), roundings=20, magnitude=9.0)


def test_chains_of_planes_are_tiled_along_rows() -> None:
    image = Image(Float, "image", [3, H, W + 4])
    across = Function(planes(3), Float, "across")
    sides = [Interval(Int, 0, 2), Interval(Int, 0, H - 5), Interval(Int, 0, W - 1)]
    down = Function(([C, I, J], sides), Float, "down")
    across.defn = [sum(image(C, I, J + b) * (0.1 * b + 0.2) for b in range(5))]
    down.defn = [sum(across(C, I + a, J) * (0.1 * a + 0.2) for a in range(5))]
    compiled = pm.compile(down, name="chain", estimates={H: 1000, W: 1000}, options=Options(threads=2))
    assert compiled.explain().groups[0].parallel in ("i", "c, i")  # not along planes alone


def test_busy_threads() -> None:
    assert waiting(None, 2) == 1.0
    assert waiting(3, 2) == pytest.approx(4 / 3)
    assert waiting(1, 4) == 4.0
    assert waiting(8, 4) == 1.0
