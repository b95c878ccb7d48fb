"""C for large transforms, axis by axis and in blocks of lines: shared by threads, and kind to caches.

The text of `large_text` defines, for `fftw` and with `fftwf` likewise,

    int _pm_fftw_large(kind, sign, rigour, rank, dims, batches, batch, in, out, pieces, team);

with the arguments of `_pm_fftw_plan_for`.  It computes the transform and returns 1; or 0 where it is better
computed by one plan (`Least`), or there is no plan or no memory, and then `out` may hold anything.  pieces:
threads that the work is worth, by the sizes alone, so that they may decide how it is computed; team: threads
that compute it now.

Of several axes the last one is transformed from `in` to `out`, the others in `out`, some lines at a time
copied to where they are contiguous: lines whose elements are a power of two apart share a few sets of the
caches, and plans that are not measured go along them one by one.  One axis is made a matrix, see
the header `fftline`.

Measured (FFTW 3.3.5, Zen 5, complex double, one thread · two, against one plan that was estimated):
1024 x 1024 points took 0.15 · 0.07 of the time, 1000 x 1000 0.94 · 0.47, 2^14 0.68 · 0.39, 2^18 0.47 · 0.20,
2^20 0.66 · 0.33, 10^6 1.00 (so one plan is used) · 0.76.
"""

from __future__ import annotations

import math
from dataclasses import asdict

from polymat.codegen.c.kernels import kernel_text
from polymat.idiom.parts import Least

LINES = 16  # computed side by side
SHORTEST = 64  # of the rows and columns that one axis is made
COLLIDING = 2048  # bytes: lines at a multiple of them share few sets of a cache
# An axis whose length is no multiple of it goes along such lines too little to gain on one thread.
EVEN = 4096


def fft_macros(prefix: str) -> dict[str, object]:
    """The macros of a precision; prefix: fftw or fftwf."""
    return {"T": "double" if prefix == "fftw" else "float", "NAME(name)": f"_pm_{prefix}_##name"}


def large_text(prefix: str, least: Least) -> str:
    """The C text for one precision; prefix: fftw or fftwf; least: points from which it is for a transform."""
    of_type = fft_macros(prefix)
    constants = of_type | {"CONSTANT(name)": f"_PM_{prefix}_##name"}
    points = {name.upper(): _number(value) for name, value in asdict(least).items()}
    return "\n".join(
        [
            kernel_text("fftaxes", macros=constants, LINES=LINES),
            kernel_text("fftline", macros=constants, SHORTEST=SHORTEST),
            kernel_text("fftlarge", macros=of_type, COLLIDING=COLLIDING, EVEN=EVEN, **points),
        ]
    )


def _number(points: float) -> str:
    return f"{float(points)}" if math.isfinite(points) else "HUGE_VAL"
