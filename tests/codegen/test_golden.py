"""The C of a program's own part and what `explain()` says, for one pipeline of each kind of nest and tile.

What the library adds (register blocks, packing, functions) is not compared: it has tests of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from polymat.codegen.lower import MAKERS
from polymat.codegen.program import Program
from polymat.options import DEFAULTS
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import MergedPlan, NestPlan
from polymat.plan.schedule import Schedule
from polymat.plan.tile import Plan, TilePlan
from polymat.steps import Level
from tests.codegen.kinds import KINDS
from tests.conftest import golden_path
from tests.fixed import compiled_levels, own_c, report_text

LOOPS = {"map", "reduce", "row", "scatter", "recurrence"}


@cache
def levels_of(kind: str) -> dict[str, Level]:
    return compiled_levels(**KINDS[kind]())


@pytest.mark.parametrize("kind", KINDS)
def test_own_c(kind: str, golden: Callable[[str], None]) -> None:
    program = levels_of(kind)["codegen"]
    assert isinstance(program, Program)
    golden(own_c(program))


@pytest.mark.parametrize("kind", KINDS)
def test_explained(kind: str, golden: Callable[[str], None]) -> None:
    golden(report_text(**KINDS[kind]()))


@pytest.mark.parametrize("kind", KINDS)
def test_schemes_that_are_explained_give_the_same_c(kind: str) -> None:
    """The text of each group is taken back as it stands."""
    explained = golden_path(Path(__file__), f"test_explained[{kind}]").read_text(encoding="utf-8")
    schemes = dict(re.findall(r"^  scheme of (\w+): (\[.*\])$", explained, re.MULTILINE))
    asked = dict(KINDS[kind]())
    assert schemes, "every group says what runs"
    options = replace(asked.pop("options", DEFAULTS), scheme=schemes)
    program = compiled_levels(**asked, options=options)["codegen"]
    assert isinstance(program, Program)
    wanted = golden_path(Path(__file__), f"test_own_c[{kind}]").read_text(encoding="utf-8")
    assert own_c(program).rstrip("\n") + "\n" == wanted


def nests(plan: Plan) -> Iterator[NestPlan]:
    """The plans of the stages, those within a tile and within a merged one included."""
    if isinstance(plan, TilePlan):
        for loops in plan.loops.values():
            yield from nests(loops)
        return
    yield plan
    if isinstance(plan, MergedPlan):
        yield from nests(plan.inner)


def test_every_kind_of_nest_and_tile_is_there() -> None:
    plans: list[Plan] = []
    for kind in KINDS:
        schedule = levels_of(kind)["tilesize"]
        assert isinstance(schedule, Schedule)
        plans += schedule.plans
    found = [nest for plan in plans for nest in nests(plan)]
    assert {type(nest) for nest in found} == {*MAKERS, LoopPlan}
    assert {nest.kind for nest in found if isinstance(nest, LoopPlan)} == LOOPS
    tiles = [plan for plan in plans if isinstance(plan, TilePlan)]
    for there in (True, False):
        assert there in {plan.rolling for plan in tiles}
        assert there in {plan.is_numbered for plan in tiles}
        for trait in ("row_loop", "joint", "crossing"):
            assert there in {bool(getattr(plan, trait)) for plan in tiles}, trait
        assert there in {any(member.private for member in plan.members) for plan in tiles}


def test_no_kind_is_left_over() -> None:
    here = golden_path(Path(__file__), "x").parent
    tests = ("test_own_c", "test_explained")
    assert {path.stem for path in here.glob("*")} == {f"{test}_{kind}" for test in tests for kind in KINDS}
