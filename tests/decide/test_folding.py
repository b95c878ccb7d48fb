"""Which recurrences keep few of their steps, as the whole compiler decides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from benchmarks.polybench import cholesky, floyd_warshall, lu, seidel_2d
from polymat import Case, Condition, Double, Function, Int, Interval, Options, Parameter, Variable
from polymat.plan.schedule import Schedule
from polymat.poly.lifespan import Folds
from polymat.rewrite import stepways, timebands
from tests.decide import recurrences
from tests.fixed import compiled_levels, report_text

T, N = Parameter(Int, "T"), Parameter(Int, "N")
t, i, j = (Variable(Int, name) for name in "tij")
time, line = Interval(Int, 0, T), Interval(Int, 0, N - 1)
A = pm.Matrix(Double, "A", [N, N])
inside = Condition(t, ">=", 1) & Condition(i, ">=", 1) & Condition(i, "<=", N - 2)
edge = Condition(t, "==", 0) | Condition(i, "<", 1) | Condition(i, ">", N - 2)


@pytest.fixture(autouse=True)
def _one_step_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of bands and of steps that follow each other states are planes of sections, and none is folded."""
    monkeypatch.setattr(timebands, "SIZES", ())
    monkeypatch.setattr(stepways, "GAIN", 0.0)


def sweeps(name: str = "u", given: Any = A) -> Function:
    u = Function(([t, i, j], [time, line, line]), Double, name)
    u.defn = [Case(edge, given(i, j)), Case(inside, u(t - 1, i - 1, j) + u(t - 1, i + 1, j))]
    return u


def last(u: Function, name: str = "last") -> Function:
    out = Function(([i, j], [line, line]), Double, name)
    out.defn = [2.0 * u(T, i, j)]
    return out


def folds(*outputs: Any, **asked: Any) -> dict[str, Folds]:
    schedule = compiled_levels([*outputs], **asked)["folds"]
    assert isinstance(schedule, Schedule)
    return {**schedule.folds}


@pytest.mark.parametrize(
    ("describe", "expected"),
    [
        (recurrences.two_arrays, (1, None, None)),
        (seidel_2d.build, (1, None, None)),
        (lu.build, (1, None, None)),
        (cholesky.build, (1, None, None)),
        (floyd_warshall.build, (2, None, None)),
        (recurrences.sums_along_rows, (None, 1)),
    ],
)
def test_published_recurrences(describe: Any, expected: Folds) -> None:
    assert [*folds(*describe().outputs).values()] == [expected]


def test_an_output_is_kept_whole() -> None:
    assert folds(sweeps()) == {}
    u = sweeps()
    assert folds(u, last(u)) == {}


def test_a_dimension_that_is_as_short_as_what_is_kept_stays() -> None:
    u = Function(([t, i, j], [Interval(Int, 0, 1), line, line]), Double, "u")
    u.defn = [Case(edge, A(i, j)), Case(inside, u(t - 1, i - 1, j) + u(t - 1, i + 1, j))]
    out = Function(([i, j], [line, line]), Double, "out")
    out.defn = [2.0 * u(1, i, j)]
    assert folds(out) == {}


def test_each_recurrence_of_a_chain_is_folded() -> None:
    first = sweeps()
    half = last(first, "half")
    assert folds(last(sweeps("v", half))) == {"u": (2, None, None), "v": (2, None, None)}


def test_a_product_may_read_the_last_step_of_the_outermost_dimension() -> None:
    u = sweeps()
    k = Variable(Int, "k")
    product = pm.Reduction(([i, j], [line, line]), ([i, j, k], [line, line, line]), Double, "product")
    product.defn = [pm.Reduce(product(i, j), u(T, i, k) * A(k, j), pm.Op.Sum)]
    assert folds(product) == {"u": (2, None, None)}
    compiled = pm.compile(product, inputs=[A])
    values = np.random.default_rng(3).random((33, 33))
    np.testing.assert_allclose(compiled(values, T=4), compiled.reference(values, T=4), rtol=1e-12)


def test_a_product_that_reads_the_last_step_of_an_inner_dimension_has_the_whole_array() -> None:
    """How it walks over its operand is told by the extents of the whole array."""
    u = Function(([i, t, j], [line, time, line]), Double, "u")
    u.defn = [Case(edge, A(i, j)), Case(inside, u(i - 1, t - 1, j) + u(i + 1, t - 1, j))]
    k = Variable(Int, "k")
    product = pm.Reduction(([i, j], [line, line]), ([i, j, k], [line, line, line]), Double, "product")
    product.defn = [pm.Reduce(product(i, j), u(i, T, k) * A(k, j), pm.Op.Sum)]
    assert folds(product, estimates={N: 512, T: 4}) == {}
    assert folds(last_inside(u)) == {"u": (None, 2, None)}


def last_inside(u: Function) -> Function:
    out = Function(([i, j], [line, line]), Double, "last")
    out.defn = [2.0 * u(i, T, j)]
    return out


def test_explain_says_how_many_steps_are_kept() -> None:
    text = report_text([last(sweeps())])
    assert "  u (float64) in the workspace: 2 of T + 1 along t\n" in text
    assert "u: 2 places along dimension 0" not in text


def test_the_program_says_it() -> None:
    program = str(compiled_levels([last(sweeps())])["codegen"])
    assert "2 places along dimension 0" in program
    assert "_pm_place(&_pm_bytes, 16.0 * _pm_extent(N) * _pm_extent(N))" in program


def test_the_pass_can_be_left_out() -> None:
    options = Options(skip=("folds",))
    assert folds(last(sweeps()), options=options) == {}
    assert " of T + 1" not in report_text([last(sweeps())], options=options)


def test_three_planes_are_found_by_a_remainder_and_two_by_a_mask() -> None:
    u = Function(([t, i], [Interval(Int, 0, T + 2), line]), Double, "u")
    later = Condition(t, ">=", 2) & Condition(i, ">=", 1)
    u.defn = [Case(Condition(t, "<", 2) | Condition(i, "<", 1), A(0, i)), Case(later, u(t - 2, i - 1))]
    out = Function(([i], [line]), Double, "out")
    out.defn = [2.0 * u(T + 2, i)]
    assert folds(out) == {"u": (3, None)}
    assert "% 3" in pm.compile(out).source
    assert "& 1" in pm.compile(last(sweeps())).source
