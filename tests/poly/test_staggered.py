"""Sweeps whose rows take turns: when they do, and that they compute the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import polymat as pm
from benchmarks.polybench import seidel_2d
from polymat import Case, Condition, Double, Function, Int, Interval, Options
from polymat.graph.build import build
from polymat.graph.recurrence import recurrence_statements
from polymat.poly.ast import Guard, Instance, Loop, Nest, from_union_map
from polymat.poly.domain import Domain
from polymat.poly.order import Order, find_order
from polymat.poly.staggered import staggered
from tests.tolerance import assert_close

M, N = pm.Parameter(Int, "M"), pm.Parameter(Int, "N")
i, j = pm.Variable(Int, "i"), pm.Variable(Int, "j")
A = pm.Matrix(Double, "A", [M, N])
INNER = Condition(i, ">=", 1) & Condition(j, ">=", 2) & Condition(j, "<=", N - 3)


def table(value: Any) -> Function:
    """A table that is given along its borders."""
    x = Function(([i, j], [Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)]), Double, "x", default=A(i, j))
    x.defn = [Case(INNER, value(x))]
    return x


SWEEPS = {
    "left and above": (lambda x: 0.5 * x(i, j - 1) + 0.25 * x(i - 1, j) + A(i, j), 1),
    "above to the right": (lambda x: 0.5 * x(i, j - 1) + 0.25 * x(i - 1, j + 1) + A(i, j), 2),
    "far to the right": (lambda x: 0.5 * x(i, j - 1) + 0.25 * x(i - 1, j + 2) + A(i, j), 3),
}
ALONE = {
    "from the left": lambda x: 0.5 * x(i, j - 1) + A(i, j),
    "from two on the left": lambda x: (A(i, j) - 0.5 * x(i, j - 1)) / (2 + x(i, j - 2)),
    "from the right": lambda x: 0.5 * x(i, j + 1) + A(i, j) * A(i - 1, j),
}
FREE = {
    "columns alone": lambda x: 0.5 * x(i - 1, j) + A(i, j),
    "only the row above": lambda x: 0.5 * x(i - 1, j - 1) + 0.5 * x(i - 1, j + 1),
}


def orders(output: Function) -> tuple[Order, Order]:
    pipeline = build([output])
    (stage,) = (each for each in pipeline.stages if each.reads_itself)
    statements = recurrence_statements(stage, pipeline.context)
    order = find_order(statements, pipeline.context)
    assert isinstance(order, Order)
    return order, staggered(order, statements)


@pytest.mark.parametrize("name", SWEEPS)
def test_rows_are_as_far_behind_as_they_read_ahead(name: str) -> None:
    value, behind = SWEEPS[name]
    before, order = orders(table(value))
    assert (before.turns, order.turns, order.statements) == (None, 3, 4)
    apart = f"place = -{behind} + {behind if behind > 1 else ''}_i + _j - {8 * behind}block"
    assert apart in str(order.schedule)


@pytest.mark.parametrize("name", FREE)
def test_an_order_with_a_parallel_loop_stays(name: str) -> None:
    before, order = orders(table(FREE[name]))
    assert order is before


@pytest.mark.parametrize("name", ALONE)
def test_rows_that_need_no_others_lie_in_one_column(name: str) -> None:
    before, order = orders(table(ALONE[name]))
    assert (before.parallel, order.parallel) == ((True, False, True), (True, False, False, False, False))
    assert "turn = -1 + _i - 8block" in str(order.schedule)
    assert (order.turns, order.plain) == (3, before)


def lines(dims: list[pm.Variable], value: Any) -> Function:
    """A recurrence along the last of some dimensions, which begins with 1."""
    extents = [Interval(Int, 0, pm.Parameter(Int, f"N{k}") - 1) for k in range(len(dims))]
    x = Function((dims, extents), Double, "x")
    x.defn = [Case(Condition(dims[-1], "==", 0), 1.0), Case(Condition(dims[-1], ">=", 1), value(x))]
    return x


def test_planes_of_rows_that_need_no_others() -> None:
    """Of any plane, or of the one before; not those that threads share around an outer loop."""
    h = pm.Variable(Int, "h")
    _, within = orders(lines([h, i, j], lambda x: 0.5 * x(h, i, j - 1)))
    assert within.parallel == (True, True, False, False, False, False)

    def beside(x: Any) -> Any:
        before = pm.Select(Condition(h, ">=", 1) & Condition(i, ">=", 1), x(h - 1, i - 1, j), 2.0)
        return 0.5 * x(h, i, j - 1) + 0.25 * before

    _, after = orders(lines([h, i, j], beside))
    assert (after.parallel, after.turns) == ((False, True, False, False, False, False), 4)
    above = lines(
        [h, i, j], lambda x: 0.5 * x(h, i, j - 1) + pm.Select(Condition(h, ">=", 1), x(h - 1, i, j), 0.0)
    )
    before, order = orders(above)
    assert order is before


def test_what_many_points_of_a_row_read_is_no_chain() -> None:
    """As the factor of a row of an elimination: all points behind it wait for it, and not for each other."""
    _, order = orders(table(lambda x: x(i, 1) * A(i, j)))
    assert order.turns is None


def test_nothing_is_divided_and_blocks_of_a_triangle_are_one_loop() -> None:
    """Where rows were divided, this took isl twenty times as long, and there were four times the loops."""
    T, t = pm.Parameter(Int, "T"), pm.Variable(Int, "t")
    box = [Interval(Int, 0, T), Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)]
    x = Function(([t, i, j], box), Double, "x", default=A(i, j))
    rows = Condition(i, ">=", 2) & Condition(i, "<=", M - 3) & Condition(i, "<=", j)
    inner = rows & Condition(j, ">=", 1) & Condition(j, "<=", N - 2) & Condition(t, ">=", 1)
    x.defn = [Case(inner, (x(t, i, j - 1) + x(t - 1, i + 2, j + 1) + x(t - 1, i, j)) / 4)]
    _, order = orders(x)
    assert order.turns == 4
    assert not {"mod", "floor("} & {*str(order.schedule).replace("(", "( ").split()}
    context = Domain.box(["M", "N", "T"], [], [])
    names = ["t", "block", "before", "place", "turn", "statement"]
    made = from_union_map(order.schedule, context, names, turns=order.turns)
    loops = [each for nest in made for each in nests_in(nest) if isinstance(each, Loop)]
    assert [each.iterator for each in loops].count("block") == 1


def nests_in(nest: Nest) -> Iterator[Nest]:
    yield nest
    parts = nest.body if isinstance(nest, Loop) else ()
    parts = (*nest.then, *nest.otherwise) if isinstance(nest, Guard) else parts
    for part in parts:
        yield from nests_in(part)


@pytest.mark.parametrize("ends", [0, 3])
def test_whole_turns_ask_nothing(ends: int) -> None:
    """Tables that end with a border on the right, and with the last of their points."""
    x = Function(([i, j], [Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)]), Double, "x", default=A(i, j))
    inner = Condition(i, ">=", 1) & Condition(j, ">=", 1) & Condition(j, "<=", N - 1 - ends)
    x.defn = [Case(inner, 0.5 * x(i, j - 1) + 0.25 * x(i - 1, j))]
    _, order = orders(x)
    context = Domain.box(["M", "N"], [], [])
    made = from_union_map(order.schedule, context, ["i", "rest", "j", "turn", "statement"], turns=order.turns)
    loops = [each for nest in made for each in nests_in(nest) if isinstance(each, Loop)]
    inside = [[part.tag if isinstance(part, Instance) else None for part in loop.body] for loop in loops]
    assert inside.count([1] * 8) == 1


def test_sweeps_over_time_stay_in_one_plane() -> None:
    compiled = seidel_2d.KERNEL.compile(options=Options(threads=1))
    assert "X (float64) in the workspace: 1 of T + 1 along t" in str(compiled.explain())
    assert "rows take turns" in str(compiled.explain())


def test_rows_by_turns_compute_what_the_interpreter_does() -> None:
    values = [*(value for value, _ in SWEEPS.values()), *ALONE.values()]
    for number, value in enumerate(values):
        compiled = pm.compile(table(value), inputs=[A], name=f"sweep_{number}")
        for shape in ((0, 0), (1, 5), (2, 4), (7, 6), (8, 17), (9, 5), (17, 40), (33, 16)):
            given = np.random.default_rng(number).random(shape)
            assert_close(compiled(given), compiled.reference(given), roundings=400, magnitude=8.0)


def test_rows_run_one_by_one_where_nothing_is_unrolled() -> None:
    value, _ = SWEEPS["above to the right"]
    given = np.random.default_rng(5).random((9, 17))
    for options in (Options(unroll=False), Options.naive(), Options.paper()):
        compiled = pm.compile(table(value), inputs=[A], name="sweep", options=options)
        assert "take turns" not in str(compiled.explain())
        assert_close(compiled(given), compiled.reference(given), roundings=400, magnitude=8.0)
    assert "take turns" in str(pm.compile(table(value), inputs=[A], name="sweep").explain())
