"""C around FFTW: plans made once for each shape and kept, executed by several threads on arrays of their own.

`FftNeed.DOUBLE` asks for, and `FftNeed.SINGLE` with `fftwf` for `fftw`:

    _pm_fftw_plan *_pm_fftw_plan_for(kind, sign, rigour, rank, dims, batches, batch, in, out, alignment);
    void _pm_fftw_run(const _pm_fftw_plan *plan, const void *in, void *out);
    void _pm_fftw_done(_pm_fftw_plan *plan);

kind is `_PM_C2C` (complex to complex), `_PM_R2C` or `_PM_C2R`; sign -1 forward, 1 backward; rigour
`_PM_ESTIMATE` or `_PM_MEASURE`.  dims are the transformed dimensions with their extents (at least 1) and
their strides in elements of input and output, batch those over which transforms repeat; together at most
`_PM_FFT_DIMS`.  A plan is for arrays that are one, in == out, or two.  alignment is the bitwise or of every
address and every distance in bytes by which the arrays of later runs differ: measured, plans for arrays on 16
bytes are twice as fast.  The result is NULL when FFTW has no such plan or there is no memory.
`_pm_fftw_done` follows the last run.
Nothing is scaled, as in FFTW.  C2R keeps its input, which takes FFTW about a tenth longer.
"""

from __future__ import annotations

from enum import Enum

from polymat.codegen.c.kernels import kernel_text
from polymat.codegen.c.needs import Need


class FftNeed(Need, Enum):
    """The need of transforms of a precision, in the order of the text."""

    DOUBLE = "fftw"
    SINGLE = "fftwf"

    @property
    def prefix(self) -> str:
        """The begin of FFTW's names."""
        return self.value

    def __str__(self) -> str:
        return f"fft_{'f64' if self is FftNeed.DOUBLE else 'f32'}"


def fft_text(prefix: str, first: int) -> str:
    """The C text for one precision, whose routines are in the table from `first` on."""
    real = "double" if prefix == "fftw" else "float"
    return kernel_text("fftplans", macros={"T": real, "NAME(name)": f"_pm_{prefix}_##name"}, FIRST=first)
