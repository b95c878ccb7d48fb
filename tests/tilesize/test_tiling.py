"""What tiles of a plan demand beside its loops: the room of one in a cache, and where what it reads lies."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.images.unsharp import PROGRAM as UNSHARP
from polymat.codegen.program import Program
from polymat.driver import levels, request_for
from polymat.machine.calibrate import PIECE_BYTES
from polymat.machine.model import MEMORY, Machine
from polymat.options import Options
from polymat.plan.schedule import Schedule
from polymat.plan.tile import TilePlan
from polymat.tilesize.cost import plan_cost
from polymat.tilesize.home import Home
from polymat.tilesize.tiling import TileDemand, tiling_of
from tests.codegen.kinds import KINDS
from tests.fixed import NARROW, WIDE, compiled_levels, own_c
from tests.hosts import StatedLibraries, as_stated

SIZES = {"M": 1000, "N": 1000, "K": 500}


def demand(kind: str, l2_bytes: int, sizes: tuple[int, ...] | None = None) -> TileDemand:
    """Of the first plan of a program, whose tiles are as large as chosen for it, or so large."""
    schedule = compiled_levels(**KINDS[kind]())["tilesize"]
    assert isinstance(schedule, Schedule)
    pipeline, plan = schedule.grouping.pipeline, schedule.plans[0]
    stages = [pipeline.stage(name) for name in schedule.grouping.groups[0].stages]
    assert isinstance(plan, TilePlan)
    plan = plan if sizes is None else replace(plan, sizes=sizes)
    return tiling_of(pipeline, plan, stages, replace(WIDE, l2_bytes=l2_bytes), SIZES)


@pytest.mark.parametrize("cut", [False, True])
def test_ends_of_whole_rows_take_as_long_as_was_measured(cut: bool) -> None:
    """Three times as many operations where they take three times as long; counted where nobody measured.

    Rows that tiles cut begin anew in memory, too, which nobody measures.
    """

    def ends(machine: Machine) -> float:
        schedule = compiled_levels(**KINDS["rolling_tiles"]())["tilesize"]
        assert isinstance(schedule, Schedule)
        (plan,) = schedule.plans
        pipeline = schedule.grouping.pipeline
        assert isinstance(plan, TilePlan)
        plan = plan if cut else replace(plan, sizes=(plan.sizes[0], 4 * SIZES["N"]))
        return tiling_of(pipeline, plan, list(pipeline.stages), machine, SIZES).ends

    known = as_stated(WIDE)
    counted = ends(known)
    assert counted > 0.0
    assert known.calibration is not None
    once, often = (
        ends(known.with_calibration(replace(known.calibration, row_seconds=each))) for each in (1e-9, 3e-9)
    )
    assert once < often < counted
    assert (often == pytest.approx(3.0 * once)) != cut


def beside_pieces(share: float) -> Machine:
    """Memory that gives rows in pieces at a share of its rate; 0.0: nobody measured it."""
    known = as_stated(NARROW)
    assert known.calibration is not None
    pieces = share * known.bandwidth(MEMORY)
    return known.with_calibration(replace(known.calibration, pieces_rate=pieces))


@pytest.mark.parametrize(("gain", "asks"), [(0.0, True), (1.3, True), (0.98, True), (0.9, False)])
def test_rolling_tiles_ask_for_rows_unless_they_lose_by_it(gain: float, asks: bool) -> None:
    """0.0: nobody measured it."""
    known = as_stated(NARROW)
    assert known.calibration is not None
    machine = known.with_calibration(replace(known.calibration, requests_gain=gain))
    found = compiled_levels(**{**KINDS["rolling_tiles"](), "machine": machine})
    schedule, program = found["tilesize"], found["codegen"]
    assert isinstance(schedule, Schedule)
    assert isinstance(program, Program)
    (plan,) = schedule.plans
    assert isinstance(plan, TilePlan)
    assert plan.rolling
    assert ("__builtin_prefetch" in own_c(program)) == asks


def test_longer_pieces_of_rows_lose_less() -> None:
    half = beside_pieces(0.5)
    assert [half.pieces_loss(times * PIECE_BYTES) for times in (0.5, 1, 4)] == pytest.approx([1, 1, 0.25])
    assert beside_pieces(1.2).pieces_loss(PIECE_BYTES) == 0.0
    assert beside_pieces(0.0).pieces_loss(PIECE_BYTES) is None


@pytest.mark.parametrize(("share", "cut"), [(0.6, False), (1.0, True)])
def test_tiles_cut_rows_where_memory_gives_pieces_as_quickly(share: float, cut: bool) -> None:
    """An unsharp mask, whose five rows of a picture leave the first level unless tiles cut them."""
    described = UNSHARP.build()
    estimates = {size: UNSHARP.sizes["PAPER"][size.name] for size in described.sizes}
    asked = request_for(*described.outputs, estimates=estimates, options=Options(threads=2))
    found = levels(replace(asked, machine=beside_pieces(share), libraries=StatedLibraries()))
    schedule = next(level for name, level in found if name == "tilesize")
    assert isinstance(schedule, Schedule)
    (plan,) = schedule.plans
    assert isinstance(plan, TilePlan)
    assert (len(plan.sizes) == 3) == cut


@pytest.mark.parametrize("rows", [1, 3])
def test_a_tile_may_fill_the_second_level(rows: int) -> None:
    """A row that is read, its exponentials, the result and two numbers, for each row of a softmax."""
    room = rows * 4 * (3 * SIZES["K"] + 2)
    assert demand("whole_rows", room, (rows,)).fits
    assert not demand("whole_rows", room - 1, (rows,)).fits


def test_tiles_that_do_not_fit_are_read_again_from_further_away() -> None:
    near, far = demand("whole_rows", 1 << 20), demand("whole_rows", 1 << 10)
    assert (near.level, far.level) == (2, 3)
    assert near.scratch
    assert not far.scratch


def test_further_threads_begin_rolling_tiles_anew() -> None:
    """The rows before the first tile of a thread: none of the last stage, and of others what it reads."""
    schedule = compiled_levels(**KINDS["rolling_tiles"]())["tilesize"]
    assert isinstance(schedule, Schedule)
    (plan,) = schedule.plans
    pipeline = schedule.grouping.pipeline
    assert isinstance(plan, TilePlan)
    assert plan.rolling
    *before, last = plan.members
    anew = tiling_of(pipeline, plan, list(pipeline.stages), WIDE, SIZES).anew
    assert anew[last.stage] == 0.0
    for member in before:
        assert anew[member.stage] == pytest.approx(sum(member.margins[0]) / SIZES["M"], rel=0.01)
        assert anew[member.stage] > 0.0
    whole = replace(plan, rolling=False)
    assert not any(tiling_of(pipeline, whole, list(pipeline.stages), WIDE, SIZES).anew.values())
    many = replace(WIDE, cores=64)
    home = Home.of(pipeline, many, SIZES)
    alone, together = (plan_cost(pipeline, plan, many, SIZES, threads, home) for threads in (1, 64))
    assert 64 * together.computing > 1.02 * alone.computing
