"""Several reads at one computed place, beside the interpreter."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Cast, Clamp, Condition, Function, Int, Interval, Select
from polymat.codegen.loops.sharedplaces import ROW
from polymat.machine.model import Machine
from tests.fixed import NARROW, WIDE
from tests.hosts import compiling_for

N, M = pm.Parameter(Int, "N"), pm.Parameter(Int, "M")
i, j = pm.Variable(Int, "i"), pm.Variable(Int, "j")
level = pm.Image(pm.Float, "level", [N, M])
grid = pm.Image(pm.Float, "grid", [N + 1, M, 9])
shifted = pm.Vector(Int, "shifted", [N], values=(0, N - 1))
pairs, small = pm.Vector(pm.Double, "pairs", [40]), pm.Vector(pm.Short, "small", [9])
place = Clamp(Cast(Int, level(i, j) * 8), 0, 7)
READS: dict[str, tuple[Any, Any]] = {
    "corners": (pm.Float, grid(i + 1, j, place) - grid(i, j, place) * grid(i, j, place + 1)),
    "moved": (pm.Float, grid(i, j // 3, place) + grid(i + 1, j // 3, 8 - place) * grid(i, j // 3, place + 1)),
    "scaled": (pm.Double, pairs(4 * place + 1) * pairs(4 * place + 2 + 0 * i)),
    "alone": (pm.Float, grid(i, j, place) + level(i, j)),
    "narrow": (pm.Short, small(place) - small(place + 1)),
    "chosen": (
        pm.Float,
        Select(
            Condition(level(i, j), "<", 2) & Condition(i + j, "<", N - 1),
            grid(shifted(i + 1), j, place) - grid(i + 1, j, place),
            0,
        ),
    ),
    "by_data": (pm.Float, grid(shifted(i), j, place) - grid(i, j, place)),
    "of_rows": (pm.Float, grid(i, j, Clamp(Cast(Int, level(i, 0)), 0, 7)) * grid(i + 1, j, 3)),
}


@pytest.fixture(scope="module", params=[NARROW, WIDE], ids=lambda machine: machine.name)
def machine(request: pytest.FixtureRequest) -> Machine:
    found: Machine = request.param
    return found


@pytest.fixture(scope="module")
def compiled(machine: Machine) -> Any:
    found = []
    for name, (dtype, value) in READS.items():
        f = Function(([i, j], [Interval(Int, 0, N - 1), Interval(Int, 0, M - 1)]), dtype, name)
        f.defn = [value]
        found.append(f)
    options = pm.Options(fuse=False, inline=False)
    with compiling_for(machine):
        return pm.compile(found, inputs=[level, grid, shifted, pairs, small], options=options)


@pytest.mark.parametrize(("n", "m"), [(0, 3), (1, 1), (3, 0), (2, 7), (5, 64), (3, 131)])
def test_numbers(compiled: Any, n: int, m: int) -> None:
    rng = np.random.default_rng(m)

    def eighths(*shape: int) -> Any:
        return rng.integers(-9, 17, shape) / 8

    arrays = (
        eighths(n, m).astype(np.float32),
        eighths(n + 1, m, 9).astype(np.float32),
        rng.integers(0, max(n, 1), n, dtype=np.int32),
        eighths(40),
        rng.integers(-99, 100, 9, dtype=np.int16),
    )
    for name, found, wanted in zip(READS, compiled(*arrays), compiled.reference(*arrays), strict=True):
        np.testing.assert_array_equal(found, wanted, name)


def test_where_places_are_shared(compiled: Any, machine: Machine) -> None:
    """With vectors of 512 bits two rows run at a time, with three of a grid, and what is left by itself."""
    bodies = {
        name: "\n".join(
            re.findall(
                rf"^static [^\n]*void _pm_nest_{name}(?:_of_any)?(?:_part\d+)?\([^;]*\n{{.*?^}}",
                compiled.source,
                re.M | re.S,
            )
        )
        for name in READS
    }
    pointers = {name: text.count(f" *const {ROW}") for name, text in bodies.items()}
    unread = {"chosen": 0, "by_data": 1}  # what may not be there is read where it is used
    corners, moved = (5, 3) if machine is WIDE else (2, 1)
    shared = {"corners": corners, "moved": moved, "scaled": 0, "alone": 0, "narrow": 0, "of_rows": 0}
    assert pointers == shared | unread
    assert f"{ROW}0[" in bodies["moved"]
