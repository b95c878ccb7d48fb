"""How few places the elements of a recurrence need: known answers, and all pairs at small sizes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import islpy as isl
import pytest

from polymat import Case, Condition, Double, Function, Image, Int, Interval, Op, Parameter, Reduce, Reduction
from polymat.graph.accesses import reads_of
from polymat.graph.build import build
from polymat.graph.recurrence import recurrence_statements
from polymat.lang.expr import Variable
from polymat.poly.lifespan import Copying, Folds, folds, lifespans
from polymat.poly.order import Order, find_order
from tests.poly.nests import Point, points
from tests.poly.test_order import pairs

T, N = Parameter(Int, "T"), Parameter(Int, "N")
t, i, j = (Variable(Int, name) for name in "tij")
time, line = Interval(Int, 0, T), Interval(Int, 0, N - 1)
A = Image(Double, "A", [N])
START, LATER = Condition(t, "==", 0), Condition(t, ">=", 1)
MOST = 9
Places = Callable[..., Any]


def of_time(value: Callable[[Function], Any], *others: Any, border: Any = None) -> Function:
    """u(t, i): A at first, then a value inside and, along the border, another."""
    u = Function(([t, i], [time, line]), Double, "u")
    inside = Condition(i, ">=", 1) & Condition(i, "<=", N - 2)
    edge = Condition(i, "<", 1) | Condition(i, ">", N - 2)
    kept = A(i) if border is None else border(u)
    u.defn = [Case(START, A(i)), Case(LATER & inside, value(u)), Case(LATER & edge, kept), *others]
    return u


def last(u: Function, step: Any = T) -> Function:
    out = Function(([i], [line]), Double, "out")
    out.defn = [2.0 * u(step, i)]
    return out


def found(out: Function, most: int = MOST, copies: tuple[Copying, ...] = ()) -> Folds:
    """The places of u; every pair of elements that share one is looked at, at small sizes."""
    pipeline = build([out])
    stage = pipeline.stage("u")
    statements = recurrence_statements(stage, pipeline.context)
    order = find_order(statements, pipeline.context)
    assert isinstance(order, Order)
    readers = [each for each in pipeline.stages if each.name != "u"]
    reads = [(d, e) for each in readers for d, e in each.expressions()]
    later = [a for d, e in reads for a in reads_of(d.assume(pipeline.context), e, "u")]
    spans = lifespans(statements, order, shared=None, later=later)
    places = folds(spans, [most] * len(stage.dims), copies)
    quiet = {copy.tag for copy in copies}
    for sizes in ({"T": 3, "N": 4}, {"T": 5, "N": 3}):
        times = instants(order, sizes)
        written = [(e, times[s.tag, p], s.tag) for s in statements for p, e in pairs(s.writes.map, sizes)]
        read = [(e, times[s.tag, p]) for s in statements for a in s.reads for p, e in pairs(a.map, sizes)]
        read += [(e, time) for e, time, tag in written if statements[tag].phase]
        needed = {e for a in later for _, e in pairs(a.map, sizes)}
        check(written, read, needed, places, order, quiet)
    return places


def instants(order: Order, sizes: dict[str, int]) -> dict[tuple[int, Point], Point]:
    """The time of every instance at fixed sizes."""
    times: dict[tuple[int, Point], Point] = {}
    listed = order.schedule.get_map_list()
    for position in range(listed.n_map()):
        each = listed.get_at(position)
        tag = int(each.get_tuple_name(isl.dim_type.in_)[1:])
        bare = each.reset_tuple_id(isl.dim_type.in_)
        bare = bare.reset_tuple_id(isl.dim_type.out) if bare.has_tuple_id(isl.dim_type.out) else bare
        times |= {(tag, point): time for point, time in pairs(bare, sizes)}
    return times


def check(
    written: list[tuple[Point, Point, int]],
    read: list[tuple[Point, Point]],
    needed: set[Point],
    places: Folds,
    order: Order,
    quiet: set[int],
) -> None:
    """No element is overwritten before it has been read for the last time."""

    def place(element: Point) -> Point:
        return tuple(e if few is None else e % few for e, few in zip(element, places, strict=True))

    def over(one: Point, other: Point) -> bool:
        level = next((n for n, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), None)
        return level is not None and not order.parallel[level] and one[level] < other[level]

    sharing: dict[Point, list[tuple[Point, Point]]] = {}
    for element, time, tag in written:
        if tag not in quiet:
            sharing.setdefault(place(element), []).append((element, time))
    for element, begun, _ in written:
        ends = [time for other, time in read if other == element]
        for other, time in sharing.get(place(element), []):
            if other == element or over(time, begun):
                continue
            assert element not in needed, (element, other)
            assert all(end == time or over(end, time) for end in ends), (element, other, places)


def test_steps_in_time_need_two_planes() -> None:
    assert found(last(of_time(lambda u: u(t - 1, i - 1) + u(t - 1, i + 1)))) == (2, None)


def test_steps_that_read_at_their_own_place_need_one() -> None:
    u = Function(([t, i], [time, line]), Double, "u")
    u.defn = [Case(START, A(i)), Case(LATER, 0.5 * u(t - 1, i))]
    assert found(last(u)) == (1, None)


def test_a_sweep_in_place_needs_one_plane() -> None:
    assert found(last(of_time(lambda u: u(t, i - 1) + u(t - 1, i) + u(t - 1, i + 1)))) == (1, None)


def test_a_sweep_that_reads_an_old_value_to_the_left_needs_two() -> None:
    assert found(last(of_time(lambda u: u(t, i - 1) + u(t - 1, i - 1)))) == (2, None)


@pytest.mark.parametrize("depth", [2, 3, 7])
def test_deeper_reads_need_as_many_planes_and_one(depth: int) -> None:
    u = Function(([t, i], [Interval(Int, 0, T + depth), line]), Double, "u")
    inside = Condition(t, ">=", depth) & Condition(i, ">=", 1)
    u.defn = [Case(Condition(t, "<", depth) | Condition(i, "<", 1), A(i)), Case(inside, u(t - depth, i - 1))]
    assert found(last(u, T + depth)) == (depth + 1, None)
    assert found(last(u, T + depth), most=depth) == (None, None)


@pytest.mark.parametrize(("step", "places"), [(T, 2), (T - T, None), (1, None)])
def test_steps_that_are_read_later_are_kept(step: Any, places: int | None) -> None:
    u = Function(([t, i], [Interval(Int, 0, T + 1), line]), Double, "u")
    u.defn = [Case(START, A(i)), Case(LATER, u(t - 1, N - 1 - i))]
    assert found(last(u, step + 1 if step is T else step)) == (places, None)


def test_the_step_before_the_last_is_one_more_to_keep() -> None:
    u = Function(([t, i], [Interval(Int, 0, T + 2), line]), Double, "u")
    u.defn = [Case(START, A(i)), Case(LATER, 0.5 * u(t - 1, i))]
    out = Function(([i], [line]), Double, "out")
    out.defn = [u(T + 2, i) - u(T, i)]
    assert found(out) == (3, None)


def test_all_steps_are_kept_where_all_are_read() -> None:
    u = Function(([t, i], [time, line]), Double, "u")
    u.defn = [Case(START, A(i)), Case(LATER, 0.5 * u(t - 1, i))]
    out = Function(([t, i], [time, line]), Double, "out")
    out.defn = [2.0 * u(t, i)]
    assert found(out) == (None, None)


def test_time_may_be_any_dimension() -> None:
    u = Function(([i, t], [line, time]), Double, "u")
    inside = LATER & Condition(i, ">=", 1) & Condition(i, "<=", N - 2)
    edge = START | Condition(i, "<", 1) | Condition(i, ">", N - 2)
    u.defn = [Case(edge, A(i)), Case(inside, u(i - 1, t - 1) + u(i + 1, t - 1))]
    out = Function(([i], [line]), Double, "out")
    out.defn = [2.0 * u(i, T)]
    assert found(out) == (None, 2)


def test_a_table_keeps_two_rows() -> None:
    u = Function(([i, j], [line, line]), Double, "u")
    inside = Condition(i, ">=", 1) & Condition(j, ">=", 1)
    edge = Condition(i, "<", 1) | Condition(j, "<", 1)
    u.defn = [Case(edge, A(j)), Case(inside, u(i - 1, j - 1) + u(i - 1, j) + u(i, j - 1))]
    out = Function(([j], [line]), Double, "out")
    out.defn = [2.0 * u(N - 1, j)]
    assert found(out) == (2, None)


def test_a_copy_to_its_own_place_overwrites_nothing() -> None:
    """Elimination: the row of the pivot stays as it is while others read it as of the step before."""
    u = Function(([t, i], [Interval(Int, 0, N - 1), line]), Double, "u")
    above, below = LATER & Condition(i, "<=", t), LATER & Condition(i, ">", t)
    u.defn = [Case(START, A(i)), Case(above, u(t - 1, i)), Case(below, u(t - 1, i) - u(t - 1, t))]
    out = last(u, N - 1)
    assert found(out) == (2, None)
    assert found(out, copies=(Copying(1, 0, 1),)) == (1, None)


def test_a_sum_in_a_recurrence_keeps_what_it_adds_to() -> None:
    x = Reduction(([i], [line]), ([i, j], [line, Interval(Int, 0, i - 1)]), Double, "u")
    x.defn = [Reduce(x(i), x(j), Op.Sum)]
    out = Function(([i], [Interval(Int, 0, 0)]), Double, "out")
    out.defn = [2.0 * x(i + N - 1)]
    assert found(out) == (None,)


def test_all_pairs_of_reads() -> None:
    """Whatever is found is checked, pair by pair."""
    counted: dict[int | None, int] = {}
    for near, far, old in product((-1, 0, 1), (-1, 0, 1), (1, 2)):
        u = Function(([t, i], [Interval(Int, 0, T + 2), line]), Double, "u")
        later = Condition(t, ">=", 2) & Condition(i, ">=", 1) & Condition(i, "<=", N - 2)
        edge = Condition(t, "<", 2) | Condition(i, "<", 1) | Condition(i, ">", N - 2)
        same = [u(t, i - 1)] if near == -1 else []
        u.defn = [Case(edge, A(i)), Case(later, sum([u(t - 1, i + near), u(t - old, i + far), *same]))]
        places = found(last(u, T + 2))
        counted[places[0]] = counted.get(places[0], 0) + 1
    # One plane where only (t - 1, i) is read; three where a neighbour at t - 2 is, but for that to the right
    # in a sweep, which is overwritten later.
    assert counted == {1: 1, 2: 12, 3: 5}


def test_points_are_those_of_the_domain() -> None:
    """The oracle sees every instance."""
    pipeline = build([last(of_time(lambda u: u(t - 1, i)))])
    statements = recurrence_statements(pipeline.stage("u"), pipeline.context)
    order = find_order(statements, pipeline.context)
    assert isinstance(order, Order)
    sizes = {"T": 3, "N": 4}
    times = instants(order, sizes)
    assert len(times) == sum(len(points(s.domain, **sizes)) for s in statements) == 16
