"""Overlap-save: a filter as transforms of blocks that overlap, multiplied by the spectrum of the taps."""

from __future__ import annotations

from typing import Any

from polymat.lang.affine import Affine
from polymat.lang.algebra import fresh_variables, merged_sizes, names_in, pointwise, read, span
from polymat.lang.expr import Condition, Const, Expr, Load, Variable, binary
from polymat.lang.fourier import complex_type, half_wave, wave
from polymat.lang.function import Case, CaseEntry, Function, Source
from polymat.lang.makers import Makers, index_expression
from polymat.lang.reduction import Op, Reduce, Reduction
from polymat.lang.types import Double, Float, Long

ALIGNED = 16  # samples from one block to the next are a multiple of it


def filtered_by_blocks(
    make: Makers[Any], x: Source, taps: Source, count: int, start: Affine, length: Affine, block: int
) -> Any:
    """y(i) = sum over k < count of h(k) x(start + i - k) for i < length, x being zero outside.

    block: points of a transform, at least `count`; each gives about block - count + 1 results.
    """
    kept = kept_of(block, count)
    blocks = (length + (kept - 1)).floordiv(kept)
    sizes = merged_sizes(x, taps)
    longer = padded(make, x, start - (count - 1), blocks.scale(kept) + (block - kept))
    dtype = complex_type(x.dtype)
    b, k, j = fresh_variables(3, names_in((x, taps)))
    whole = Const(block, Long)
    outer, inner, half = (
        span(blocks, sizes),
        span(Affine((), block), ()),
        span(Affine((), block // 2 + 1), ()),
    )
    sample = Load(longer, (Affine.name(b.name).scale(kept) + Affine.name(k.name),), x.dtype, None)
    spectra = Reduction(([b, j], [outer, half]), ([b, j, k], [outer, half, inner]), dtype, None)
    spectra.defn = [Reduce(spectra(b, j), binary("*", sample, wave(-1, j, k, whole, dtype)), Op.Sum)]
    padded_taps = padded(make, taps, Affine(), Affine((), block))
    response = Reduction(([j], [half]), ([j, k], [half, inner]), dtype, None)
    scale = Const(1.0 / block, Float if dtype.size == 8 else Double)
    response.defn = [Reduce(response(j), padded_taps(k) * scale * wave(-1, j, k, whole, dtype), Op.Sum)]
    product = Function(([b, j], [outer, half]), dtype, None)
    product.defn = [spectra(b, j) * response(j)]
    back = Reduction(([b, k], [outer, inner]), ([b, k, j], [outer, inner, half]), x.dtype, None)
    back.defn = [Reduce(back(b, k), half_wave(product(b, j), k, j, whole), Op.Sum)]

    def value(i: Variable) -> Expr:
        number = Affine.name(i.name).floordiv(kept)
        within = Affine.name(i.name) - number.scale(kept)
        return Load(back, (number, within + (count - 1)), x.dtype, None)

    return pointwise(make.computed, (x, taps), (length,), value, "")


def kept_of(block: int, count: int) -> int:
    """Results that a block gives, of which transforms begin at addresses as they like them."""
    kept = block - count + 1
    return kept // ALIGNED * ALIGNED or kept


def padded(make: Makers[Any], source: Source, first: Affine, length: Affine) -> Any:
    """The samples first, first + 1, ... of a source, zero where there are none."""
    sizes = source.sizes
    leaves: dict[str, Expr] = {p.name: p for p in sizes}

    def value(i: Variable) -> list[CaseEntry]:
        index = Affine.name(i.name) + first
        at = index_expression(index, leaves | {i.name: i})
        last = index_expression(source.shape[0], leaves)
        return [
            Case(Condition(at, ">=", 0) & Condition(at, "<", last), read(source, index, sizes)),
            Case(Condition(at, "<", 0), 0),
            Case(Condition(at, ">=", last), 0),
        ]

    return pointwise(make.computed, (source,), (length,), value, "")
