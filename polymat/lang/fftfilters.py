"""Filters by Fourier transforms: of blocks that overlap (overlap-save), or of the whole signal at once."""

from __future__ import annotations

from math import lcm
from typing import Any

from polymat.dataclass import dataclass
from polymat.lang.affine import Affine
from polymat.lang.algebra import fresh_variables, merged_sizes, names_in, pointwise, read, span
from polymat.lang.condition import Condition
from polymat.lang.constructs import Cast
from polymat.lang.expr import Const, Expr, Load, Parameter, Variable, binary
from polymat.lang.fouriertransforms import complex_type, half_wave, wave
from polymat.lang.function import Case, CaseEntry, Function, Source
from polymat.lang.makers import Makers, index_expression
from polymat.lang.mathfunctions import Conj
from polymat.lang.reduction import Op, Reduce, Reduction
from polymat.lang.types import Double, Long, ScalarType, real_part

ALIGNED = 16  # samples from one block to the next are a multiple of it


@dataclass(frozen=True, slots=True)
class SampleBlocks:
    """How a signal is cut into blocks, which all filters of it may share.

    Block b holds the samples first + kept b, first + kept b + 1, ..., `points` of them, zero where there are
    none; there are `count` blocks.  A filter y(i) = sum over k < T of h(k) x(start + i - k) gets its results
    kept b .. kept (b + 1) - 1 from it where first <= start - T + 1 and start - first + kept <= points.
    """

    first: Affine
    points: int
    kept: int
    count: Affine


@dataclass(frozen=True, slots=True)
class Samples:
    """A signal or taps as a filter takes them: conjugated, in reverse."""

    source: Source
    conjugated: bool = False
    reversed: bool = False

    @property
    def dtype(self) -> ScalarType:
        """Type of the values."""
        return self.source.dtype

    def at(self, index: Affine, sizes: tuple[Parameter, ...]) -> Expr:
        """A value."""
        value = read(self.source, self.source.shape[0] - 1 - index if self.reversed else index, sizes)
        return Conj(value) if self.conjugated else value


def filtered_by_blocks(
    make: Makers[Any],
    x: Samples,
    taps: Samples,
    start: Affine,
    length: Affine,
    blocks: SampleBlocks,
    step: int = 1,
    more: tuple[Parameter, ...] = (),
) -> Any:
    """y(i) = sum over k of h(k) x(start + step i - k) for i < length, x being zero outside.

    more: sizes that anything depends on beside those of the signal and the taps.
    """
    points, kept = blocks.points, blocks.kept
    both = (x.source, taps.source)
    sizes = merged_sizes(*both, *more)
    length_of_blocks = blocks.count.scale(kept) + (points - kept)
    longer = padded(make, x, blocks.first, length_of_blocks, sizes).named("padded")
    dtype = complex_type(x.dtype)
    b, k, j = fresh_variables(3, names_in(both))
    whole = Const(points, Long)
    outer, inner = span(blocks.count, sizes), span(Affine((), points), ())
    bins = span(Affine((), points if x.dtype.kind == "c" else points // 2 + 1), ())
    sample = Load(longer, (Affine.name(b.name).scale(kept) + Affine.name(k.name),), x.dtype, None)
    spectra = Reduction(([b, j], [outer, bins]), ([b, j, k], [outer, bins, inner]), dtype, "spectra")
    spectra.defn = [Reduce(spectra(b, j), binary("*", sample, wave(-1, j, k, whole, dtype)), Op.Sum)]
    response = _response(make, taps, Affine((), points), x.dtype, ())
    product = Function(([b, j], [outer, bins]), dtype, "products")
    product.defn = [spectra(b, j) * response(j)]
    back = Reduction(([b, k], [outer, inner]), ([b, k, j], [outer, inner, bins]), x.dtype, "blocks")
    back.defn = [Reduce(back(b, k), _sample(product(b, j), k, j, whole, x.dtype), Op.Sum)]

    def value(i: Variable) -> Expr:
        number = Affine.name(i.name).scale(step).floordiv(kept)
        within = Affine.name(i.name).scale(step) - number.scale(kept)
        return Load(back, (number, within + (start - blocks.first)), x.dtype, None)

    return pointwise(make.computed, (*both, *more), (length,), value, "")


def filtered_whole(
    make: Makers[Any],
    x: Samples,
    taps: Samples,
    start: Affine,
    length: Affine,
    first: Affine,
    points: Affine,
    step: int = 1,
    more: tuple[Parameter, ...] = (),
) -> Any:
    """A filter by one transform of the samples from `first` on, zero where there are none, and one back.

    points: of the transforms, which may depend on sizes: at least those from `first` to the last one needed.
    more: as for blocks.
    """
    both, dtype = (x.source, taps.source), complex_type(x.dtype)
    sizes = merged_sizes(*both, *more)
    whole = index_expression(points, {size.name: size for size in sizes})
    longer = padded(make, x, first, points, sizes).named("padded")
    k, j = fresh_variables(2, names_in(both))
    inner = span(points, sizes)
    bins = span(points if x.dtype.kind == "c" else points.floordiv(2) + 1, sizes)
    spectrum = Reduction(([j], [bins]), ([j, k], [bins, inner]), dtype, "spectrum")
    spectrum.defn = [Reduce(spectrum(j), longer(k) * wave(-1, j, k, whole, dtype), Op.Sum)]
    response = _response(make, taps, points, x.dtype, sizes)
    product = Function(([j], [bins]), dtype, "product")
    product.defn = [spectrum(j) * response(j)]
    back = Reduction(([k], [inner]), ([k, j], [inner, bins]), x.dtype, "transformed")
    back.defn = [Reduce(back(k), _sample(product(j), k, j, whole, x.dtype), Op.Sum)]

    def value(i: Variable) -> Expr | list[CaseEntry]:
        sample = read(back, Affine.name(i.name).scale(step) + (start - first), sizes)
        return _of_taps(sample, taps, sizes)

    return pointwise(make.computed, (*both, back, *more), (length,), value, "")


def _of_taps(sample: Expr, taps: Samples, sizes: tuple[Parameter, ...]) -> Expr | list[CaseEntry]:
    """A result, which is 0, an empty sum, where a filter has no taps."""
    count = taps.source.shape[0]
    if count.is_constant:
        return sample
    taken = index_expression(count, {size.name: size for size in sizes})
    return [Case(Condition(taken, ">=", 1), sample), Case(Condition(taken, "<", 1), 0)]


def _response(
    make: Makers[Any], taps: Samples, points: Affine, samples: ScalarType, sizes: tuple[Parameter, ...]
) -> Any:
    """The spectrum of the taps with zeros behind them over the points, which makes the inverse exact."""
    dtype = complex_type(samples)
    longer = padded(make, taps, Affine(), points, sizes).named("taps")
    whole = index_expression(points, {size.name: size for size in sizes})
    j, k = fresh_variables(2, names_in((taps.source,)))
    inner = span(points, sizes)
    bins = span(points if samples.kind == "c" else points.floordiv(2) + 1, sizes)
    response = Reduction(([j], [bins]), ([j, k], [bins, inner]), dtype, "response")
    share = real_part(dtype)
    one = Const(1.0 / points.const, share) if points.is_constant else Cast(share, Const(1.0, Double) / whole)
    response.defn = [Reduce(response(j), longer(k) * one * wave(-1, j, k, whole, dtype), Op.Sum)]
    return response


def _sample(value: Expr, output: Expr, index: Expr, length: Expr, samples: ScalarType) -> Expr:
    """What one value of a spectrum adds to a sample."""
    if samples.kind == "c":
        return binary("*", value, wave(1, output, index, length, samples))
    return half_wave(value, output, index, length)


def kept_of(points: int, reach: int, step: int = 1) -> int:
    """Results that a block gives of which each needs so many samples: transforms begin as they like it.

    step: every so many of them are wanted; blocks begin with one.
    """
    kept = points - reach + 1
    common = lcm(ALIGNED, step)
    return kept // common * common or kept // step * step or kept


def padded(
    make: Makers[Any], samples: Samples, first: Affine, length: Affine, more: tuple[Parameter, ...] = ()
) -> Any:
    """The samples first, first + 1, ... of all, zero where there are none.

    more: sizes that the first and the length depend on beside the source's own.
    """
    source = samples.source
    sizes = tuple(dict.fromkeys((*source.sizes, *more)))
    leaves: dict[str, Expr] = {p.name: p for p in sizes}

    def value(i: Variable) -> list[CaseEntry]:
        index = Affine.name(i.name) + first
        at = index_expression(index, leaves | {i.name: i})
        last = index_expression(source.shape[0], leaves)
        return [
            Case(Condition(at, ">=", 0) & Condition(at, "<", last), samples.at(index, sizes)),
            Case(Condition(at, "<", 0), 0),
            Case(Condition(at, ">=", 0) & Condition(at, ">=", last), 0),
        ]

    return pointwise(make.computed, (source, *more), (length,), value, "")
