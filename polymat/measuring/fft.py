"""Measuring the FFT library in use: seconds of one transform by its length."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from polymat.dataclass import dataclass
from polymat.idiom.librarymodel import LibraryModel
from polymat.machine.grid import Grid
from polymat.measuring.fftbench import fft_bench_source
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

POWERS = tuple(2**k for k in range(21))
# The primes below the powers of two: the lengths that transforms find hardest.
PRIMES = (1, 3, 7, 13, 31, 61, 127, 251, 509, 1021, 2039, 4093, 8191, 16381, 32749, 65521)
LINES = (1, *(2**k for k in range(12, 21)))  # of one axis, and sides of squares, in parts and so computed
SIDES = (1, *(2**k for k in range(5, 11)))
# Number of axes, whether in parts, and lengths.
_CASES: Mapping[str, tuple[int, bool, tuple[int, ...]]] = {
    "fft": (1, False, POWERS),
    "fft_prime": (1, False, PRIMES),
    "fft_parts": (1, True, LINES),
    "fft_square": (2, False, SIDES),
    "fft_square_parts": (2, True, SIDES),
}


def calibrate_fft(*, force: bool = False) -> LibraryModel | None:
    """The stored speeds of the FFT library in use, or new ones, which are then stored; None without one.

    Those that say nothing of transforms in parts were stored by an earlier version, and are measured again.
    """
    found = provider("fft")
    stored = None if found is None else stored_model(found)
    earlier = stored is not None and ("fft_parts", "complex128") not in stored.grids
    return kept_or_measured(found, measure_fft, force=force or earlier)


def measure_fft(found: Provider, longest: int = POWERS[-1]) -> LibraryModel:
    """Time transforms of complex values and from real ones, planned by estimate and computed in parts."""
    library = _library(found)
    arrays = [np.zeros(longest + 2 * SIDES[-1], np.complex128) for _ in range(2)]
    for array in arrays:
        array[:] = 1.0
    pointers = [array.ctypes.data for array in arrays]
    grids: dict[tuple[str, str], Grid] = {}
    for prefix, dtypes in (("pm_fftw", ("complex128", "float64")), ("pm_fftwf", ("complex64", "float32"))):
        if prefix == "pm_fftwf" and found.address("fftwf_execute_dft") is None:
            continue
        plan, parts = getattr(library, prefix), getattr(library, f"{prefix}_parts")
        for real, dtype in enumerate(dtypes):
            timers = _Timers(real, plan, parts, pointers)
            for routine, (rank, in_parts, lengths) in _CASES.items():
                levels = tuple(n for n in lengths if n**rank <= longest)
                seconds = timers.seconds(levels, rank, in_parts=in_parts)
                if len(seconds) > 1:
                    grids[routine, dtype] = Grid((tuple(seconds),), tuple(seconds.values())).rising()
    return LibraryModel(fingerprint(), identity(found), date_text(), grids)


@dataclass(frozen=True, slots=True)
class _Timers:
    """The timers of one precision, of complex values or real ones, and the arrays that they transform."""

    real: int
    plan: Callable[..., float]
    parts: Callable[..., float]
    pointers: Sequence[int]

    def seconds(self, lengths: Sequence[int], rank: int, *, in_parts: bool) -> dict[int, float]:
        """The least of several passes for every length that there is such a transform of.

        The first one, of one point, is never in parts.
        """
        passes = [
            [
                (self.parts if in_parts and n > 1 else self.plan)(
                    self.real, rank, n, SAMPLE_SECONDS, PATIENCE_SECONDS, *self.pointers
                )
                for n in lengths
            ]
            for _ in range(PASSES)
        ]
        least = map(min, zip(*passes, strict=True))
        return {n: seconds for n, seconds in zip(lengths, least, strict=True) if seconds > 0.0}


def _library(found: Provider) -> ctypes.CDLL:
    library = load_timers(*fft_bench_source(), found)
    size, real, pointer = ctypes.c_ssize_t, ctypes.c_double, ctypes.c_void_p
    for name in ("pm_fftw", "pm_fftw_parts", "pm_fftwf", "pm_fftwf_parts"):
        function = getattr(library, name)
        function.argtypes = (ctypes.c_int, ctypes.c_int, size, real, real, pointer, pointer)
        function.restype = real
    return library
