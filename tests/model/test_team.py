"""What a parallel region costs, in operations."""

from __future__ import annotations

from dataclasses import replace

from polymat.machine.model import Machine
from polymat.model.team import team_cost

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
