"""Sums of which some results are kept: only those are computed, and they are the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from tests.tolerance import assert_close

N, T = pm.Parameter(pm.Int, "N"), pm.Parameter(pm.Int, "T")
x = pm.Signal(pm.Double, "x", N)
h = pm.Vector(pm.Double, "h", [T])


def full(a: Any, taps: Any) -> Any:
    return np.convolve(a, taps)


KEPT: dict[str, tuple[Any, Callable[[Any, Any], Any]]] = {
    "down": (x.fir(h).down(10), lambda a, b: np.convolve(a, b, "valid")[::10]),
    "causal, down": (x.fir(h, "causal").down(3), lambda a, b: full(a, b)[: len(a)][::3]),
    "full, slice": (x.fir(h, "full")[2:-1:2], lambda a, b: full(a, b)[2:-1:2]),
    "backwards": (x.fir(h, "causal")[::-1], lambda a, b: full(a, b)[: len(a)][::-1]),
    "twice": (x.fir(h, "same").down(2).down(3), lambda a, b: full(a, b)[(len(b) - 1) // 2 :][: len(a)][::6]),
}


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    output, expected = KEPT[name]
    compiled = pm.compile(output, name="kept", inputs=[x, h])
    assert sum(len(group.stages) for group in compiled.explain().groups) == 1
    for length, taps in ((3, 1), (7, 7), (31, 5), (101, 12)):
        rng = np.random.default_rng(length)
        a, b = rng.uniform(-1, 1, length), rng.uniform(-1, 1, taps)
        assert_close(compiled(a, b), np.ascontiguousarray(expected(a, b)), roundings=2 * taps, magnitude=taps)


def test_start_values_and_rows() -> None:
    i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
    A = pm.Matrix(pm.Double, "A", [N, N])
    rows = pm.Interval(pm.Int, 0, N - 1)
    sums = pm.Reduction(
        ([i], [rows]), ([i, j], [rows, pm.Interval(pm.Int, 0, i)]), pm.Double, "sums", init=2.0 * i
    )
    sums.defn = [pm.Reduce(sums(i), A(i, j) * j, pm.Op.Sum)]
    kept = pm.Function(([j], [pm.Interval(pm.Int, 0, (N - 1) // 2)]), pm.Double, "kept")
    kept.defn = [sums(2 * j)]
    compiled = pm.compile(kept, inputs=[A])
    a = np.random.default_rng(1).uniform(-1, 1, (9, 9))
    assert_close(compiled(a), compiled.reference(a), roundings=20, magnitude=80.0)
    assert sum(len(group.stages) for group in compiled.explain().groups) == 1


def test_others_are_read() -> None:
    both = x.fir(h, "causal")
    compiled = pm.compile([both.down(2), both], name="kept", inputs=[x, h])
    a, b = np.arange(7.0), np.array([1.0, 2.0])
    np.testing.assert_array_equal(compiled(a, b)[0], compiled(a, b)[1][::2])
