"""Orders for stages that read themselves: legal, as parallel as they claim, or refused with a reason."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from typing import Any

import islpy as isl
import pytest

from polymat import (
    Case,
    Condition,
    Double,
    Function,
    Int,
    Interval,
    Op,
    Parameter,
    Reduce,
    Reduction,
    Variable,
)
from polymat.graph.build import build
from polymat.graph.recurrence import recurrence_statements
from polymat.lang.affine import Affine
from polymat.lang.indices import as_affine
from polymat.poly.access import Access
from polymat.poly.ast import from_union_map
from polymat.poly.domain import Domain
from polymat.poly.order import Assignment, Circle, Order, accumulation_is_parallel, find_order
from tests.poly.nests import Point, points, run

N, T = Parameter(Int, "N"), Parameter(Int, "T")
t, i, j, k = (Variable(Int, name) for name in "tijk")
whole = Interval(Int, 0, N - 1)


def found(function: Function) -> tuple[tuple[Assignment, ...], Order | Circle, Domain]:
    pipeline = build([function])
    statements = recurrence_statements(pipeline.stages[0], pipeline.context)
    return statements, find_order(statements, pipeline.context), pipeline.context


def line(cases: Sequence[Any] | Any, default: Any = None) -> Function:
    f = Function(([i], [whole]), Double, "f", default)
    f.defn = [case(f) if callable(case) else case for case in cases]
    return f


def instances(statements: Sequence[Assignment], order: Order, context: Domain, **sizes: int) -> list[Any]:
    depth = len(order.parallel)
    nest = from_union_map(order.schedule, context, [f"c{level}" for level in range(depth)])
    sequence = run(nest, sizes)
    everything = [(s.tag, p) for s in statements for p in points(s.domain, **sizes)]
    assert sorted(sequence) == sorted(everything)
    return sequence


def pairs(relation: isl.Map, sizes: dict[str, int]) -> list[tuple[Point, Point]]:
    """A relation at fixed sizes, listed."""
    flat = Domain((), (), relation.wrap().flatten())
    names = tuple(
        (relation.get_dim_name(isl.dim_type.param, p) or "")[1:]
        for p in range(relation.dim(isl.dim_type.param))
    )
    split = relation.dim(isl.dim_type.in_)
    listed = points(Domain(names, (), flat.set), **sizes)
    return [(p[:split], p[split:]) for p in listed]


def check_legal(statements: Sequence[Assignment], order: Order, context: Domain, **sizes: int) -> None:
    """Every element that is read has been written by all its writers before."""
    sequence = instances(statements, order, context, **sizes)
    place = {instance: position for position, instance in enumerate(sequence)}
    writes = {s.tag: pairs(s.writes.map, sizes) for s in statements}
    for reader in statements:
        for access in reader.reads:
            for point, element in pairs(access.map, sizes):
                for writer in statements:
                    for source, written in writes[writer.tag]:
                        if written == element:
                            assert place[writer.tag, source] < place[reader.tag, point]
    _check_parallel(statements, order, sizes)


def _check_parallel(statements: Sequence[Assignment], order: Order, sizes: dict[str, int]) -> None:
    """No two iterations of a loop said to be parallel touch one element, the outer loops being equal."""
    times: dict[tuple[int, Point], Point] = {}
    listed = order.schedule.get_map_list()
    for position in range(listed.n_map()):
        map_ = listed.get_at(position)
        tag = int(map_.get_tuple_name(isl.dim_type.in_)[1:])
        bare = map_.reset_tuple_id(isl.dim_type.in_)
        if bare.has_tuple_id(isl.dim_type.out):
            bare = bare.reset_tuple_id(isl.dim_type.out)
        times.update({((tag, p)): time for p, time in pairs(bare, sizes)})
    touched: dict[Point, list[tuple[int, Point]]] = {}
    for s in statements:
        for access in (s.writes, *s.reads):
            for point, element in pairs(access.map, sizes):
                touched.setdefault(element, []).append((s.tag, point))
    written = {e for s in statements for _, e in pairs(s.writes.map, sizes)}
    writers = {(s.tag, p, e) for s in statements for p, e in pairs(s.writes.map, sizes)}
    for element in sorted(written):
        for first, second in product(touched[element], repeat=2):
            if (*first, element) not in writers:
                continue
            one, other = times[first], times[second]
            level = next((n for n, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), None)
            assert level is None or not order.parallel[level], (element, first, second, level)


def legal(function: Function, **sizes: int) -> Order:
    statements, order, context = found(function)
    assert isinstance(order, Order)
    check_legal(statements, order, context, **sizes)
    return order


def test_forwards() -> None:
    order = legal(
        line([Case(Condition(i, "==", 0), 1.0), lambda f: Case(Condition(i, ">", 0), f(i - 1))]), N=6
    )
    assert order.parallel[0] is False


def test_backwards() -> None:
    order = legal(line([lambda f: Case(Condition(i, "<", N - 1), f(i + 1))], default=1.0), N=6)
    assert order.parallel[0] is False


def test_every_second_point_of_the_other_half() -> None:
    order = legal(line([lambda f: Case(Condition(i, ">=", N), f(i - N))], default=1.0), N=5)
    assert isinstance(order, Order)
    f = Function(([i], [Interval(Int, 0, 2 * N - 1)]), Double, "f", 1.0)
    f.defn = [Case(Condition(i, ">=", N), f(i - N))]
    legal(f, N=4)


def test_forwards_and_backwards_at_once() -> None:
    function = line(
        [
            lambda f: Case(Condition(i, "<", N // 2), f(i + N // 2)),
            lambda f: Case(Condition(i, ">=", N // 2) & Condition(i, "<", N - 1), f(i + 1)),
        ],
        default=1.0,
    )
    legal(function, N=7)


def seidel() -> Function:
    X = Function(([t, i, j], [Interval(Int, 0, T), whole, whole]), Double, "X", 0.0)
    inside = Condition(t, ">", 0) & Condition(i, ">", 0) & Condition(i, "<", N - 1)
    inside = inside & Condition(j, ">", 0) & Condition(j, "<", N - 1)
    new = X(t, i - 1, j - 1) + X(t, i - 1, j) + X(t, i - 1, j + 1) + X(t, i, j - 1)
    old = X(t - 1, i, j + 1) + X(t - 1, i + 1, j - 1) + X(t - 1, i + 1, j) + X(t - 1, i + 1, j + 1)
    X.defn = [Case(inside, new + old)]
    return X


def test_a_wavefront_in_two_dimensions() -> None:
    legal(seidel(), N=4, T=2)


def test_rows_of_a_recurrence_along_one_dimension_are_parallel() -> None:
    f = Function(([i, j], [whole, whole]), Double, "f", 1.0)
    f.defn = [Case(Condition(j, ">", 0), f(i, j - 1))]
    assert legal(f, N=4).parallel[:2] == (True, False)
    g = Function(([i, j], [whole, whole]), Double, "g", 1.0)
    g.defn = [Case(Condition(i, ">", 0), g(i - 1, N - 1 - j))]
    assert legal(g, N=4).parallel[:2] == (False, True)


def test_two_arrays_that_take_turns() -> None:
    """Jacobi with its two arrays as halves of one function."""
    h = Variable(Int, "h")
    X = Function(([t, h, i], [Interval(Int, 0, T), Interval(Int, 0, 1), whole]), Double, "X", 1.0)
    inside = Condition(t, ">", 0) & Condition(i, ">", 0) & Condition(i, "<", N - 1)
    X.defn = [
        Case(Condition(h, "==", 0) & inside, X(t - 1, 1, i - 1) + X(t - 1, 1, i + 1)),
        Case(Condition(h, "==", 1) & inside, X(t, 0, i - 1) + X(t, 0, i + 1)),
    ]
    order = legal(X, N=5, T=3)
    assert any(order.parallel)


def test_sums_that_need_earlier_sums() -> None:
    """Forward substitution: x(i) starts from 1 and subtracts what is known."""
    x = Reduction(([i], [whole]), ([i, k], [whole, Interval(Int, 0, i - 1)]), Double, "x", init=1.0)
    x.defn = [Reduce(x(i), -2 * x(k), Op.Sum)]
    legal(x, N=5)


@pytest.mark.parametrize("read", [i, N - 1 - i, i * 0, 2 * (i // 2)])
def test_a_point_that_needs_itself(read: Any) -> None:
    _, circle, _ = found(line([lambda f: f(read)]))
    assert isinstance(circle, Circle)
    assert circle.example == {"i": 0, "N": 1}


def test_two_points_that_need_each_other() -> None:
    function = line([lambda f: Case(Condition(i, "<", 2), f(1 - i))], default=1.0)
    _, circle, _ = found(function)
    assert isinstance(circle, Circle)
    assert circle.example == {"i": 0, "N": 2}


def test_a_longer_circle_has_no_example() -> None:
    function = line(
        [
            lambda f: Case(Condition(i % 3, "!=", 2) & Condition(i, "<", N - 2), f(i + 1)),
            lambda f: Case(Condition(i % 3, "==", 2), f(i - 2)),
        ],
        default=1.0,
    )
    _, circle, _ = found(function)
    assert isinstance(circle, Circle)
    assert circle.example is None


def random_recurrence(draw: random.Random) -> tuple[Function, list[Point]]:
    offsets = [p for p in product((-2, -1, 0, 1, 2), repeat=2) if p != (0, 0)]
    chosen = [draw.choice(offsets) for _ in range(draw.randint(1, 3))]
    f = Function(([i, j], [whole, whole]), Double, "f", 1.0)
    inside = (
        Condition(i, ">=", 2) & Condition(i, "<", N - 2) & Condition(j, ">=", 2) & Condition(j, "<", N - 2)
    )
    value = f(i + chosen[0][0], j + chosen[0][1])
    for a, b in chosen[1:]:
        value = value + f(i + a, j + b)
    f.defn = [Case(inside, value)]
    return f, chosen


def has_circle(offsets: Sequence[Point], size: int) -> bool:
    inside = set(product(range(2, size - 2), repeat=2))
    waiting = {p: {q for a, b in offsets if (q := (p[0] + a, p[1] + b)) in inside} for p in inside}
    while ready := [p for p, needs in waiting.items() if not needs]:
        for p in ready:
            del waiting[p]
        for needs in waiting.values():
            needs.difference_update(ready)
    return bool(waiting)


def test_random_stencils_have_an_order_exactly_if_there_is_one(seed: int) -> None:
    draw = random.Random(seed)
    ordered = refused = 0
    for _ in range(30):
        function, offsets = random_recurrence(draw)
        statements, order, context = found(function)
        if isinstance(order, Order):
            ordered += 1
            check_legal(statements, order, context, N=8)
        else:
            refused += 1
            assert has_circle(offsets, 24), offsets
    assert ordered
    assert refused


@pytest.mark.parametrize(
    ("target", "dim", "parallel"),
    [
        ((i,), "i", True),
        ((i,), "k", False),
        ((i + k,), "i", False),
        ((i // 2,), "i", False),
        ((k, i), "k", True),
    ],
)
def test_which_loops_may_accumulate_in_parallel(target: tuple[Any, ...], dim: str, parallel: bool) -> None:
    domain = Domain.box(("N",), ("i", "k"), [(Affine(), Affine.name("N"))] * 2)
    writes = Access.of(domain, [as_affine(index, None) for index in target])
    assert accumulation_is_parallel(writes, dim) is parallel
