"""What a parallel region costs, in operations."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polymat.machine.model import Machine
from polymat.model.team import TeamCost, sharing_seconds, team_cost

MACHINE = Machine(
    "test",
    cores=2,
    l1_bytes=32 << 10,
    l2_bytes=1 << 20,
    l3_bytes=8 << 20,
    vector_bits=256,
    hertz=3.0e9,
    region_seconds=1e-6,
    wake_seconds=2e-5,
)


def test_a_region_costs_what_its_seconds_could_compute() -> None:
    cost = team_cost(MACHINE)
    assert cost.lanes == 4
    assert cost.awake == 72_000  # 4 us at 18 operations a nanosecond, to two digits
    assert cost.asleep == 430_000  # 24 us


def test_it_follows_the_machine() -> None:
    wide, slow = replace(MACHINE, vector_bits=512), replace(MACHINE, region_seconds=4e-6)
    assert team_cost(wide).awake > 1.9 * team_cost(MACHINE).awake
    assert team_cost(slow).awake > 3.9 * team_cost(MACHINE).awake
    assert team_cost(slow).asleep > team_cost(MACHINE).asleep


def test_sharing_costs_what_was_measured_and_more_than_a_region_otherwise() -> None:
    measured = replace(MACHINE, share_seconds=6e-6)
    assert sharing_seconds(MACHINE) > MACHINE.region_seconds
    assert sharing_seconds(measured) == 6e-6
    assert sharing_seconds(replace(MACHINE, share_seconds=1e-7)) == sharing_seconds(MACHINE)
    assert team_cost(measured).awake == 110_000
    assert team_cost(measured).meeting == team_cost(MACHINE).meeting


def test_what_work_is_worth_has_four_digits() -> None:
    cost = TeamCost(38_000.0, 1_900_000.0, 9_500.0, 4)
    assert 1_900_000.0 * 1.1 != 2_090_000.0
    assert cost.worth(1.1) == (41_800.0, 2_090_000.0)


def test_groups_have_the_speed_that_is_predicted() -> None:
    cost = team_cost(MACHINE, {("f", "g"): 3.0, ("h",): 0.1})
    assert cost.speed(("f", "g"), 1.0) == 3.0
    assert cost.speed(("f",), 1.0) == 1.0
    assert cost.least == pytest.approx(0.1 * cost.awake) == cost.worth(0.1)[0]
    assert team_cost(MACHINE).least == cost.awake / cost.lanes
