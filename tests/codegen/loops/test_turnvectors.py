"""Rows of sweeps that take turns as lanes of vectors: numbers are the interpreter's, whatever is read."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import polymat as pm
from benchmarks.polybench import seidel_2d
from polymat import Case, Condition, Double, Float, Function, Int, Interval, Options
from polymat.codegen.program import Program
from polymat.machine.model import Machine
from polymat.machine.probe import probe
from tests.fixed import NARROW, WIDE, compiled_levels, own_c

M, N, T = (pm.Parameter(Int, name) for name in "MNT")
t, i, j = (pm.Variable(Int, name) for name in "tij")
A, B = (pm.Matrix(Double, name, [M, N]) for name in "AB")
SINGLE = pm.Matrix(Float, "single", [M, N])
RESULT = "_pm_result0"
SHAPES = ((0, 0), (1, 1), (1, 9), (9, 1), (7, 30), (10, 17), (11, 18), (13, 40), (17, 9), (26, 31), (35, 43))
PROGRAMS = 4


def field(value: Any, timed: bool, given: pm.Matrix = A) -> Function:
    """A field that is swept over, given along its borders; at time T, or only once."""
    dtype = given.dtype
    dims, plane = [t, i, j] if timed else [i, j], [Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)]
    times = [Interval(Int, 0, T)] if timed else []
    x = Function((dims, [*times, *plane]), dtype, "x", default=given(i, j))

    def at(before: int, row: int, column: int) -> Any:
        return x(*([t - before] if timed else []), i + row, j + column)

    inner = Condition(i, ">=", 2) & Condition(i, "<=", M - 2)
    inner &= Condition(j, ">=", 2) & Condition(j, "<=", N - 3)
    x.defn = [Case(inner & Condition(t, ">=", 1) if timed else inner, value(at))]
    if not timed:
        return x
    last = Function(([i, j], plane), dtype, "last")
    last.defn = [x(T, i, j)]
    return last


def drawn(rng: random.Random, timed: bool, *, pays: bool) -> Function:
    """A sweep by some of the elements near by, divided by what does not vanish.

    pays: by a number, with three elements of the row above at least, which vectors are worth on any machine.
    """
    places = [(0, 0, -1), *((0, 0, -2) for _ in range(rng.randint(0, 1)))]
    places += [(0, -1, column) for column in (-1, 0, 1) if pays]
    places += [(0, -1, rng.randint(-2, 2)) for _ in range(rng.randint(0, 3))]
    if timed:
        places += [(1, rng.randint(0, 1), rng.randint(0, 2)) for _ in range(rng.randint(1, 4))]
        places += [(1, 1, rng.randint(-2, 2)) for _ in range(rng.randint(0, 2))]
    rng.shuffle(places)
    weights = [rng.choice((0.25, 0.5, -0.75)) for _ in places]
    given = not pays and rng.random() < 0.4

    def value(at: Any) -> Any:
        total: Any = sum(w * at(*place) for w, place in zip(weights, places, strict=True))
        return (total + B(i, j)) / (len(places) + A(i, j)) if given else -total / (0.5 + len(places))

    return field(value, timed)


@pytest.mark.parametrize("timed", [False, True])
def test_random_sweeps(timed: bool, seed: int) -> None:
    rng, vectors = random.Random(seed), 0
    targets = ("native", "x86-64-v3") if probe().vector_bits == WIDE.vector_bits else ("native",)
    for number in range(PROGRAMS):
        options = Options(threads=rng.choice((1, 2)), target=rng.choice(targets))
        made = drawn(rng, timed, pays=number < PROGRAMS // 4)
        compiled = pm.compile(made, inputs=[A, B], name=f"sweep_{number}", options=options)
        vectors += RESULT in compiled.source
        for shape in SHAPES:
            given = np.random.default_rng(number).random((2, *shape))
            steps = {"T": rng.choice((0, 1, 4))} if timed else {}
            found, expected = compiled(*given, **steps), compiled.reference(*given, **steps)
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    assert vectors >= PROGRAMS // 4 or probe().vector_bits < NARROW.vector_bits


FAR = {
    "two columns before": lambda at: (at(0, 0, -2) + at(0, -1, 0)) / 3.0,
    "two columns before, and of the row above": lambda at: (at(0, 0, -2) + at(0, -1, -2)) / 3.0,
}


@pytest.mark.parametrize("name", FAR)
def test_results_are_read_later_only(name: str) -> None:
    """Results of a turn come in where none is read yet, and are handed on to where they are."""
    options = Options(threads=1)
    assert RESULT in text_of(field(FAR[name], timed=False), WIDE)
    compiled = pm.compile(field(FAR[name], timed=False), inputs=[A, B], name="later", options=options)
    for shape in SHAPES:
        given = np.random.default_rng(1).random((2, *shape))
        np.testing.assert_allclose(compiled(*given), compiled.reference(*given), rtol=1e-11)


def text_of(made: Function, machine: Machine, **options: Any) -> str:
    program = compiled_levels(made, machine=machine, options=Options(**options))["codegen"]
    assert isinstance(program, Program)
    return own_c(program)


@pytest.mark.parametrize(("machine", "vectors"), [(NARROW, 2), (WIDE, 1)])
def test_eight_rows_are_the_lanes_of_vectors(machine: Machine, vectors: int) -> None:
    """Of a turn the next elements are gathered; those above and below are shifted by a lane."""
    (made,) = seidel_2d.build().outputs
    text = text_of(made, machine)
    assert text.count(f"const _pm_row_f64 _pm_result{vectors - 1} =") == text.count(RESULT) // 3 > 0
    assert f"_pm_result{vectors}" not in text
    assert RESULT not in text_of(made, machine, vector=False)


def means(at: Any) -> Any:
    """The mean of nine neighbours, of which those before are new already."""
    new = at(0, -1, -1) + at(0, -1, 0) + at(0, -1, 1) + at(0, 0, -1)
    old = at(1, 0, 0) + at(1, 0, 1) + at(1, 1, -1) + at(1, 1, 0) + at(1, 1, 1)
    return (new + old) / 9.0


def test_eight_rows_of_single_precision_are_one_vector() -> None:
    """Where a vector has twice as many lanes, rows stay as they are."""
    swept = field(means, timed=True, given=SINGLE)
    text = text_of(swept, NARROW)
    assert "const _pm_row_f32 _pm_result0 =" in text
    assert "_pm_result1" not in text
    assert RESULT not in text_of(swept, WIDE)


def test_sweeps_of_single_precision() -> None:
    wide = probe().vector_bits == WIDE.vector_bits
    options = Options(threads=1, target="x86-64-v3" if wide else "native")
    swept = field(means, timed=True, given=SINGLE)
    compiled = pm.compile(swept, inputs=[SINGLE], name="single_sweep", options=options)
    assert RESULT in compiled.source or probe().vector_bits < NARROW.vector_bits
    for shape in SHAPES:
        given = np.random.default_rng(2).random(shape).astype(np.float32)
        for steps in (0, 1, 4):
            found, expected = compiled(given, T=steps), compiled.reference(given, T=steps)
            np.testing.assert_allclose(found, expected, rtol=2e-6)


KEPT = {
    "nothing to divide": lambda at: 0.5 * at(0, 0, -1) + 0.25 * at(0, -1, 0) + A(i, j),
    "a row two above": lambda at: (at(0, 0, -1) + at(0, -2, 0) + at(0, -1, 1) + at(0, -1, -1)) / 3.0,
    "least of two": lambda at: pm.Min(at(0, 0, -1), at(0, -1, 1)) / 3.0,
}


@pytest.mark.parametrize("name", KEPT)
def test_what_stays_as_it_is(name: str) -> None:
    """What is quick point by point, reads rows that no shift brings near, or has no vectors here."""
    value = KEPT[name]
    assert RESULT not in text_of(field(value, timed=False), WIDE)
