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
SHAPES = ((0, 0), (1, 1), (1, 9), (9, 1), (7, 8), (13, 11), (17, 9), (26, 31))
PROGRAMS = 5
TYPES = (Double, Double, pm.Float, pm.Long)


def sweep(rng: random.Random, timed: bool, up: int = 1) -> tuple[Function, Any]:
    """A field that is swept over, given along its borders, and what that is; at time T, at all, or only once.

    Borders are what no case covers, or a case of their own.  up: -1 where rows need those below them.
    """
    dtype, border = rng.choice(TYPES), rng.choice(("default", "default", "case"))
    A, depth, reach = pm.Matrix(dtype, "A", [M, N]), rng.choice((1, 1, 2)), rng.choice((1, 2))
    dims, plane = [t, i, j] if timed else [i, j], [Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)]
    beyond: dict[str, Any] = {"default": A(i, j)} if border == "default" else {}
    x = Function((dims, [*([Interval(Int, 0, T)] if timed else []), *plane]), dtype, "x", **beyond)

    def at(before: int, row: int, column: int) -> Any:
        return x(*([t - before] if timed else []), i + row, j + column)

    terms = [at(0, 0, rng.choice((1, -1)) * rng.randint(1, reach))]
    columns = range(-reach, reach + 1)
    if rng.random() < 0.6:
        terms += [at(0, -up * rng.randint(1, 2), rng.choice(columns)) for _ in range(rng.randint(1, 2))]
    if timed:
        near = [(rng.randint(1, depth), rng.choice((-1, 0, 1)), rng.choice(columns)) for _ in range(3)]
        terms += [at(*each) for each in near[: rng.randint(1, 3)]]
    top, left, low = rng.randint(2, 4), reach + rng.choice((0, 0, 1)), M - 2 if up > 0 else M - 3
    inner = Condition(i, ">=", top) & Condition(i, "<=", low) & Condition(j, ">=", left)
    inner &= Condition(j, "<=", N - 1 - left)
    outer = Condition(i, "<", top) | Condition(i, ">", low) | Condition(j, "<", left)
    outer |= Condition(j, ">", N - 1 - left)
    if timed:
        inner, outer = inner & Condition(t, ">=", depth), outer | Condition(t, "<", depth)
    x.defn = [Case(inner, value(rng, terms, A)), *([Case(outer, A(i, j))] if border == "case" else [])]
    if not timed or rng.random() < 0.25:
        return x, A
    last = Function(([i, j], plane), dtype, "last")
    last.defn = [x(T, i, j)]
    return last, A


def value(rng: random.Random, terms: list[Any], A: Any) -> Any:
    """A point of a sweep, of what it reads, that does not grow."""
    if A.dtype == pm.Long:
        return (sum(terms) + A(i, j)) & 1023
    found: Any = sum(0.9 / len(terms) * term for term in terms)
    found = found / (1.5 + A(i, j)) if rng.random() < 0.4 else found
    found = pm.Max(found, 0.1 * A(i, j)) if rng.random() < 0.3 else found
    return found + 0.1 * A(i, j)


def compared(rng: random.Random, timed: bool, number: int, up: int = 1) -> pm.Compiled:
    """The program of a sweep, whose results are those of the interpreter."""
    options = Options(threads=rng.choice((1, 2, 3, 7)), parallel_threshold=rng.choice((0, None)))
    swept, A = sweep(rng, timed, up)
    compiled = pm.compile(swept, inputs=[A], name=f"sweep_{number}", options=options)
    for shape in SHAPES:
        given = (9 * np.random.default_rng(number).random(shape)).astype(A.dtype.dtype)
        steps = {"T": rng.choice((0, 1, 3))} if timed else {}
        found, expected = compiled(given, **steps), compiled.reference(given, **steps)
        error = 1e-4 if A.dtype == pm.Float else 1e-11
        np.testing.assert_allclose(found, expected, rtol=error, atol=error)
    return compiled


@pytest.mark.parametrize("timed", [False, True])
def test_results_are_those_of_the_interpreter(timed: bool, seed: int) -> None:
    rng, turned = random.Random(seed), 0
    for number in range(PROGRAMS):
        turned += "take turns" in str(compared(rng, timed, number).explain())
    assert turned >= PROGRAMS // 2


@pytest.mark.parametrize("timed", [False, True])
def test_sweeps_from_the_last_row_to_the_first(timed: bool, seed: int) -> None:
    rng = random.Random(f"upwards {seed}")
    for number in range(PROGRAMS // 2):
        compared(rng, timed, number, up=-1)
