"""The programs over time agree with NumPy, one by one and in bands, at sizes around nothing and a tile."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from benchmarks.timesteps import PROGRAMS
from polymat import Options
from tests.tolerance import assert_close


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.NAME)
def test_a_program_over_time(program: ModuleType) -> None:
    compiled = program.build().compile(
        program.NAME.replace("-", ""), estimates=program.SIZES["EXTRALARGE"], options=Options(threads=2)
    )
    rng = np.random.default_rng(0)
    for sizes in (*({name: n for name in program.SIZES["MINI"]} for n in (1, 2, 5)), program.SIZES["MINI"]):
        arrays = program.inputs(sizes, rng)
        found = compiled(*arrays.values())
        found = found if isinstance(found, tuple) else (found,)
        for one, other in zip(found, program.reference(arrays).values(), strict=True):
            assert_close(one, other, roundings=2000, magnitude=1e3)
