"""Stages that run in one loop over registers: how many rows, and how long these are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polymat.machine.model import Machine
from polymat.plan.schedule import Schedule
from polymat.plan.tile import TilePlan
from polymat.tilesize.loopprice import computed_columns
from tests.codegen.kinds import KINDS
from tests.fixed import WIDE, compiled_levels


def tiles(machine: Machine) -> TilePlan:
    """The plan of a chain of three stencils, two of whose results stay in rings of rows."""
    asked = {**KINDS["one_loop_over_rows"](), "machine": machine}
    schedule = compiled_levels(**asked)["tilesize"]
    assert isinstance(schedule, Schedule)
    (plan,) = schedule.plans
    assert isinstance(plan, TilePlan)
    return plan


@pytest.mark.parametrize(("kib", "columns"), [(4096, 2048), (256, 2048), (160, 1024)])
def test_kept_rows_fill_half_of_the_second_level(kib: int, columns: int) -> None:
    plan = tiles(replace(WIDE, l1_bytes=8 << 10, l2_bytes=kib << 10))
    assert plan.row_loop is not None
    assert plan.sizes == (plan.row_loop.rows, columns)


@pytest.mark.parametrize(("registers", "rows"), [(64, 4), (32, 4), (16, 2)])
def test_there_are_as_many_rows_as_registers_hold(registers: int, rows: int) -> None:
    row_loop = tiles(replace(WIDE, vector_registers=registers)).row_loop
    assert row_loop is not None
    assert row_loop.rows == rows


def test_the_loop_computes_whole_vectors_from_before_a_tile_to_behind_it() -> None:
    loop = tiles(WIDE).row_loop
    assert loop is not None
    beside = loop.trail - loop.lead
    assert 0 < beside < loop.lanes
    assert computed_columns(loop, 4 * loop.lanes - beside) == 4 * loop.lanes
    assert computed_columns(loop, 4 * loop.lanes - beside + 1) == 5 * loop.lanes


def test_narrow_vectors_are_not_shifted() -> None:
    assert tiles(replace(WIDE, vector_bits=256)).row_loop is None


def test_results_are_written_past_caches_that_hold_half_of_them() -> None:
    row_loop = tiles(WIDE).row_loop
    assert row_loop is not None
    assert row_loop.streamed == WIDE.l3_bytes // 2
