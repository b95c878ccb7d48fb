"""Measured times in C: the same as in Python."""

from __future__ import annotations

import ctypes
import itertools
import math

import numpy as np
import pytest

from polymat.codegen.c.kernels import kernel_headers, kernel_text
from polymat.codegen.routines.curve import curve_text
from polymat.machine.grid import Grid
from polymat.runtime.libraryfile import build

RNG = np.random.default_rng(3)
SHAPES: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((1, 2),),
    ((1, 2, 4, 8, 16, 1024),),
    ((1, 3, 7, 100), (1, 2, 4)),
    ((1, 16, 64), (1, 4, 16, 64, 100), (1, 2)),
    ((1, 2), (1, 3), (1, 4), (1, 5)),
)


@pytest.mark.covering
@pytest.mark.parametrize("seam", [math.inf, 40.0])
@pytest.mark.parametrize("levels", SHAPES, ids=lambda levels: "x".join(str(len(axis)) for axis in levels))
def test_c_says_what_python_says(levels: tuple[tuple[int, ...], ...], seam: float) -> None:
    """Of ratios of three axes, which stay as they are beyond the last level, and beyond a seam, too."""
    count = int(np.prod([len(axis) for axis in levels]))
    seconds = tuple(float(value) for value in 10.0 ** RNG.uniform(-9, 0, count))
    steady = len(levels) == 3
    other = Grid(levels, tuple(3.0 * value for value in seconds[::-1]), steady=steady)
    grid = Grid(levels, seconds, steady, seam, None if math.isinf(seam) else other)
    includes = "".join(f"#include <{header}>\n" for header in kernel_headers("curve"))
    extents = ", ".join(f"extents[{axis}]" for axis in range(len(levels)))
    body = f"double ask(const double *extents) {{ return _pm_seconds({extents}); }}\n"
    built = build("\n".join([includes, kernel_text("curve"), curve_text("_pm_seconds", grid), body]))
    library = ctypes.CDLL(str(built.path))
    built.release()
    library.ask.restype = ctypes.c_double
    asked = [sorted({0.0, 0.5, 1.0, 1.5, 3.0, float(axis[-1]), axis[-1] * 2.5}) for axis in levels]
    for point in itertools.product(*asked):
        found = library.ask((ctypes.c_double * len(point))(*point))
        assert found == pytest.approx(grid.at(point), rel=2e-3)
