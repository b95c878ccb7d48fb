"""What no decision may do is found in a partition and in a schedule."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from polymat import (
    Case,
    Condition,
    Double,
    Function,
    Int,
    InternalError,
    Interval,
    Options,
    Parameter,
    Variable,
    Vector,
)
from polymat.driver import levels, request_for
from polymat.graph.group import Group, Grouping
from polymat.plan.schedule import Schedule
from polymat.plan.tile import TilePlan
from polymat.plan.verifyplan import check_grouping, check_schedule
from tests.decide import eliminations

N = Parameter(Int, "N")
i, k = Variable(Int, "i"), Variable(Int, "k")
x = Vector(Double, "x", [N])


@cache
def schedule() -> Schedule:
    """f and g in tiles of 32."""
    f = Function(([i], [Interval(Int, 1, N - 2)]), Double, "f")
    f.defn = [x(i - 1) + x(i + 1)]
    g = Function(([i], [Interval(Int, 2, N - 3)]), Double, "g")
    g.defn = [f(i - 1) * f(i + 1)]
    options = Options(inline=False, tile_sizes=(32,))
    request = request_for([g], name="g", options=options)
    found = next(level for name, level in levels(request) if name == "tilesize")
    assert isinstance(found, Schedule)
    return found


def with_plan(**changes: Any) -> Schedule:
    (plan,) = schedule().plans
    assert isinstance(plan, TilePlan)
    return replace(schedule(), plans=(replace(plan, **changes),))


@pytest.mark.parametrize(
    ("groups", "fault"),
    [
        ([("f",)], "g is in 0 groups"),
        ([("f",), ("f", "g")], "f is in 2 groups"),
        ([("f", "g"), ("h",)], "the groups have a stage h, the pipeline has none"),
        ([("g",), ("f",)], "g reads f, which is computed after it"),
        ([("g", "f")], "g reads f, which is computed after it"),
    ],
)
def test_a_partition_has_every_stage_once_and_in_order(groups: list[tuple[str, ...]], fault: str) -> None:
    pipeline = schedule().grouping.pipeline
    check_grouping(schedule().grouping)
    with pytest.raises(InternalError, match=fault):
        check_grouping(Grouping(pipeline, tuple(map(Group, groups))))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"sizes": (0,)}, r"tiles of \(0,\) along \('i',\)"),
        ({"sizes": (32, 8)}, r"tiles of \(32, 8\)"),
        ({"members": ()}, "its members are "),
        ({"loops": {}}, "f has no loops"),
        ({"joint": (("f", "h"),)}, "h runs jointly, and is no member"),
        ({"group": Group(("f",))}, r"the groups are f\+g, and the plans are for f"),
    ],
)
def test_a_plan_of_tiles_can_be_carried_out(changes: dict[str, Any], fault: str) -> None:
    check_schedule(schedule())
    with pytest.raises(InternalError, match=fault):
        check_schedule(with_plan(**changes))


def test_members_lie_along_dimensions_that_they_have() -> None:
    (plan,) = schedule().plans
    assert isinstance(plan, TilePlan)
    first, second = plan.members
    with pytest.raises(InternalError, match="f has no dimension j"):
        check_schedule(with_plan(members=(replace(first, dims=("j",)), second)))
    with pytest.raises(InternalError, match="the output g has no array"):
        check_schedule(with_plan(members=(first, replace(second, scratch=True))))
    loops = {**plan.loops, "f": replace(plan.loops["f"], vector="j")}
    with pytest.raises(InternalError, match="the loop along j is none of"):
        check_schedule(with_plan(loops=loops))


@pytest.mark.parametrize("folds", [{"f": (2,)}, {"h": (1,)}])
def test_only_recurrences_between_others_keep_few_of_their_elements(folds: Any) -> None:
    with pytest.raises(
        InternalError, match=f"{next(iter(folds))} keeps few of its elements, and is no recurrence"
    ):
        check_schedule(replace(schedule(), folds=folds))


@pytest.mark.parametrize("places", [(0, None), (2,)])
def test_there_is_a_place_along_every_dimension(places: Any) -> None:
    u = Function(([i, k], [Interval(Int, 0, N), Interval(Int, 0, N)]), Double, "u")
    edge, inner = Condition(i, "==", 0), Condition(i, ">", 0)
    u.defn = [Case(edge, 1.0 * k), Case(inner, u(i - 1, k))]
    g = Function(([k], [Interval(Int, 0, N)]), Double, "g")
    g.defn = [2.0 * u(N, k)]
    request = request_for([g], name="g", options=Options(skip=("bands",)))
    found = next(level for name, level in levels(request) if name == "folds")
    assert isinstance(found, Schedule)
    assert found.folds == {"u": (1, None)}
    check_schedule(found)
    with pytest.raises(InternalError, match=r"u keeps \(.*\) of its elements"):
        check_schedule(replace(found, folds={"u": places}))


@cache
def eliminated() -> Schedule:
    """An elimination, computed in the array of its last step."""
    request = request_for([eliminations.unscaled_lu()], name="R")
    found = next(level for name, level in levels(request) if name == "folds")
    assert isinstance(found, Schedule)
    return found


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"in_outputs": {}}, "R is in 0 groups"),
        ({"in_outputs": {"W": "W"}}, "W is in 1 groups"),
        ({"folds": {}}, "W lies in R, and is no elimination with one place for all steps"),
    ],
)
def test_an_output_that_something_lies_in_is_in_no_group(changes: dict[str, Any], fault: str) -> None:
    found = eliminated()
    check_schedule(found)
    assert (found.grouping.summary, found.in_outputs) == ("W", {"W": "R"})
    assert len(found.decisions) == 1
    with pytest.raises(InternalError, match=fault):
        check_schedule(replace(found, **changes))


def test_only_outputs_have_something_in_them() -> None:
    with pytest.raises(InternalError, match="f lies in h, which is no output"):
        check_schedule(replace(schedule(), in_outputs={"f": "h"}))
