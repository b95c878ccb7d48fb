"""Pipelines of many stages are decided by few questions, and are not too much C for the compiler."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

import polymat as pm
from benchmarks.stencils.sixty import STAGES, build
from polymat.codegen.lower import lower
from polymat.codegen.units import render
from polymat.decide.decider import Decider
from polymat.driver import levels, request_for
from polymat.fusion.legality import Choices, choices_of
from polymat.graph.pipeline import Pipeline
from polymat.options import Options
from polymat.plan.tile import TilePlan
from polymat.runtime.host import InstalledLibraries
from tests.decide.test_decider import MACHINE
from tests.fusion.pipelines import facts

RANGES = STAGES * (STAGES + 1) // 2  # of a chain of so many stages: no other groups of them are connected
# One loop over vectors for all stages of a tile (512 bits) is more C than loops of single stages (256), whose
# 40 lines a stage gcc 12 compiles in 3 s; 70 in 9 to 10.
LINES = {256: 45, 512: 75}  # of C for each stage


def sixty(reach: int, options: Options) -> Pipeline:
    description = build(reach)
    found = levels(request_for(description.outputs, name="many", inputs=description.inputs, options=options))
    pipeline = next(level for word, level in found if word == "graph")
    assert isinstance(pipeline, Pipeline)
    return pipeline


@pytest.mark.parametrize(
    ("reach", "options"),
    [(1, Options()), (3, Options()), (1, Options.paper()), (3, Options.polymage())],
    ids=["1-time", "3-time", "1-paper", "3-polymage"],
)
def test_sixty_stages_are_grouped_by_pricing_ranges_alone(reach: int, options: Options) -> None:
    pipeline = sixty(reach, options)
    decider = Decider(pipeline, MACHINE, {"R": 2000, "C": 2000}, options, InstalledLibraries())
    schedule = decider.schedule(decider.grouping())
    assert sum(len(plan.group.stages) for plan in schedule.plans) == STAGES
    assert len(schedule.plans) < STAGES
    assert len(schedule.considered) <= RANGES


@pytest.mark.drawn(1)
@pytest.mark.parametrize("bits", LINES)
def test_sixty_stages_are_not_too_much_for_a_compiler(bits: int) -> None:
    options = Options()
    machine = replace(MACHINE, vector_bits=bits, vector_registers=bits // 16)
    decider = Decider(sixty(1, options), machine, {"R": 2000, "C": 2000}, options, InstalledLibraries())
    schedule = decider.schedule(decider.grouping())
    in_one_loop = any(isinstance(plan, TilePlan) and plan.row_loop for plan in schedule.plans)
    assert in_one_loop == (bits == 512)
    text = render(lower(schedule, "many", options).file)
    assert text.count("\n") < LINES[bits] * STAGES


def windows(count: int) -> pm.Function:
    """Sums over windows, each of the one before."""
    size, i, k = pm.Parameter(pm.Int, "N"), pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "k")
    before: pm.Signal | pm.Function = pm.Signal(pm.Double, "x", [size])
    for number in range(count):
        span = pm.Interval(pm.Int, 0, size - 3 - 2 * number)
        window = pm.Interval(pm.Int, 0, 2)
        total = pm.Reduction(([i], [span]), ([i, k], [span, window]), pm.Double, f"w{number}")
        total.defn = [pm.Reduce(total(i), before(i + k), pm.Op.Sum)]
        before = total
    assert isinstance(before, pm.Function)
    return before


def questions(count: int) -> int:
    """How many functions are called to say how a group of so many sums may share tiles."""
    reads, dag, names = facts(windows(count))
    calls = 0

    def counted(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        found = choices_of(reads, dag, names)
    finally:
        sys.setprofile(None)
    assert isinstance(found, Choices)
    assert len(found.alignment.dims) == count + 1
    return calls


def test_what_a_group_asks_grows_with_its_stages() -> None:
    """Each sum has a dimension of its own, which no other stage is asked about."""
    few, many = questions(16), questions(64)
    assert many < 4.5 * few
