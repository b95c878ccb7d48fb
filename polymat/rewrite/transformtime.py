"""Whether transforms are called and their predicted seconds, for those who decide whether to use them."""

from __future__ import annotations

from math import log2

from polymat.codegen.routines.fftw import fft_prefix, fft_routine_names
from polymat.idiom.librarymodel import is_smooth
from polymat.lang.types import ScalarType, real_part
from polymat.machine.model import MEMORY, Machine
from polymat.options import Options
from polymat.runtime.librarystore import library_model
from polymat.runtime.providers import provider_with

SHARE = 0.1  # of the peak that transforms reach where none were measured
AWKWARD = 8.0  # times longer that a transform takes whose length has a large prime factor


def has_transforms(options: Options, dtype: ScalarType) -> bool:
    """Whether a library transforms values of a type: the published costs know of no such calls.

    A library may have one precision alone.  This looks for it, so ask only where there is something to
    transform.
    """
    if options.fft == "never" or options.cost != "time":
        return False
    return provider_with("fft", fft_routine_names(fft_prefix(dtype.dtype))) is not None


def transform_time(dtype: ScalarType, points: int, machine: Machine) -> float:
    """Seconds of one transform of complex values, or from or to real ones: as measured, if it was."""
    model = library_model("fft")
    measured = None if model is None else model.transform_seconds(dtype.dtype, points)
    if measured is not None:
        return measured
    each = 5.0 if dtype.kind == "c" else 2.5
    flops = each * points * max(log2(points), 1.0) * (1.0 if is_smooth(points) else AWKWARD)
    return flops / (machine.peak_flops(real_part(dtype).size, 1) * SHARE)


def pass_time(dtype: ScalarType, values: float, machine: Machine) -> float:
    """Seconds to read or write so many values in memory."""
    return values * dtype.size / machine.bandwidth(MEMORY, 1, "copy")
