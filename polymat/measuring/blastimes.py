"""Measuring the BLAS in use: seconds of its routines over a coarse grid of extents."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from polymat.idiom.librarymodel import AXES, LibraryModel
from polymat.idiom.routines import measurements
from polymat.machine.grid import Grid
from polymat.measuring.librarybench import ROUTINES, bench_source, function_name
from polymat.measuring.timing import (
    PASSES,
    PATIENCE_SECONDS,
    SAMPLE_SECONDS,
    date_text,
    kept_or_measured,
    load_timers,
)
from polymat.runtime.calibration import fingerprint
from polymat.runtime.librarystore import identity, stored_model
from polymat.runtime.providers import Provider, provider

Progress = Callable[[float], None]
_DTYPES = ("float64", "float32", "complex128", "complex64")
# Beside powers of two what comes next: there libraries take up to twice as long.
_BESIDE = (1, 2, 4, 8, 9, 16, 17, 32, 33, 64, 65, 128, 256, 1024)
_MATRIX = (1, 2, 4, 8, 9, 16, 17, 32, 33, 64, 65, 128, 256, 512, 1024, 2048)
_FOURFOLD = tuple(4**k for k in range(6))
_AWKWARD = 2.0  # times as long as the next larger problem may take one whose extents fit no kernel
_VECTOR = tuple(2**k for k in range(21))
_LEVEL = {timed.name: row.level for timed, row in measurements()}  # 1: of vectors, 2: of a matrix and vectors
Case = tuple[str, str, tuple[tuple[int, ...], ...]]


def calibrate_library(*, force: bool = False, progress: Progress | None = None) -> LibraryModel | None:
    """The stored speeds of the BLAS in use, or new ones, which are then stored; None without a BLAS.

    Those of other routines or sizes were stored by an earlier version, and are measured again.
    """
    found, cases = provider("blas"), tuple(_cases())
    stored = None if found is None else stored_model(found)
    earlier = stored is not None and any(
        (grid := stored.grids.get((routine, dtype))) is None or grid.levels != levels
        for routine, dtype, levels in cases
    )
    return kept_or_measured(
        found, lambda used: measure_library(used, cases, progress), force=force or earlier
    )


def _cases() -> Iterator[Case]:
    """What is measured: real types finely, complex products coarsely."""
    for dtype in _DTYPES:
        real = not dtype.startswith("complex")
        for routine in ROUTINES if real else ("gemm",):
            levels = _BESIDE if real else _FOURFOLD
            if _LEVEL[routine] < 3:
                levels = _MATRIX if _LEVEL[routine] == 2 else _VECTOR
            yield routine, dtype, (levels,) * len(AXES[routine])


def measure_library(
    found: Provider, cases: tuple[Case, ...], progress: Progress | None = None
) -> LibraryModel:
    """Time every case at every point of its grid; about five seconds for all that is kept."""
    names = tuple((routine, dtype) for routine, dtype, _ in cases)
    library = _library(found, names)
    size = max(_elements(routine, levels) * np.dtype(dtype).itemsize for routine, dtype, levels in cases)
    operands = [np.empty(size, np.uint8) for _ in range(3)]
    best: dict[tuple[str, str], list[float]] = {}
    for number, (routine, dtype, levels) in enumerate(cases * PASSES):
        for operand, value in zip(operands, (0, 1, 1), strict=True):
            operand.view(dtype)[: _elements(routine, levels)] = value
        function = getattr(library, function_name(routine, dtype))
        seconds = [_time(function, extents, operands) for extents in itertools.product(*levels)]
        best[routine, dtype] = list(map(min, seconds, best.get((routine, dtype), seconds)))
        if progress is not None:
            progress((number + 1) / (len(cases) * PASSES))
    grids = {
        (routine, dtype): Grid(levels, tuple(best[routine, dtype])).rising(_AWKWARD)
        for routine, dtype, levels in cases
    }
    return LibraryModel(fingerprint(), identity(found), date_text(), grids)


def _elements(routine: str, levels: tuple[tuple[int, ...], ...]) -> int:
    """Elements of the largest operand: a vector, or a matrix over the two longest extents."""
    longest = sorted(axis[-1] for axis in levels)[-2:]
    if _LEVEL[routine] == 1:
        return longest[0]
    return longest[0] * longest[-1]


def _time(
    function: Callable[..., float], extents: tuple[int, ...], operands: list[npt.NDArray[np.uint8]]
) -> float:
    x, y, z = (*extents, 1, 1)[:3]
    pointers = [operand.ctypes.data for operand in operands]
    return float(function(x, y, z, SAMPLE_SECONDS, PATIENCE_SECONDS, *pointers))


def _library(found: Provider, cases: tuple[tuple[str, str], ...]) -> ctypes.CDLL:
    library = load_timers(*bench_source(cases), found)
    size, real, pointer = ctypes.c_ssize_t, ctypes.c_double, ctypes.c_void_p
    for routine, dtype in cases:
        function = getattr(library, function_name(routine, dtype))
        function.argtypes = (size, size, size, real, real, pointer, pointer, pointer)
        function.restype = real
    return library
