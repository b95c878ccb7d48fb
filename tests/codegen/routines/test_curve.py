"""Measured times in C: the same as in Python."""

from __future__ import annotations

import ctypes
import itertools

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


@pytest.mark.parametrize("levels", SHAPES, ids=lambda levels: "x".join(str(len(axis)) for axis in levels))
def test_c_says_what_python_says(levels: tuple[tuple[int, ...], ...]) -> None:
    """Of ratios of three axes, which stay as they are beyond the last level, too."""
    count = int(np.prod([len(axis) for axis in levels]))
    seconds = tuple(float(value) for value in 10.0 ** RNG.uniform(-9, 0, count))
    grid = Grid(levels, seconds, steady=len(levels) == 3)
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
