"""Random sweeps whose rows take turns, over time and alone, beside the interpreter."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Double, Function, Int, Interval, Options

M, N, T = (pm.Parameter(Int, name) for name in "MNT")
t, i, j = (pm.Variable(Int, name) for name in "tij")
A = pm.Matrix(Double, "A", [M, N])
SHAPES = ((0, 0), (1, 1), (1, 9), (9, 1), (7, 8), (13, 11), (17, 9), (26, 31))
PROGRAMS = 6


def sweep(rng: random.Random, timed: bool) -> Function:
    """A field that is swept over, given along its borders; at time T, or only once."""
    dims, plane = [t, i, j] if timed else [i, j], [Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)]
    x = Function((dims, [*([Interval(Int, 0, T)] if timed else []), *plane]), Double, "x", default=A(i, j))

    def at(before: int, row: int, column: int) -> Any:
        return x(*([t - before] if timed else []), i + row, j + column)

    terms = [at(0, 0, rng.choice((1, -1)) * rng.randint(1, 2))]
    if rng.random() < 0.6:
        terms += [at(0, -rng.randint(1, 2), rng.randint(-2, 2)) for _ in range(rng.randint(1, 2))]
    if timed:
        terms += [at(1, rng.choice((-1, 0, 1)), rng.randint(-2, 2)) for _ in range(rng.randint(1, 3))]
    value: Any = sum(0.9 / len(terms) * term for term in terms)
    value = value / (1.5 + A(i, j)) if rng.random() < 0.4 else value
    value = pm.Max(value, 0.1 * A(i, j)) if rng.random() < 0.3 else value
    top, left = rng.randint(2, 4), 3
    inner = Condition(i, ">=", top) & Condition(i, "<=", M - 2) & Condition(j, ">=", left)
    inner &= Condition(j, "<=", N - 1 - left)
    x.defn = [Case(inner & Condition(t, ">=", 1) if timed else inner, value + 0.1 * A(i, j))]
    if not timed:
        return x
    last = Function(([i, j], plane), Double, "last")
    last.defn = [x(T, i, j)]
    return last


@pytest.mark.parametrize("timed", [False, True])
def test_results_are_those_of_the_interpreter(timed: bool, seed: int) -> None:
    rng, turned = random.Random(seed), 0
    for number in range(PROGRAMS):
        options = Options(threads=rng.choice((1, 2)))
        compiled = pm.compile(sweep(rng, timed), inputs=[A], name=f"sweep_{number}", options=options)
        turned += "take turns" in str(compiled.explain())
        for shape in SHAPES:
            given = np.random.default_rng(number).random(shape)
            steps = {"T": rng.choice((0, 1, 3))} if timed else {}
            found, expected = compiled(given, **steps), compiled.reference(given, **steps)
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    assert turned >= PROGRAMS // 2
