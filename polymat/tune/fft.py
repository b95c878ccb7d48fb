"""Measuring the FFT library in use: seconds of one transform by its length."""

from __future__ import annotations

import ctypes

import numpy as np

from polymat.machine.grid import Grid
from polymat.machine.librarymodel import LibraryModel
from polymat.runtime.calibration import fingerprint
from polymat.runtime.librarystore import identity
from polymat.runtime.providers import Provider, provider
from polymat.tune.fftbench import fft_bench_source
from polymat.tune.timing import (
    PASSES,
    PATIENCE_SECONDS,
    SAMPLE_SECONDS,
    date_text,
    kept_or_measured,
    load_timers,
)

POWERS = tuple(2**k for k in range(21))
# The primes below the powers of two: the lengths that transforms find hardest.
PRIMES = (1, 3, 7, 13, 31, 61, 127, 251, 509, 1021, 2039, 4093, 8191, 16381, 32749, 65521)
_CASES = (("fft", POWERS), ("fft_prime", PRIMES))


def calibrate_fft(*, force: bool = False) -> LibraryModel | None:
    """The stored speeds of the FFT library in use, or new ones, which are then stored; None without one."""
    return kept_or_measured(provider("fft"), measure_fft, force=force)


def measure_fft(found: Provider, longest: int = POWERS[-1]) -> LibraryModel:
    """Time transforms of powers of two and of primes, planned by estimate, complex and from real."""
    library = _library(found)
    arrays = [np.zeros(longest + 2, np.complex128) for _ in range(2)]
    for array in arrays:
        array[:] = 1.0
    pointers = [array.ctypes.data for array in arrays]
    grids: dict[tuple[str, str], Grid] = {}
    for function, dtypes in (
        (library.pm_fftw, ("complex128", "float64")),
        (library.pm_fftwf, ("complex64", "float32")),
    ):
        if function is library.pm_fftwf and found.address("fftwf_execute_dft") is None:
            continue
        for real, dtype in enumerate(dtypes):
            for routine, lengths in _CASES:
                levels = tuple(n for n in lengths if n <= longest)
                passes = [
                    [function(real, n, SAMPLE_SECONDS, PATIENCE_SECONDS, *pointers) for n in levels]
                    for _ in range(PASSES)
                ]
                seconds = tuple(map(min, zip(*passes, strict=True)))
                if min(seconds) > 0.0:
                    grids[routine, dtype] = Grid((levels,), seconds).rising()
    return LibraryModel(fingerprint(), identity(found), date_text(), grids)


def _library(found: Provider) -> ctypes.CDLL:
    library = load_timers(*fft_bench_source(), found)
    size, real, pointer = ctypes.c_ssize_t, ctypes.c_double, ctypes.c_void_p
    for function in (library.pm_fftw, library.pm_fftwf):
        function.argtypes = (ctypes.c_int, size, real, real, pointer, pointer)
        function.restype = real
    return library
