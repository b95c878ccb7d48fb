"""Domains: exact, with names, and with examples that can be shown."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest

from polymat import Condition, Int, Parameter, Variable, Vector
from polymat.errors import Location, NotAffineError
from polymat.lang.affine import Affine
from polymat.lang.indices import as_affine
from polymat.poly.domain import Domain
from tests.poly.nests import fix, points

N, M = Parameter(Int, "N"), Parameter(Int, "M")
i, j = Variable(Int, "i"), Variable(Int, "j")


def form(value: Any) -> Affine:
    return as_affine(value, None)


def box(*bounds: tuple[Any, Any], params: tuple[str, ...] = ("N", "M")) -> Domain:
    return Domain.box(params, "ij"[: len(bounds)], [(form(lo), form(hi)) for lo, hi in bounds])


SQUARE = box((0, N - 1), (0, N - 1))


def test_a_box_has_all_its_points_and_no_other() -> None:
    assert points(box((1, N), (2, M)), N=2, M=4) == [(1, 2), (1, 3), (1, 4), (2, 2), (2, 3), (2, 4)]
    assert points(box((3, 2), (0, 5)), N=2, M=4) == []
    assert points(box(), N=2, M=4) == [()]


def test_bounds_may_use_earlier_dimensions() -> None:
    assert points(box((0, N - 1), (i, N - 1)), N=3, M=0) == [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    assert points(box((0, 5), (i // 2, i // 2)), N=0, M=0) == [(k, k // 2) for k in range(6)]


@pytest.mark.parametrize("name", ["mod", "max", "exists", "and", "floor", "S1", "infty", "x_i", "_", "i"])
def test_any_identifier_is_a_dimension_or_a_parameter(name: str) -> None:
    domain = Domain.box((name + "_n",), (name,), [(Affine(), Affine.name(name + "_n"))])
    assert domain.example() == {name + "_n": 0, name: 0}
    assert str(domain) == f"[{name}_n] -> {{ [{name}] : 0 <= {name} <= {name}_n }}"


def test_where_keeps_the_points_that_meet_a_condition() -> None:
    inside = SQUARE.where(Condition(i, "<", j) & Condition(j, "!=", 2) | Condition(i + j, "==", 0))
    assert points(inside, N=4, M=0) == [(0, 0), (0, 1), (0, 3), (1, 3), (2, 3)]
    assert points(SQUARE.where(Condition(i % 2, "==", 1) & Condition((i + j) // 3, ">=", 1)), N=4, M=0) == [
        (1, 2),
        (1, 3),
        (3, 0),
        (3, 1),
        (3, 2),
        (3, 3),
    ]


OPS = ("<", "<=", ">", ">=", "==", "!=")
HOLDS = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def random_form(draw: random.Random) -> Any:
    value = draw.randint(-2, 2) * i + draw.randint(-2, 2) * j + draw.randint(-3, 3)
    kind = draw.randrange(4)
    if kind == 0:
        return value // draw.randint(2, 3)
    return value % draw.randint(2, 4) if kind == 1 else value + draw.randint(-1, 1) * N


def random_condition(draw: random.Random, depth: int) -> Condition:
    if depth and draw.random() < 0.6:
        left, right = random_condition(draw, depth - 1), random_condition(draw, depth - 1)
        return left & right if draw.random() < 0.5 else left | right
    return Condition(random_form(draw), draw.choice(OPS), random_form(draw))


def holds(condition: Condition, names: dict[str, int]) -> bool:
    if condition.combines:
        left, right = holds(condition.left, names), holds(condition.right, names)
        return (left and right) if condition.op == "&" else (left or right)
    left, right = (form(side).evaluate(names) for side in (condition.left, condition.right))
    return bool(HOLDS[condition.op](left, right))


def test_random_conditions_mean_what_they_say(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(60):
        condition = random_condition(draw, 2)
        yes = SQUARE.where(condition)
        no = SQUARE.subtract(yes)
        expected = [
            (a, b) for a, b in product(range(4), repeat=2) if holds(condition, {"i": a, "j": b, "N": 4})
        ]
        assert points(yes, N=4, M=1) == expected
        assert points(no, N=4, M=1) == [p for p in product(range(4), repeat=2) if p not in expected]
        assert yes.union(no).equals(SQUARE)
        assert yes.intersect(no).is_empty()


def test_a_condition_that_is_not_affine_is_refused_where_it_stands() -> None:
    x = Vector(Int, "x", [N])
    with pytest.raises(NotAffineError, match=r"not affine: x\(i\)") as caught:
        SQUARE.where(Condition(x(i), "<", 3), Location("program.py", 7))
    assert caught.value.location == Location("program.py", 7)


def test_subtraction_and_subsets() -> None:
    lower = SQUARE.where(Condition(j, "<=", i))
    strict = SQUARE.subtract(SQUARE.where(Condition(j, ">=", i)))
    assert strict.is_subset(lower)
    assert not lower.is_subset(strict)
    assert points(lower.subtract(strict), N=3, M=0) == [(0, 0), (1, 1), (2, 2)]
    assert SQUARE.subtract(SQUARE).is_empty()
    assert SQUARE.renamed(("p", "q")).dims == ("p", "q")
    assert SQUARE.renamed(("p", "q")).is_subset(SQUARE)


def test_examples_are_small_points_with_the_sizes_they_need() -> None:
    assert SQUARE.example() == {"N": 1, "M": SQUARE.example()["M"], "i": 0, "j": 0}  # type: ignore[index]
    odd = SQUARE.where(Condition(i % 3, "==", 2) & Condition(j, ">", i))
    example = odd.assume(Domain.box(("N", "M"), (), ()).at_least_zero([form(N), form(M)])).example()
    assert example == {"N": 4, "M": 0, "i": 2, "j": 3}
    assert SQUARE.where(Condition(i, ">", N)).example() is None
    assert box((0, N), params=("N",)).where(Condition(i, "<", 0)).example() is None


def test_an_example_of_a_set_without_a_smallest_point() -> None:
    unbounded = Domain.box(("N",), ("i",), [(form(N), form(N + 3))])
    example = unbounded.example()
    assert example is not None
    assert 0 <= example["i"] - example["N"] <= 3


def test_is_box() -> None:
    assert SQUARE.is_box()
    assert box((1, N - 2), (M, 2 * M)).is_box()
    assert box().is_box()
    assert not box((0, N - 1), (0, i)).is_box()
    assert not SQUARE.where(Condition(i, "!=", 3)).is_box()
    assert not SQUARE.where(Condition(i % 2, "==", 0)).is_box()
    assert SQUARE.where(Condition(i, ">", 3) & Condition(j, "<", M)).is_box()
    assert SQUARE.where(Condition(M, ">=", 3)).is_box()


def test_between_adds_parameters() -> None:
    part = SQUARE.between("i", Affine.name("begin"), Affine.name("end"))
    assert part.params == ("N", "M", "begin", "end")
    assert points(part, N=4, M=0, begin=1, end=3) == [(a, b) for a in (1, 2) for b in range(4)]


def test_onto_keeps_the_named_dimensions_in_their_order() -> None:
    n = Affine.name("n")
    zero = Affine()
    lower = Domain.box(["n"], ["i", "j", "k"], [(zero, n - 1), (zero, Affine.name("i")), (zero, zero)])
    expected = Domain.box(["n"], ["j", "i"], [(zero, n - 1), (Affine.name("j"), n - 1)])
    assert lower.onto(["j", "i"]).dims == ("j", "i")
    assert lower.onto(["j", "i"]).equals(expected)


def test_what_is_known_of_sizes() -> None:
    context = Domain.box(("N", "M"), (), ()).at_least_zero([form(N - 5)])
    assert SQUARE.where(Condition(i, "==", 4)).assume(context).is_box()
    assert points(SQUARE.assume(context), N=4, M=1) == []
    assert points(fix(SQUARE, {"N": 1, "nobody": 3}), M=0) == [(0, 0)]


def test_keys_tell_different_sets_apart() -> None:
    halves = box((0, 4)).union(box((5, 9)))
    assert halves.key == box((0, 9)).key
    assert halves.key != box((0, 8)).key
    assert halves.equals(box((0, 9)))
    assert halves != box((0, 9))  # equality is identity


BORDER = SQUARE.where(
    Condition(i, "==", 0) | Condition(i, "==", N - 1) | Condition(j, "==", 0) | Condition(j, "==", N - 1)
)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5])
def test_pieces_are_disjoint_and_cover_a_set(size: int) -> None:
    found = [point for piece in BORDER.pieces() for point in points(piece, N=size, M=1)]
    assert sorted(found) == points(BORDER, N=size, M=1)
    assert len(set(found)) == len(found)


def test_pieces_begin_with_whole_rows() -> None:
    pieces = BORDER.pieces()
    assert [piece.limits("i") for piece in pieces[:2]] == [(form(0), form(0)), (form(N - 1), form(N - 1))]
    assert pieces[0].limits("j") == (form(0), form(N - 1))
    assert SQUARE.pieces() == (SQUARE,)


def test_a_box_that_asks_more_of_sizes_has_not_all_points() -> None:
    sides = [(form(0), form(N - 1)), (form(0), form(N - 1))]
    asking = SQUARE.where(Condition(M, ">=", 3))
    assert SQUARE.has_all_of(sides)
    assert not asking.has_all_of(sides)
    assert asking.has_all_of(sides, box().where(Condition(M, ">=", 3)))
    assert not SQUARE.has_all_of([(form(0), form(N)), sides[1]])


def test_limits_are_forms_of_sizes() -> None:
    assert box((1, N - 2), (0, M - 1)).limits("i") == (form(1), form(N - 2))
    assert SQUARE.where(Condition(j, "<=", i)).limits("j") is None
    assert SQUARE.where(Condition(i % 2, "==", 0)).limits("i") is None
    assert SQUARE.where(Condition(i, "<=", M)).limits("i") is None
    assert BORDER.limits("i") is None
