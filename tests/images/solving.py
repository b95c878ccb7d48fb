"""Images of a size for a pipeline, and whether what it made of them is what NumPy makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.program import Program

Array = npt.NDArray[Any]


def sizes_of(program: Program, rows: int, columns: int) -> dict[str, int]:
    if program.name == "camera":
        rows, columns = rows + rows % 2, columns + columns % 2
    return {"R": rows, "C": columns}


def drawn(program: Program, rows: int, columns: int, seed: int) -> dict[str, Array]:
    return program.inputs(sizes_of(program, rows, columns), np.random.default_rng(seed))


def assert_solves(program: Program, found: Array, arrays: dict[str, Array]) -> None:
    (expected,) = program.solve(arrays).values()
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert np.array_equal(np.isnan(found), np.isnan(expected))
    off = np.abs(found.astype(np.float64) - expected)
    (bound,) = program.bounds(arrays).values()
    assert not np.any(off > bound)
