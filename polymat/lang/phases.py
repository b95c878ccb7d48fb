"""Band-limited interpolation as filters: one circular convolution for each sample between two.

The samples of a periodic, band-limited function at s / u between those that are given are these, convolved
with the periodic sinc of that shift; over a period, or without wrapping around, by transforms of any length
from two periods on.  So no transform has a length that the number of samples dictates.
"""

from __future__ import annotations

import math
from typing import Any

from polymat.lang.affine import Affine
from polymat.lang.algebra import pointwise, read, span
from polymat.lang.condition import Condition
from polymat.lang.constructs import Cast
from polymat.lang.expr import Const, Expr, Load, Variable, binary, call
from polymat.lang.fftfilters import Samples, padded
from polymat.lang.fouriertransforms import complex_type, half_wave, spectrum, wave
from polymat.lang.function import Case, CaseEntry, Function, Source
from polymat.lang.makers import Makers
from polymat.lang.reduction import Op, Reduce, Reduction
from polymat.lang.types import Double, Float, Long


def interpolated_by_phases(make: Makers[Any], x: Source, count: int, factor: int, points: int) -> Any:
    """`count` real samples of a period interpolated to `factor` times as many.

    points: of the transforms: `count`, or at least 2 count - 1.
    """
    dtype = complex_type(x.dtype)
    s, k, j, q = (Variable(Long, name) for name in ("s", "k", "j", "q"))
    shifts, inner = span(Affine((), factor - 1), ()), span(Affine((), points), ())
    half = span(Affine((), points // 2 + 1), ())
    longer = x if points == count else padded(make, Samples(x), Affine(), Affine((), points)).named("padded")
    samples = spectrum(make, longer, -1, Affine((), points // 2 + 1), "").named("spectrum")
    kernel = Function(([s, k], [shifts, inner]), x.dtype, "kernel")
    kernel.defn = _kernel(s, k, count, factor, points, single=x.dtype == Float)
    kernels = Reduction(([s, j], [shifts, half]), ([s, j, k], [shifts, half, inner]), dtype, "kernels")
    turned = wave(-1, j, k, Const(points, Long), dtype)
    kernels.defn = [Reduce(kernels(s, j), binary("*", kernel(s, k), turned), Op.Sum)]
    product = Function(([s, j], [shifts, half]), dtype, "products")
    product.defn = [binary("*", samples(j), kernels(s, j))]
    between = Reduction(([s, q], [shifts, inner]), ([s, q, j], [shifts, inner, half]), x.dtype, "between")
    between.defn = [
        Reduce(between(s, q), half_wave(product(s, j), q, j, Const(points, Long)), Op.Sum),
    ]

    def value(i: Variable) -> list[CaseEntry]:
        given = Affine.name(i.name).floordiv(factor)
        shift = Affine.name(i.name) - given.scale(factor) - 1
        return [
            Case(Condition(i % factor, "==", 0), read(x, given, ())),
            Case(Condition(i % factor, ">", 0), Load(between, (shift, given), x.dtype, None)),
        ]

    return pointwise(make.computed, (x,), (Affine((), count * factor),), value, "")


def _kernel(
    s: Variable, k: Variable, count: int, factor: int, points: int, *, single: bool
) -> list[CaseEntry]:
    """The periodic sinc at k + (s + 1) / factor, divided by the points of the transform."""

    def at(place: Expr) -> Expr:
        value = _sinc(place, s + 1, count, factor, 1.0 / points)
        return Cast(Float, value) if single else value

    if points == count:
        return [Case(Condition(k, ">=", 0), at(k))]
    front, back = Condition(k, "<", count), Condition(k, ">", points - count)
    between = Condition(k, ">=", count) & Condition(k, "<=", points - count)
    return [Case(front, at(k)), Case(back, at(k - points)), Case(between, 0)]


def _sinc(place: Expr, shift: Expr, count: int, factor: int, scale: float) -> Expr:
    """sin(pi t) / (n sin(pi t / n)), t = place + shift / factor, for odd n; with tan below for even n.

    t is brought into one period around 0 first, where nothing cancels.
    """
    middle = count // 2
    near = (place + middle) % count - middle
    sign = 1 - 2 * (near % 2)
    above = Cast(Double, sign) * call("sin", Cast(Double, shift) * Const(math.pi / factor, Double))
    angle = Cast(Double, near * factor + shift) * Const(math.pi / (count * factor), Double)
    below = call("sin" if count % 2 else "tan", angle)
    return binary("*", Const(scale / count, Double), binary("/", above, below))
