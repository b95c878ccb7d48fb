"""Overlap-save: a filter as transforms of blocks that overlap, multiplied by the spectrum of the taps.

Two blocks of real samples are the real and imaginary parts of one transform: a real filter does not mix them.
"""

from __future__ import annotations

from typing import Any

from polymat.lang.affine import Affine
from polymat.lang.algebra import fresh_variables, merged_sizes, names_in, pointwise, read, span
from polymat.lang.expr import Condition, Const, Expr, Load, Variable, binary
from polymat.lang.fourier import complex_type, wave
from polymat.lang.function import Case, CaseEntry, Function, Source
from polymat.lang.makers import Makers, index_expression
from polymat.lang.mathfunctions import Imag, Real
from polymat.lang.reduction import Op, Reduce, Reduction
from polymat.lang.types import Double, Float, Long


def filtered_by_blocks(
    make: Makers[Any], x: Source, taps: Source, count: int, start: Affine, length: Affine, block: int
) -> Any:
    """y(i) = sum over k < count of h(k) x(start + i - k) for i < length, x being zero outside.

    block: points of a transform, at least `count`; each gives block - count + 1 results.
    """
    kept = block - count + 1
    pairs = (length + (2 * kept - 1)).floordiv(2 * kept)
    sizes = merged_sizes(x, taps)
    longer = padded(make, x, start - (count - 1), pairs.scale(2 * kept) + (count - 1))
    dtype = complex_type(x.dtype)
    b, k, j = fresh_variables(3, names_in((x, taps)))
    whole = Const(block, Long)
    outer, inner = span(pairs, sizes), span(Affine((), block), ())

    def sample(extra: int) -> Load:
        index = Affine.name(b.name).scale(2 * kept) + Affine.name(k.name) + extra
        return Load(longer, (index,), longer.dtype, None)

    joined = Function(([b, k], [outer, inner]), dtype, None)
    joined.defn = [binary("+", sample(0), binary("*", Const(1j, dtype), sample(kept)))]
    spectra = Reduction(([b, j], [outer, inner]), ([b, j, k], [outer, inner, inner]), dtype, None)
    spectra.defn = [Reduce(spectra(b, j), joined(b, k) * wave(-1, j, k, whole, dtype), Op.Sum)]
    padded_taps = padded(make, taps, Affine(), Affine((), block))
    response = Reduction(([j], [inner]), ([j, k], [inner, inner]), dtype, None)
    scale = Const(1.0 / block, Float if dtype.size == 8 else Double)
    response.defn = [Reduce(response(j), padded_taps(k) * scale * wave(-1, j, k, whole, dtype), Op.Sum)]
    product = Function(([b, j], [outer, inner]), dtype, None)
    product.defn = [spectra(b, j) * response(j)]
    back = Reduction(([b, k], [outer, inner]), ([b, k, j], [outer, inner, inner]), dtype, None)
    back.defn = [Reduce(back(b, k), product(b, j) * wave(1, k, j, whole, dtype), Op.Sum)]

    def value(i: Variable) -> list[CaseEntry]:
        pair = Affine.name(i.name).floordiv(2 * kept)
        within = Affine.name(i.name) - pair.scale(2 * kept)
        place = index_expression(within, {i.name: i})
        first = Load(back, (pair, within + (count - 1)), dtype, None)
        second = Load(back, (pair, within + (count - 1 - kept)), dtype, None)
        return [
            Case(Condition(place, "<", kept), Real(first)),
            Case(Condition(place, ">=", kept), Imag(second)),
        ]

    return pointwise(make.computed, (x, taps), (length,), value, "")


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
