"""Plans of single stages: kind, order, parallel and vector dimension, as text."""

from __future__ import annotations

from typing import Any

import pytest

from polymat import (
    Case,
    Condition,
    Double,
    Float,
    Function,
    Image,
    Int,
    Interval,
    Matrix,
    Op,
    Parameter,
    Reduce,
    Reduction,
    Select,
    Signal,
    Variable,
    Vector,
    dot,
    outer,
    symm,
    syrk,
    transpose,
    trmm,
)
from polymat.graph.build import build
from polymat.graph.distinct import separate_names
from polymat.graph.group import Group, Grouping, separate
from polymat.plan.schedule import Schedule
from polymat.tilesize.plain import plan_stage

M, N, K, T = (Parameter(Int, name) for name in "MNKT")
i, j, k, t = (Variable(Int, name) for name in "ijkt")
A, B, C = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Matrix(Double, "C", [M, N])
S = Matrix(Double, "S", [M, M])
x, y = Vector(Double, "x", [N]), Vector(Double, "y", [K])


def upto(extent: Any) -> Interval:
    return Interval(Int, 0, extent - 1)


def choose_loops(grouping: Grouping) -> Schedule:
    """A loop plan for every stage."""
    found = grouping.pipeline
    plans = (plan_stage(group, found.stage(group.stages[0]), found.context) for group in grouping.groups)
    return Schedule(grouping, tuple(plans))


def plans(*outputs: Function) -> str:
    return choose_loops(separate(separate_names(build(outputs)))).summary


def line(value: Any, default: Any = None) -> Function:
    f = Function(([i], [upto(N)]), Double, "f", default)
    f.defn = value
    return f


def total(value: Any, *, over: tuple[list[Variable], list[Interval]]) -> Reduction:
    r = Reduction(([], []), over, Double, "r")
    r.defn = [Reduce(r(), value, Op.Sum)]
    return r


def test_maps() -> None:
    assert plans(line(2 * x(i))) == "f: map i omp(i) simd(i)"
    assert plans(transpose(C)) == "out: map i,j omp(i) simd(j)"
    assert plans(outer(x, y)) == "out: map i,j omp(i) simd(j)"
    f = Function(([], []), Double, "f")
    f.defn = x(0)
    assert plans(f) == "f: map -"


@pytest.mark.parametrize(
    ("output", "plan"),
    [
        (A @ B, "out: row i,k,j omp(i) simd(j)"),
        (A @ y, "out: reduce i,j omp(i) simd(j)"),
        (y @ B, "out: row j,i simd(i)"),
        (dot(x, x), "out: reduce i simd(i)"),
    ],
)
def test_products_walk_along_contiguous_loads(output: Function, plan: str) -> None:
    assert plans(output) == plan


def test_products_of_transposes() -> None:
    inner = Reduction(([i, j], [upto(M)] * 2), ([i, j, k], [upto(M), upto(M), upto(K)]), Double, "inner")
    inner.defn = [Reduce(inner(i, j), A(i, k) * A(j, k), Op.Sum)]
    assert plans(inner) == "inner: reduce i,j,k omp(i) simd(k)"
    outside = Reduction(([i, j], [upto(K)] * 2), ([i, j, k], [upto(K), upto(K), upto(M)]), Double, "outside")
    outside.defn = [Reduce(outside(i, j), A(k, i) * A(k, j), Op.Sum)]
    assert plans(outside) == "outside: row i,k,j omp(i) simd(j)"


def test_sums_run_along_rows_where_all_of_them_lie_so() -> None:
    """One of two whose steps are neighbours keeps both in registers."""
    D = Matrix(Double, "D", [N, K])
    lies = {"rows": B(k, j), "steps": D(j, k)}

    def both(*others: str) -> str:
        spans = [upto(M), upto(N)]
        r = Reduction(([i, j], spans), ([i, j, k], [*spans, upto(K)]), Double, "r")
        r.defn = [Reduce(r(i, j), A(i, k) * lies[other], Op.Sum) for other in others]
        return plans(r)

    assert both("rows", "rows") == "r: row i,k,j omp(i) simd(j)"
    assert both("steps", "steps") == "r: reduce i,j,k omp(i) simd(k)"
    assert both("rows", "steps") == both("steps", "rows") == "r: reduce i,j,k omp(i) simd(k)"


def test_linear_algebra() -> None:
    lower = plans(syrk(A, S, 1.0, 1.0)).split(" | ")
    assert [plan.split(": ")[1] for plan in lower] == [
        "reduce i,j,k omp(i) simd(k)",
        "map i,j omp(i) simd(j)",
    ]
    (triangular,) = plans(trmm(S, C, 1.0)).split(" | ")
    assert triangular == "out: row i,k,j omp(i) simd(j)"
    assert plans(symm(S, C, C, M, N, 1, 0)) == "out: row i,k,j omp(i) simd(j)"


def test_filters() -> None:
    signal, taps = Signal(Double, "signal", N), Vector(Double, "taps", [T])
    assert plans(signal.fir(taps)) == "out: reduce i,j omp(i) simd(j)"
    assert plans(signal.fir([1.0, 2.0])) == "out: map i omp(i) simd(i)"


def window(taps: int, op: Op, dtype: Any = Float, row: Any = N) -> Reduction:
    image = Image(dtype, "image", [M, row])
    results, addends = upto(row - taps + 1), upto(taps)
    out = Reduction(([i, j], [upto(M), results]), ([i, j, k], [upto(M), results, addends]), dtype, "out")
    out.defn = [Reduce(out(i, j), image(i, j + k), op)]
    return out


@pytest.mark.parametrize("op", [Op.Sum, Op.Max])
def test_few_taps_are_no_vector(op: Op) -> None:
    assert plans(window(5, op)) == "out: row i,k,j omp(i) simd(j)"
    assert plans(window(8, op)) == "out: row i,k,j omp(i) simd(j)"
    assert plans(window(9, op)) == "out: reduce i,j,k omp(i) simd(k)"
    assert plans(window(4, op, Double)) == "out: row i,k,j omp(i) simd(j)"
    assert plans(window(5, op, Double)) == "out: reduce i,j,k omp(i) simd(k)"
    assert plans(window(5, op, row=8)) == "out: reduce i,j,k omp(i) simd(k)"  # four results are fewer still


@pytest.mark.parametrize(
    ("bits", "dtype", "most"), [(512, Float, 32), (512, Double, 16), (256, Float, 16), (256, Double, 4)]
)
def test_taps_of_two_vectors_are_few_where_these_are_long(bits: int, dtype: Any, most: int) -> None:
    def kind(taps: int) -> str:
        built = separate_names(build((window(taps, Op.Sum, dtype),)))
        return plan_stage(Group(("out",)), built.stage("out"), built.context, bits).kind

    assert (kind(most), kind(most + 1)) == ("row", "reduce")


def test_taps_along_one_row_alone_are_as_few_as_before() -> None:
    signal = Signal(Float, "signal", N)
    out = Reduction(([j], [upto(N - 15)]), ([j, k], [upto(N - 15), upto(16)]), Float, "out")
    out.defn = [Reduce(out(j), signal(j + k), Op.Sum)]
    built = separate_names(build((out,)))
    assert plan_stage(Group(("out",)), built.stage("out"), built.context, 512).kind == "reduce"


def test_windows_of_an_unknown_number_of_taps_are_no_vector() -> None:
    image, taps = Image(Float, "image", [M, N]), Vector(Float, "taps", [K])
    domain = [upto(M), upto(N - K + 1)]
    out = Reduction(([i, j], domain), ([i, j, k], [*domain, upto(K)]), Float, "out")
    out.defn = [Reduce(out(i, j), image(i, j + k) * taps(k), Op.Sum)]
    built = separate_names(build((out,)))

    def kind(**given: int) -> str:
        return plan_stage(Group(("out",)), built.stage("out"), built.context, 512, given).kind

    assert kind() == kind(K=9) == "row"
    assert kind(K=100) == "reduce"


def test_threads_share_a_row_of_short_sums() -> None:
    signal = Signal(Float, "signal", N)
    out = Reduction(([j], [upto(N - 2)]), ([j, k], [upto(N - 2), upto(3)]), Float, "out")
    out.defn = [Reduce(out(j), signal(j + k), Op.Max)]
    assert plans(out) == "out: row k,j omp(j) simd(j)"


def test_sums_over_several_dimensions() -> None:
    everything = total(A(i, j), over=([i, j], [upto(M), upto(K)]))
    assert plans(everything) == "r: reduce i,j simd(j)"
    by_column = Reduction(([j], [upto(K)]), ([i, j], [upto(M), upto(K)]), Double, "sums")
    by_column.defn = [Reduce(by_column(j), A(i, j), Op.Sum)]
    assert plans(by_column) == "sums: row i,j simd(j)"


def test_sums_into_computed_elements() -> None:
    r = Reduction(([i], [upto(N)]), ([k], [upto(N)]), Double, "r")
    r.defn = [Reduce(r(k // 2), x(k), Op.Sum)]
    assert plans(r) == "r: scatter k omp(k)"  # in blocks of two
    r.defn = [Reduce(r(k % 3), x(k), Op.Sum)]
    assert plans(r) == "r: scatter k"
    s = Reduction(([i], [upto(N)]), ([k], [upto(N)]), Double, "s")
    s.defn = [Reduce(s(N - 1 - k), x(k), Op.Sum)]
    assert plans(s) == "s: scatter k omp(k)"


def test_recurrences() -> None:
    forwards = line(0.0)
    forwards._defn = (Select(Condition(i, ">", 0), forwards(i - 1) + x(i), x(i)),)
    assert plans(forwards).startswith("f: recurrence i")
    rows = Function(([i, j], [upto(M), upto(N)]), Double, "rows")
    rows.defn = [
        Case(Condition(j, "==", 0), C(i, j)),
        Case(Condition(j, ">", 0), rows(i, j - 1) + C(i, j)),
    ]
    assert plans(rows).startswith("rows: recurrence i,j")
    assert plans(rows).endswith(" omp(i)")


def test_every_group_has_a_plan_with_a_reason() -> None:
    schedule = choose_loops(separate(build([(A @ B) + C, dot(x, x)])))
    assert [plan.group.stages for plan in schedule.plans] == [("tmp_A_B",), ("out",), ("out_2",)]
    assert all(plan.reason for plan in schedule.plans)
    assert schedule.summary == " | ".join(str(plan) for plan in schedule.plans)
