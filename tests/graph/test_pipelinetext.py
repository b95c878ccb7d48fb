"""A pipeline prints completely: a difference of two texts shows what a rewrite did."""

from __future__ import annotations

from polymat import Case, Condition, Double, Function, Int, Interval, Matrix, Parameter, Variable, Vector
from polymat.graph.build import build
from polymat.graph.columnmajor import turn_inputs
from polymat.graph.group import Group, Grouping
from polymat.graph.simplify import share_common_stages

N = Parameter(Int, "N")
i = Variable(Int, "i")
A, B = Matrix(Double, "A", [N, N]), Matrix(Double, "B", [N, N])
x = Vector(Double, "x", [N])


def test_a_product_prints_its_sum_and_where_it_runs() -> None:
    assert str(build([A @ B])) == "\n".join(
        [
            "inputs   A[N, N]: Double, B[N, N]: Double",
            "sizes    N: Int",
            "outputs  out",
            "order    A, B",
            "context  [N] -> { [] : N >= 0 }",
            "",
            "reduction Sum out: Double on [N] -> { [i, j] : 0 <= i < N and 0 <= j < N } -> output  # (A @ B)",
            "    i in 0 .. N - 1, j in 0 .. N - 1",
            "    out(i, j) = 0.0",
            "    out(i, j) += A(i, k) * B(k, j)  "
            "over [N] -> { [i, j, k] : 0 <= i < N and 0 <= j < N and 0 <= k < N }",
            "    i in 0 .. N - 1, j in 0 .. N - 1, k in 0 .. N - 1",
        ]
    )


def test_cases_print_their_conditions_and_the_default() -> None:
    alpha = Parameter(Double, "alpha")
    f = Function(([i], [Interval(Int, 0, N - 1)]), Double, "f", default=0.5)
    f.defn = [Case(Condition(i, "<", 3), alpha * x(i)), Case(Condition(i, ">", 5), x(i) + x(i - 1))]
    text = str(build([f], constraints=[Condition(N, ">=", 7)], trim=True))
    assert "    f(i) = alpha * x(i)  where i < 3, [N] -> { [i] : 0 <= i <= 2 and i < N }\n" in text
    assert "    f(i) = 0.5  elsewhere, " in text
    assert "scalars  alpha: Double\noutputs  f, trimmed\n" in text
    assert "\nrequires N >= 7: N - 7 >= 0\n" in text


def test_values_used_many_times_are_named_and_not_cut() -> None:
    value = x(i) + 1
    for _ in range(40):
        value = value * value
    f = Function(([i], [Interval(Int, 0, N - 1)]), Double, "f")
    f.defn = [value]
    lines = str(build([f])).splitlines()
    assert "    %1 = x(i) + 1" in lines
    assert "    %40 = %39 * %39" in lines
    assert lines[-1] == "    f(i) = %40 * %40"


def test_passes_show_in_the_text() -> None:
    t, u = (x + 1).named("t"), (x + 1).named("u")
    built = build([t * 2 + u * 3])
    shared = share_common_stages(built)
    assert shared is not built
    assert str(shared) != str(built)
    turned = turn_inputs(build([A @ B]), [A])
    assert "inputs   A[N, N]: Double by columns, B[N, N]: Double\n" in str(turned)
    assert "out(i, j) += A(k, i) * B(k, j)" in str(turned)
    assert str(turned).endswith("\nnote     A is read column by column, as it lies")


def test_a_grouping_prints_its_groups_in_order() -> None:
    grouping = Grouping(build([A @ B]), (Group(("f", "g")), Group(("h",))), "exact")
    assert str(grouping) == "f+g | h\nnote: exact"
    assert grouping.summary == "f+g | h"
