"""Loops that divide their index by a large number, against the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.codegen.loops.quotients import QUOTIENT

N = pm.Parameter(pm.Int, "N")
i = pm.Variable(pm.Int, "i")
BLOCK, KEPT = 128, 100


def of_blocks(x: Any) -> Any:
    return x(BLOCK * (i // KEPT) + (i - KEPT * (i // KEPT)) + 28)


def with_the_quotient(x: Any) -> Any:
    return x(i // KEPT) - x(i)


def of_two_kinds(x: Any) -> Any:
    return x(i // KEPT) + x(i // 70)


@pytest.mark.parametrize(
    ("value", "split"), [(of_blocks, True), (with_the_quotient, True), (of_two_kinds, False)]
)
def test_results(value: Callable[[Any], Any], split: bool) -> None:
    x = pm.Image(pm.Double, "x", [2 * N + 400])
    found = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), pm.Double, "found")
    found.defn = [value(x)]
    compiled = pm.compile(
        found, name=value.__name__, inputs=[x], options=pm.Options(threads=2, parallel_threshold=0)
    )
    assert (QUOTIENT in compiled.source) == split
    for length in (1, 2, KEPT - 1, KEPT, KEPT + 1, 2 * KEPT, 997):
        given = np.random.default_rng(length).uniform(-1, 1, 2 * length + 400)
        assert np.array_equal(compiled(given), compiled.reference(given))
