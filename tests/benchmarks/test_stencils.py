"""The stencil programs agree with NumPy, fused and not, at sizes around nothing, one tile and several."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from benchmarks.stencils import PROGRAMS
from polymat import Options
from tests.tolerance import assert_close

WAYS = {
    "default": Options(parallel_threshold=0, threads=2),
    "naive": Options(parallel_threshold=0, threads=2, fuse=False, tile=False, inline=False),
}


@pytest.mark.covering
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.NAME)
@pytest.mark.parametrize("way", WAYS)
def test_a_stencil_program(program: ModuleType, way: str) -> None:
    estimates = program.SIZES["LARGE"]
    compiled = program.build().compile(program.NAME, estimates=estimates, options=WAYS[way])
    rng = np.random.default_rng(0)
    for rows, columns in ((7, 8), (8, 7), (5, 6), *((s["R"], s["C"]) for s in program.SIZES.values())):
        if rows > 1024:
            continue
        arrays = program.inputs({"R": rows, "C": columns}, rng)
        (expected,) = program.reference(arrays).values()
        assert_close(compiled(*arrays.values()), expected, roundings=40, magnitude=4.0)
