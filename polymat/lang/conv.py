"""Convolutions of images with channels last: sugar for a reduction."""

from __future__ import annotations

from typing import Any

import numpy as np

from polymat.errors import LangError, ShapeError, caller_location, counted
from polymat.lang.affine import Affine
from polymat.lang.algebra import (
    check_plain,
    described,
    extents_hint,
    fresh_variables,
    merged_sizes,
    names_in,
    span,
)
from polymat.lang.einsum import TensorReduction
from polymat.lang.expr import Expr, binary
from polymat.lang.function import Source
from polymat.lang.reduction import Op, Reduce


def conv2d(image: Source, weights: Source, *, stride: int | tuple[int, int] = 1) -> TensorReduction:
    """Convolve an image with weights, as networks do: without flipping, where the weights fit (no padding).

    image: [H, W, C], or [B, H, W, C] for a batch.  weights: [R, S, C, K].  The result is [.., P, Q, K] with
    P = (H - R) // stride + 1 and Q = (W - S) // stride + 1:

        O(p, q, k) = sum over r, s, c of image(stride p + r, stride q + s, c) * weights(r, s, c, k)

    stride: of rows and columns, one number or two.
    """
    _check("image", image, (3, 4))
    _check("weights", weights, (4,))
    batch = image.shape[:-3]
    rows, columns, channels = image.shape[-3:]
    if weights.shape[2] != channels:
        raise ShapeError(
            f"conv2d: {described(image)} has {counted(channels, 'channel')}, the weights "
            f"{described(weights)} take {weights.shape[2]}",
            at=caller_location(),
            hint=extents_hint(channels, weights.shape[2]) or "image [.., C], weights [R, S, C, K]",
        )
    steps = _steps(stride)
    down, across = (
        (extent - taps).floordiv(step) + 1
        for extent, taps, step in zip((rows, columns), weights.shape[:2], steps, strict=True)
    )
    return _reduction(image, weights, (*batch, down, across, weights.shape[3]), steps)


def _check(name: str, source: Any, ranks: tuple[int, ...]) -> None:
    if not isinstance(source, Source) or source.rank not in ranks:
        what = described(source) if isinstance(source, Source) else repr(source)
        raise ShapeError(
            f"conv2d: {name} is {what}, not an array of rank {' or '.join(map(str, ranks))}",
            at=caller_location(),
            hint="image [H, W, C] or [B, H, W, C], weights [R, S, C, K]",
        )
    check_plain(source, "conv2d")


def _steps(stride: Any) -> tuple[int, int]:
    pair = stride if isinstance(stride, tuple) else (stride, stride)
    counts = [isinstance(s, int | np.integer) and not isinstance(s, bool) and s >= 1 for s in pair]
    if len(counts) != 2 or not all(counts):
        raise LangError(
            f"conv2d: the stride is {stride!r}, not a positive integer or a tuple of two",
            at=caller_location(),
            hint="stride=2, or stride=(2, 1) for rows and columns",
        )
    return int(pair[0]), int(pair[1])


def _reduction(
    image: Source, weights: Source, shape: tuple[Affine, ...], steps: tuple[int, int]
) -> TensorReduction:
    sizes = merged_sizes(image, weights)
    variables = fresh_variables(len(shape) + 3, names_in((image, weights)))
    outer, (r, s, c) = variables[: len(shape)], variables[len(shape) :]
    p, q, k = outer[-3:]
    spans = [span(extent, sizes) for extent in (*shape, *weights.shape[:3])]
    pixel = image(*outer[:-3], steps[0] * p + r, steps[1] * q + s, c)
    value: Expr = binary("*", pixel, weights(r, s, c, k))
    stage = TensorReduction((outer, spans[: len(shape)]), (variables, spans), value.dtype)
    stage.defn = [Reduce(stage(*outer), value, Op.Sum)]
    stage.text = f"conv2d({image.label}, {weights.label})"
    return stage
