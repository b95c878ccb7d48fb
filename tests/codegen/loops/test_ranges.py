"""Parallel loops moved around loops that are not parallel, against the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import polymat as pm
from polymat.options import Options
from tests.tolerance import assert_close

T, N = pm.Parameter(pm.Int, "T"), pm.Parameter(pm.Int, "N")
t, i, j, k = (pm.Variable(pm.Int, name) for name in "tijk")
STEPS, COLUMNS = pm.Interval(pm.Int, 0, T - 1), pm.Interval(pm.Int, 0, N - 1)
A = pm.Matrix(pm.Double, "A", [T, N])
Made = tuple[pm.Function, Sequence[pm.Matrix]]


def function(name: str, *dims: tuple[pm.Variable, pm.Interval]) -> pm.Function:
    return pm.Function(([v for v, _ in dims], [interval for _, interval in dims]), pm.Double, name)


def columns() -> Made:
    """Every column is a recurrence of its own."""
    f = function("f", (t, STEPS), (i, COLUMNS))
    f.defn = [
        pm.Case(pm.Condition(t, "==", 0), A(t, i)),
        pm.Case(pm.Condition(t, ">=", 1), f(t - 1, i) * 0.5 + A(t, i)),
    ]
    return f, [A]


def planes() -> Made:
    """The middle one of three dimensions is independent, the last is read beside itself."""
    f = function("f", (t, STEPS), (i, COLUMNS), (j, pm.Interval(pm.Int, 0, 5)))
    inside = pm.Condition(t, ">=", 1) & pm.Condition(j, ">=", 1)
    border = pm.Condition(t, ">=", 1) & pm.Condition(j, "==", 0)
    f.defn = [
        pm.Case(pm.Condition(t, "==", 0), A(t, i) + j),
        pm.Case(border, A(t, i)),
        pm.Case(inside, f(t - 1, i, j - 1) * 0.5 - f(t, i, j - 1) * 0.25),
    ]
    return f, [A]


def triangle() -> Made:
    """Columns of different lengths."""
    f = function("f", (t, STEPS), (i, pm.Interval(pm.Int, 0, t)))
    f.defn = [
        pm.Case(pm.Condition(t, "==", i), 1.0),
        pm.Case(pm.Condition(t, ">", i), f(t - 1, i) * 0.5 + t),
    ]
    return f, []


def substitution() -> Made:
    """Sums of earlier elements of the same column; no triangular system, since the diagonal is squared."""
    square = pm.Matrix(pm.Double, "L", [T, T])
    x = pm.Reduction(
        ([t, i], [STEPS, COLUMNS]),
        ([t, i, k], [STEPS, COLUMNS, pm.Interval(pm.Int, 0, t - 1)]),
        pm.Double,
        "x",
        init=A(t, i),
    )
    x.defn = [pm.Reduce(x(t, i), square(t, k) * x(k, i) * x(k, i) * 0.1, pm.Op.Sum)]
    return x, [A, square]


def halves() -> Made:
    """Pairs of rows are added into one: only columns never meet."""
    h = pm.Reduction(([t, i], [STEPS, COLUMNS]), ([k, i], [STEPS, COLUMNS]), pm.Double, "h")
    h.defn = [pm.Reduce(h(k // 2, i), A(k, i), pm.Op.Sum)]
    return h, [A]


PROGRAMS: dict[str, Callable[[], Made]] = {
    "columns": columns,
    "planes": planes,
    "triangle": triangle,
    "substitution": substitution,
    "halves": halves,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_region_around_all_loops(name: str) -> None:
    result, inputs = PROGRAMS[name]()
    options = Options(parallel_threshold=0, threads=3, blas="never", kernels=False)
    compiled = pm.compile(result, inputs=list(inputs), name=name, options=options)
    group = compiled.explain().groups[-1]
    # The sums of halves go to places that their dimensions do not name: these have names of their own.
    expected = ("k", "i_") if name == "halves" else ("t", "i")
    assert (group.order[0], group.parallel) == expected
    rng = np.random.default_rng(0)
    for steps, width in [(0, 0), (1, 1), (1, 5), (2, 3), (7, 2), (13, 17), (31, 64)]:
        shapes = {"A": (steps, width), "L": (steps, steps)}
        arrays = [rng.random(shapes[str(array.name)]) for array in inputs]
        extra = {} if inputs else {"T": steps}
        wanted = compiled.reference(*arrays, **extra)
        assert_close(
            compiled(*arrays, **extra),
            wanted,
            roundings=4 * steps + 4,
            magnitude=1 + float(np.abs(wanted).max(initial=0)),
        )


def test_columns_that_meet_stay_inside() -> None:
    f = function("f", (t, STEPS), (i, COLUMNS))
    f.defn = [
        pm.Case(pm.Condition(t, "==", 0) | pm.Condition(i, "==", 0), A(t, i)),
        pm.Case(pm.Condition(t, ">=", 1) & pm.Condition(i, ">=", 1), f(t - 1, i - 1) + A(t, i)),
    ]
    compiled = pm.compile(f, inputs=[A], name="meet", options=Options(parallel_threshold=0, threads=3))
    assert "none reads at another" not in compiled.source
    array = np.random.default_rng(0).random((13, 17))
    assert_close(compiled(array), compiled.reference(array), roundings=20, magnitude=20.0)
