"""What is predicted for products of many shapes, for two machines that are stated: plan, seconds, blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import polymat as pm
from polymat.machine.model import Machine
from polymat.plan.schedule import Schedule
from tests.fixed import NARROW, WIDE, compiled_levels

M, K, N = (pm.Parameter(pm.Int, name) for name in "MKN")
# Rows, depth, columns: cubes, few rows or columns, little depth, long and short ones, one row, one column.
SHAPES = (
    *((n, n, n) for n in (4, 8, 17, 64, 100, 300, 700, 2000)),
    *((1000, 300, 4), (4, 300, 1000), (1000, 4, 300), (300, 3, 300), (20000, 160, 160), (16, 100000, 160)),
    *((5000, 16, 5000), (100, 3000, 100), (1, 300, 300), (300, 300, 1), (12, 12, 4000), (2000, 96, 96)),
)
MACHINES = {"narrow": NARROW, "wide": WIDE}


def product(real: Any, turned: str) -> Any:
    """A product whose operands are stored as their transposes where the letter is t."""
    a_dims, b_dims = ([M, K], [K, N])
    A = pm.Matrix(real, "A", a_dims[::-1] if turned[0] == "t" else a_dims)
    B = pm.Matrix(real, "B", b_dims[::-1] if turned[1] == "t" else b_dims)
    left = pm.transpose(A) if turned[0] == "t" else A
    right = pm.transpose(B) if turned[1] == "t" else B
    return (left @ right).named("product")


def lines(machine: Machine, real: Any, turned: str) -> Iterator[str]:
    for rows, depth, columns in SHAPES:
        sizes = {M: rows, K: depth, N: columns}
        schedule = compiled_levels(product(real, turned), estimates=sizes, machine=machine)["tilesize"]
        assert isinstance(schedule, Schedule)
        plans = " | ".join(map(str, schedule.plans))
        seconds = sum(decision.seconds for decision in schedule.decisions)
        yield f"{rows} x {depth} x {columns}: {seconds:.3g} s, {plans}"


@pytest.mark.parametrize("turned", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("real", [pm.Float, pm.Double], ids=str)
@pytest.mark.parametrize("machine", MACHINES)
def test_products(machine: str, real: Any, turned: str, golden: Callable[[str], None]) -> None:
    golden("\n".join(lines(MACHINES[machine], real, turned)))
