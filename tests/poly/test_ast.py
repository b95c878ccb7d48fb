"""Loop nests: every instance once, in the order of the schedule, and texts that a reader can follow."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

from polymat import Condition, Int, Parameter, Variable
from polymat.lang.affine import Affine
from polymat.lang.indices import as_affine
from polymat.poly.ast import Instance, Loop, Scheduled, generate
from polymat.poly.domain import Domain
from tests.poly.nests import Point, points, run, text

N = Parameter(Int, "N")
i, j = Variable(Int, "i"), Variable(Int, "j")
CONTEXT = Domain.box(("N",), (), ()).at_least_zero([Affine.name("N")])


def form(value: Any) -> Affine:
    return as_affine(value, None)


def triangle(low: Any = 0) -> Domain:
    return Domain.box(("N",), ("i", "j"), [(form(0), form(N - 1)), (form(low), form(i))]).assume(CONTEXT)


SQUARE = Domain.box(("N",), ("i", "j"), [(form(0), form(N - 1))] * 2).assume(CONTEXT)


def test_a_square_in_its_own_order(golden: Callable[[str], None]) -> None:
    nest = generate([Scheduled(0, SQUARE, ("_i", "_j"))], CONTEXT, ("i", "j"))
    assert run(nest, {"N": 3}) == [(0, p) for p in points(SQUARE, N=3)]
    assert run(nest, {"N": 0}) == []
    golden(text(nest))


def test_a_triangle_by_columns_from_below(golden: Callable[[str], None]) -> None:
    nest = generate([Scheduled(0, triangle(), ("_j", "-_i"))], CONTEXT, ("column", "up"))
    assert run(nest, {"N": 3}) == [
        (0, p) for p in sorted(points(triangle(), N=3), key=lambda p: (p[1], -p[0]))
    ]
    golden(text(nest))


def test_a_skewed_square(golden: Callable[[str], None]) -> None:
    nest = generate([Scheduled(0, SQUARE, ("_i + _j", "_i"))], CONTEXT, ("wave", "i"))
    assert run(nest, {"N": 4}) == [(0, p) for p in sorted(points(SQUARE, N=4), key=lambda p: (sum(p), p[0]))]
    golden(text(nest))


def test_every_third_point(golden: Callable[[str], None]) -> None:
    third = Domain.box(("N",), ("i",), [(form(0), form(N - 1))]).where(Condition(i % 3, "==", 1))
    nest = generate([Scheduled(0, third, ("_i",))], CONTEXT, ("i",))
    assert run(nest, {"N": 9}) == [(0, (1,)), (0, (4,)), (0, (7,))]
    golden(text(nest))


def test_statements_that_share_a_loop(golden: Callable[[str], None]) -> None:
    first = SQUARE.where(Condition(j, "==", 0))
    statements = [Scheduled(0, first, ("_i", "0", "0")), Scheduled(1, triangle(1), ("_i", "1", "_j"))]
    nest = generate(statements, CONTEXT, ("i", "phase", "j"))
    expected = [(0, (0, 0)), (0, (1, 0)), (1, (1, 1)), (0, (2, 0)), (1, (2, 1)), (1, (2, 2))]
    assert run(nest, {"N": 3}) == expected
    golden(text(nest))


def test_separated_statements_have_no_guard_inside(golden: Callable[[str], None]) -> None:
    edge, inside = (SQUARE.where(Condition(j, op, 0)) for op in ("==", ">"))
    statements = [Scheduled(0, edge, ("_i", "_j")), Scheduled(1, inside, ("_i", "_j"))]
    nest = generate(statements, CONTEXT, ("i", "j"), separate=True)
    assert run(nest, {"N": 3}) == [(int(p[1] > 0), p) for p in points(SQUARE, N=3)]
    golden(text(nest))


def test_numbers_in_a_schedule_make_no_loops() -> None:
    """isl is not asked about them, and the depths are those of the schedule."""
    plain = generate([Scheduled(0, triangle(), ("_i", "_j"))], CONTEXT, ("i", "j"))
    (rows,) = generate([Scheduled(0, triangle(), ("3", "_i", "-1", "_j"))], CONTEXT, ("n", "i", "m", "j"))
    assert run((rows,), {"N": 3}) == run(plain, {"N": 3})
    assert text((rows,)) == text(plain).replace("# 1", "# 3").replace("# 0", "# 1")
    assert generate([Scheduled(0, CONTEXT, ("0", "1"))], CONTEXT, ("n", "m")) == (Instance(0, ()),)


def test_numbers_that_differ_put_statements_in_order() -> None:
    statements = [Scheduled(k, SQUARE, ("7", "_i", order, "_j")) for k, order in enumerate("10")]
    nest = generate(statements, CONTEXT, ("n", "i", "m", "j"))
    rows = [[(k, (row, column)) for k in (1, 0) for column in range(2)] for row in range(2)]
    assert run(nest, {"N": 2}) == rows[0] + rows[1]


def test_names_come_back_as_they_were() -> None:
    odd = Domain.box(("max",), ("floor",), [(form(0), Affine.name("max"))])
    nest = generate([Scheduled(0, odd, ("_floor",))], Domain.box(("max",), (), ()), ("mod",))
    loop = nest[0]
    while not isinstance(loop, Loop):
        loop = loop.then[0]  # type: ignore[union-attr]
    assert loop.iterator == "mod"
    assert run(nest, {"max": 2}) == [(0, (0,)), (0, (1,)), (0, (2,))]


Matrix = tuple[int, int, int, int]


def random_matrix(draw: random.Random) -> Matrix:
    """Two schedule dimensions that tell all points apart, as coefficients of i and j."""
    while True:
        a, b, c, d = (draw.randint(-2, 2) for _ in range(4))
        if a * d != b * c:
            return a, b, c, d


def place(matrix: Matrix, point: Point) -> tuple[int, int]:
    a, b, c, d = matrix
    return a * point[0] + b * point[1], c * point[0] + d * point[1]


def test_random_schedules_run_every_instance_once_and_in_order(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(40):
        matrix = a, b, c, d = random_matrix(draw)
        texts = (f"{a}*_i + {b}*_j", f"{c}*_i + {d}*_j")
        domain = draw.choice([SQUARE, triangle(), SQUARE.where(Condition((i + j) % 2, "==", 0))])
        cut = draw.randint(0, 3)
        parts = [domain.where(Condition(i, op, cut)) for op in ("<", ">=")]
        statements = [Scheduled(tag, part, texts) for tag, part in enumerate(parts)]
        nest = generate(statements, CONTEXT, ("a", "b"), separate=draw.random() < 0.5)
        for size in (0, 1, 2, 5):
            ordered = sorted(points(domain, N=size), key=partial(place, matrix))
            expected = [(int(p[0] >= cut), p) for p in ordered]
            assert run(nest, {"N": size}) == expected, (texts, cut, size)
