"""From how many points on a transform is computed in parts: where these were measured to be quicker.

`polymat.codegen.routines.fftlarge` has the code; what it takes was measured beside one plan of the library.
"""

from __future__ import annotations

import math

from polymat.dataclass import dataclass
from polymat.idiom.librarymodel import LibraryModel
from polymat.idiom.transform import Transform
from polymat.lang.types import ScalarType, real_part
from polymat.machine.grid import Grid

TWO = 1.6  # times as fast parts are on two threads, at least: 1.75 to 2.3 from 2^14 points on (Zen 5)
_COMPLEX = {"float64": "complex128", "float32": "complex64"}


@dataclass(frozen=True, slots=True)
class Least:
    """Points from which a transform is computed in parts; infinite where it never is.

    line, pairs: of one axis on one thread, of complex values and of real ones, two of which are one point.
    shared: of one axis, by several threads.  axes, apart: of several axes of complex values on one thread,
    whose lines collide in the caches, and whose do not.  axes_shared: by several threads.  real_axes,
    real_axes_shared: of several axes of real values.
    """

    line: float
    pairs: float
    shared: float
    axes: float
    apart: float
    axes_shared: float
    real_axes: float
    real_axes_shared: float


# Where nothing was measured: found on a Zen 5.  In single precision one plan stays fast for longer.
USUAL = {
    "float64": Least(1 << 14, 1 << 16, 1 << 14, 1 << 14, 1 << 17, 1 << 14, 1 << 17, 1 << 14),
    "float32": Least(1 << 16, 1 << 16, 1 << 14, 1 << 14, 1 << 17, 1 << 14, 1 << 17, 1 << 14),
}


def least_of(model: LibraryModel | None, dtype: ScalarType) -> Least:
    """The least points of transforms in a precision, by what was measured of the library if anything was."""
    real = real_part(dtype).dtype
    usual = USUAL[real]
    if model is None:
        return usual
    kind = _COMPLEX[real]
    axes = _square(model, kind, 1.0, usual.axes)
    return Least(
        line=_first(model, "fft", kind, 1.0, usual.line),
        pairs=_first(model, "fft", real, 1.0, 2 * usual.pairs) / 2,
        shared=_first(model, "fft", kind, TWO, usual.shared),
        axes=axes,
        apart=max(usual.apart, axes),
        axes_shared=_square(model, kind, TWO, usual.axes_shared),
        real_axes=_square(model, real, 1.0, usual.real_axes),
        real_axes_shared=_square(model, real, TWO, usual.real_axes_shared),
    )


def _square(model: LibraryModel, dtype: str, gain: float, usual: float) -> float:
    """The least points of two axes that are as long as each other, which stand for all."""
    side = _first(model, "fft_square", dtype, gain, math.nan)
    return usual if math.isnan(side) else side**2


def part_seconds(transform: Transform, length: float, model: LibraryModel) -> tuple[float, float] | None:
    """Seconds of one axis as one plan and in parts, on one thread; None for what was not measured."""
    dtype = transform.product.dtype if transform.kind == "hermitian" else transform.source.dtype
    parts = model.grids.get(("fft_parts", dtype.dtype))
    whole = model.transform_seconds(dtype.dtype, length)
    if parts is None or whole is None or not transform.parts or length < parts.levels[0][1]:
        return None
    return whole, parts.at((length,))


def _first(model: LibraryModel, routine: str, dtype: str, gain: float, usual: float) -> float:
    """The least measured extent from which parts, so many times as fast, took less than one plan."""
    parts, whole = (model.grids.get((name, dtype)) for name in (f"{routine}_parts", routine))
    return usual if parts is None or whole is None else _crossing(parts, whole, gain)


def _crossing(parts: Grid, whole: Grid, gain: float) -> float:
    least = math.inf
    for extent in reversed(parts.levels[0][1:]):
        if parts.at((extent,)) >= gain * whole.at((extent,)):
            break
        least = extent
    return least
