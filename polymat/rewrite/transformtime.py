"""Whether transforms are called and their predicted seconds, for those who decide whether to use them."""

from __future__ import annotations

from polymat.dataclass import dataclass
from polymat.idiom.librarymodel import Libraries, is_smooth
from polymat.idiom.libraryroutines import fft_prefix, fft_routine_names
from polymat.idiom.librarytransforms import line_seconds
from polymat.lang.types import ScalarType
from polymat.machine.model import MEMORY, Machine
from polymat.options import Options

STEP = 16  # lengths of transforms are multiples of it, where they are free


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
        """Seconds of one transform of complex values, or from or to real ones."""
        return line_seconds(dtype, points, self.machine, self.libraries.model("fft"))

    def pass_seconds(self, dtype: ScalarType, values: float) -> float:
        """Seconds to read or write so many values in memory."""
        return values * dtype.size / self.machine.bandwidth(MEMORY, 1, "copy")


def easy_length(least: int) -> int:
    """The shortest length from there on that transforms find easy."""
    length = -(-max(least, 1) // STEP) * STEP
    while not is_smooth(length):
        length += STEP
    return length
