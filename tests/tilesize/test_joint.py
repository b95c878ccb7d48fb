"""Sums of a tile that run in one loop: which pairs read the same elements in the same order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from polymat import Case, Complex, Condition, Double, Function, Matrix, Vector
from polymat.graph.aligned import Member
from polymat.graph.build import build
from polymat.graph.group import Group
from polymat.plan.loops import LoopPlan
from polymat.tilesize.joint import joint_sums
from tests.idiom.recognise import M, N, i, j, total, upto

A, Z = Matrix(Double, "A", [M, N]), Matrix(Complex, "A", [M, N])
p, r = Vector(Double, "p", [N]), Vector(Double, "r", [M])
OVER_ROWS = Member("q", ("i",), ((0, 0),))
ACROSS = Member("s", ("i",), ((0, 0),), private=True)


def q(value: Any = None, dtype: Any = Double) -> Function:
    """A sum along each row, by blocks of rows."""
    return total("q", [(i, upto(M))], [(j, upto(N))], A(i, j) * p(j) if value is None else value, dtype=dtype)


def s(value: Any = None, dtype: Any = Double) -> Function:
    """A sum of all rows, which is one in memory."""
    return total("s", [(j, upto(N))], [(i, upto(M))], r(i) * A(i, j) if value is None else value, dtype=dtype)


def loops(name: str, kind: str, order: tuple[str, ...], unroll: int = 4) -> LoopPlan:
    return LoopPlan(Group((name,)), kind, order, None, "j", "", unroll=unroll)


def joint(
    first: Function,
    second: Function,
    members: tuple[Member, Member] = (OVER_ROWS, ACROSS),
    kinds: tuple[str, str] = ("reduce", "row"),
    **more: Any,
) -> tuple[tuple[str, str], ...]:
    stages = {stage.name: stage for stage in build([first, second]).stages}
    names = [member.stage for member in members]
    plans = {name: loops(name, kind, ("i", "j"), **more) for name, kind in zip(names, kinds, strict=True)}
    return joint_sums(stages, members, plans)


def test_a_row_in_memory_runs_with_a_sum_that_reads_the_same() -> None:
    assert joint(q(), s()) == (("q", "s"),)


def test_sums_that_read_other_elements_or_other_places_stay_apart() -> None:
    other = Matrix(Double, "B", [M, N])
    assert joint(q(), s(r(i) * other(i, j))) == ()
    assert joint(q(), s(r(i) * A(i, j + 1))) == ()


def test_one_of_the_two_is_a_row() -> None:
    t = total("s", [(i, upto(M))], [(j, upto(N))], A(i, j))
    both = (OVER_ROWS, Member("s", ("i",), ((0, 0),)))
    assert joint(q(), t, both, ("reduce", "reduce")) == ()


def test_sums_at_some_sizes_alone_stay_apart() -> None:
    asking = q([Case(Condition(N, ">=", 3), A(i, j) * p(j))])
    assert joint(asking, s()) == ()
    within = q([Case(Condition(i, ">=", 0) & Condition(N, ">=", 1), A(i, j) * p(j))])
    assert joint(within, s()) == (("q", "s"),)


def test_a_sum_waits_for_what_it_reads() -> None:
    first = q()
    assert joint(first, s(first(i) * A(i, j))) == ()
    second = s()
    swapped = total("q", [(i, upto(M))], [(j, upto(N))], A(i, j) * second(j))
    assert joint(second, swapped, (ACROSS, OVER_ROWS), ("row", "reduce")) == ()


def test_only_blocks_of_rows_are_joined() -> None:
    assert joint(q(), s(), unroll=1) == ()


def test_complex_numbers_are_not() -> None:
    assert joint(q(Z(i, j) * p(j), Complex), s(r(i) * Z(i, j), Complex)) == ()


@pytest.mark.parametrize(
    "changed",
    [
        {"margins": ((1, 0),)},  # computes beside the tile
        {"scales": (2,)},
        {"private": False},  # a row that tiles do not share
        {"dims": ("j",)},  # tiles run along the other loop
    ],
)
def test_members_that_lie_otherwise_are_not(changed: dict[str, Any]) -> None:
    assert joint(q(), s(), (OVER_ROWS, replace(ACROSS, **changed))) == ()


def test_tiles_run_along_the_outer_loop() -> None:
    along = tuple(replace(member, dims=("j",)) for member in (OVER_ROWS, ACROSS))
    assert joint(q(), s(), (along[0], along[1])) == ()


def test_two_sums_with_accumulators_stay_apart_beside_a_row() -> None:
    t = total("t", [(i, upto(M))], [(j, upto(N))], A(i, j))
    elsewhere = s(r(i) * Matrix(Double, "B", [M, N])(i, j))
    stages = {stage.name: stage for stage in build([q(), t, elsewhere]).stages}
    kinds = {"q": "reduce", "t": "reduce", "s": "row"}
    plans = {name: loops(name, kind, ("i", "j")) for name, kind in kinds.items()}
    assert joint_sums(stages, (OVER_ROWS, replace(OVER_ROWS, stage="t"), ACROSS), plans) == ()


def test_a_stage_is_in_one_pair() -> None:
    built = build([q(), s(), total("u", [(j, upto(N))], [(i, upto(M))], A(i, j))])
    stages = {stage.name: stage for stage in built.stages}
    members = (OVER_ROWS, ACROSS, replace(ACROSS, stage="u"))
    kinds = {"q": "reduce", "s": "row", "u": "row"}
    plans = {name: loops(name, kind, ("i", "j")) for name, kind in kinds.items()}
    assert joint_sums(stages, members, plans) == (("q", "s"),)
