"""Slices that wait for blocks of steps compute what the interpreter does, whatever is predicted of them."""

from __future__ import annotations

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Double, Function
from tests.differential.random_waiting import (
    COLUMNS,
    ROWS,
    STEPS,
    WAIT,
    C,
    M,
    T,
    differences,
    draw,
    i,
    j,
    k,
    waiting_whenever_legal,
)

PROGRAMS = 8


@pytest.mark.drawn(PROGRAMS)
@pytest.mark.parametrize("number", range(PROGRAMS))
def test_results_are_those_of_the_interpreter(number: int, seed: int) -> None:
    assert differences(draw(1000 * seed + number), steps=(3, 4, 16)[number % 3]) == []


def test_blocks_are_no_longer_where_columns_in_front_lie_far_behind() -> None:
    x, back = pm.Matrix(Double, "x", [M, C]), 7
    a = Function(([k, i, j], [STEPS, ROWS, COLUMNS]), Double, "a")
    q = Function(([k, i], [STEPS, ROWS]), Double, "q")
    early = Condition(k, "<", back)
    q.defn = [Case(early, 0.5 / (1.0 + k)), Case(Condition(k, ">=", back), 0.25 * a(k, i, k - back))]
    value = 0.875 * a(k - 1, i, j) - q(k - 1, i) * a(k - 1, 0, j)
    a.defn = [Case(Condition(k, "==", 0), x(i, j)), Case(Condition(k, ">=", 1), value)]
    last = Function(([i, j], [ROWS, COLUMNS]), Double, "last")
    last.defn = [a(T, i, j) * 2.0]
    with waiting_whenever_legal(steps=4):
        compiled = pm.compile(last, inputs=[x], constraints=[Condition(C, ">=", T + 2)])
    assert WAIT in str(compiled.explain())
    given = np.random.default_rng(3).standard_normal((5, 61))
    np.testing.assert_allclose(compiled(given, T=50), compiled.reference(given, T=50), rtol=1e-12)
