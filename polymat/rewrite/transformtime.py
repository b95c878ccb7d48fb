"""Whether transforms are called and their predicted seconds, for those who decide whether to use them."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from polymat.idiom.libraryfacts import Libraries
from polymat.idiom.librarymodel import is_smooth
from polymat.idiom.libraryroutines import fft_prefix, fft_routine_names
from polymat.lang.types import ScalarType, real_part
from polymat.machine.model import MEMORY, Machine
from polymat.options import Options

SHARE = 0.1  # of the peak that transforms reach where none were measured
AWKWARD = 8.0  # times longer that a transform takes whose length has a large prime factor


@dataclass(frozen=True, slots=True)
class Transforms:
    """Transforms as a machine and the libraries on it compute them."""

    machine: Machine
    libraries: Libraries

    def are_called(self, options: Options, dtype: ScalarType) -> bool:
        """Whether a library transforms values of a type: the published costs know of no such calls.

        A library may have one precision alone.  This looks for it, so ask only where there is something to
        transform.
        """
        if options.fft == "never" or options.cost != "time":
            return False
        return self.libraries.has("fft", fft_routine_names(fft_prefix(dtype.dtype)))

    def seconds(self, dtype: ScalarType, points: int) -> float:
        """Seconds of one transform of complex values, or from or to real ones: as measured, if it was."""
        model = self.libraries.model("fft")
        measured = None if model is None else model.transform_seconds(dtype.dtype, points)
        if measured is not None:
            return measured
        each = 5.0 if dtype.kind == "c" else 2.5
        flops = each * points * max(log2(points), 1.0) * (1.0 if is_smooth(points) else AWKWARD)
        return flops / (self.machine.peak_flops(real_part(dtype).size, 1) * SHARE)

    def pass_seconds(self, dtype: ScalarType, values: float) -> float:
        """Seconds to read or write so many values in memory."""
        return values * dtype.size / self.machine.bandwidth(MEMORY, 1, "copy")
