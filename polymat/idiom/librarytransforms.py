"""Fourier transforms by a library: which ones it computes, and their predicted seconds."""

from __future__ import annotations

from collections.abc import Mapping
from math import log2, prod

from polymat.idiom.librarymodel import LibraryModel, is_smooth
from polymat.idiom.parts import least_of, part_seconds
from polymat.idiom.profit import CALL_SECONDS
from polymat.idiom.transform import Transform
from polymat.lang.types import ScalarType, real_part
from polymat.machine.model import Machine
from polymat.model.extents import extent

MOST_DIMS = 6  # of a transform and its batch together: what the generated table holds
FFT_SHARE = 0.1  # of the peak that transforms reach where none were measured
AWKWARD = 8.0  # times longer that a transform takes whose length has a large prime factor


def can_transform(transform: Transform) -> bool:
    """Whether FFTW computes a transform: complex, from real values to a whole or half a spectrum, or back."""
    dtypes = (transform.product.dtype, transform.source.dtype)
    same = real_part(dtypes[0]) == real_part(dtypes[1])
    if transform.kind not in ("complex", "real", "hermitian") or transform.start or not same:
        return False
    if len(transform.axes) + len(transform.batch) > MOST_DIMS or any(
        len(b.dims) != 1 for b in transform.batch
    ):
        return False
    if transform.kind == "hermitian":
        return True
    return sum(axis.half for axis in transform.axes) <= 1 and not any(
        axis.mirrored for axis in transform.axes
    )


def line_seconds(dtype: ScalarType, length: float, machine: Machine, model: LibraryModel | None) -> float:
    """Seconds of one transform along one axis, on one thread.

    As measured, if it was; else of 5 N log2 N operations at a tenth of the peak, and half as many where the
    values are real on one side (`dtype` then is theirs): the other half of the spectrum are conjugates.
    """
    measured = None if model is None else model.transform_seconds(dtype.dtype, length)
    if measured is not None:
        return measured
    each = 5.0 if dtype.kind == "c" else 2.5
    flops = each * length * max(log2(length), 1.0) * (1.0 if is_smooth(round(length)) else AWKWARD)
    return flops / (machine.peak_flops(real_part(dtype).size, 1) * FFT_SHARE) + CALL_SECONDS


def transform_seconds(
    transform: Transform,
    machine: Machine,
    sizes: Mapping[str, int],
    threads: int,
    model: LibraryModel | None = None,
) -> float:
    """Predicted seconds, axis by axis, of one alone in parts where that was measured to be quicker."""
    dtype = transform.product.dtype if transform.kind == "hermitian" else transform.source.dtype
    lengths = [max(extent(axis.length, sizes), 1.0) for axis in transform.axes]
    points = prod(lengths)
    batch = prod(extent(form, sizes) for one in transform.batch for form in one.extents)
    used = max(1.0, min(batch, threads))
    if not transform.batch and transform.parts:
        used = threads if points >= _least_shared(transform, model) else 1.0
    parts = None if model is None or len(lengths) > 1 else part_seconds(transform, lengths[0], model)
    lines = (points / length * line_seconds(dtype, length, machine, model) for length in lengths)
    return batch / used * (sum(lines) if parts is None else min(parts))


def _least_shared(transform: Transform, model: LibraryModel | None) -> float:
    """The points from which several threads share one transform."""
    least, is_real = least_of(model, transform.product.dtype), transform.kind != "complex"
    if len(transform.axes) > 1:
        return least.real_axes_shared if is_real else least.axes_shared
    return 2 * least.shared if is_real else least.shared
