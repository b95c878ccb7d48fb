"""Discrete Fourier transforms, written as the sums that they are: an FFT library computes them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from polymat.errors import ShapeError, caller_location
from polymat.lang.affine import Affine, FloorDiv
from polymat.lang.algebra import fresh_variables, names_in, pointwise, read, span
from polymat.lang.condition import Condition
from polymat.lang.constructs import Cast, Select
from polymat.lang.expr import Const, Expr, Parameter, Variable, binary, call
from polymat.lang.function import Case, CaseEntry, Source
from polymat.lang.makers import Makers, index_expression
from polymat.lang.mathfunctions import Real
from polymat.lang.reduction import Op, Reduce
from polymat.lang.types import Complex, ComplexFloat, Double, Float, ScalarType

Sizes = tuple[Parameter, ...]


def wave(sign: int, output: Expr, index: Expr, length: Expr, dtype: ScalarType) -> Expr:
    """exp(sign 2 pi i output index / length), the product reduced by the length so that it stays exact."""
    turns = binary("/", binary("%", binary("*", output, index), length), length)
    value = call("exp", binary("*", Const(sign * 2j * math.pi, Complex), turns))
    return value if dtype == Complex else Cast(dtype, value)


def complex_type(dtype: ScalarType) -> ScalarType:
    """The type of the transform of values of a type."""
    return ComplexFloat if dtype in (Float, ComplexFloat) else Complex


def spectrum(
    make: Makers[Any],
    source: Source,
    sign: int,
    outputs: Affine,
    text: str,
    sizes: Sizes = (),
    scale: Callable[[Expr], Expr] | None = None,
) -> Any:
    """X(j) = sum over k of x(k) exp(sign 2 pi i j k / N) for the first `outputs` of j, in every channel.

    scale: what to do with each element of x before.
    """
    *channels, length = source.shape
    sizes = tuple(dict.fromkeys((*source.sizes, *sizes)))
    dtype = complex_type(source.dtype)
    *before, j, k = fresh_variables(source.rank + 1, names_in((source,)) | {p.name for p in sizes})
    element: Expr = source(*before, k)
    if scale is not None:
        element = scale(element)
    count = index_expression(length, {p.name: p for p in sizes})
    value = binary("*", element, wave(sign, j, k, count, dtype))
    outer = [span(extent, sizes) for extent in (*channels, outputs)]
    stage = make.accumulated(([*before, j], outer), ([*before, j, k], [*outer, span(length, sizes)]), dtype)
    stage.defn = [Reduce(stage(*before, j), value, Op.Sum)]
    stage.text = text
    return stage


def inverse(make: Makers[Any], source: Source, text: str, sizes: Sizes = ()) -> Any:
    """x(k) = 1 / N sum over j of X(j) exp(2 pi i j k / N)."""
    length = source.shape[-1]
    count = index_expression(length, {p.name: p for p in (*source.sizes, *sizes)})
    single = complex_type(source.dtype) == ComplexFloat

    def scaled(element: Expr) -> Expr:
        factor = binary("/", Const(1.0, Double), count)
        return binary("*", element, Cast(Float, factor) if single else factor)

    return spectrum(make, source, 1, length, text, sizes, scaled)


def real_inverse(make: Makers[Any], source: Source, length: Affine, text: str, sizes: Sizes = ()) -> Any:
    """The real signal of `length` samples whose spectrum of real values, n // 2 + 1 of them, is given."""
    sizes = tuple(dict.fromkeys((*source.sizes, *sizes)))
    count = index_expression(length, {p.name: p for p in sizes})
    factor = binary("/", Const(1.0, Double), count)
    share = Cast(Float, factor) if source.dtype == ComplexFloat else factor
    half = pointwise(
        make.computed, (source, *sizes), source.shape, lambda *at: binary("*", source(*at), share), ""
    )
    *before, i, j = fresh_variables(half.rank + 1, names_in((half,)) | {p.name for p in sizes})
    outer = [span(extent, sizes) for extent in (*half.shape[:-1], length)]
    inner = [*outer, span(length.floordiv(2) + 1, sizes)]
    stage = make.accumulated(([*before, i], outer), ([*before, i, j], inner), _part(half))
    stage.defn = [Reduce(stage(*before, i), half_wave(half(*before, j), i, j, count), Op.Sum)]
    stage.text = text
    return stage


def half_wave(element: Expr, output: Expr, index: Expr, length: Expr) -> Expr:
    """The sum that X(index) and its conjugate X(length - index) add to one sample of a real signal.

    The first value of a spectrum, and the middle one of an even length, are their own conjugates.
    """
    value = Real(binary("*", element, wave(1, output, index, length, element.dtype)))
    alone = Condition(index, "==", 0) | Condition(2 * index, "==", length)
    return binary("*", value, Select(alone, Const(1.0, value.dtype), Const(2.0, value.dtype)))


def fitted(make: Makers[Any], half: Source, count: Affine, sizes: Sizes) -> Any:
    """The first `count` values, with zeros behind where there are fewer."""
    missing = count - half.shape[-1]
    if missing == Affine():
        return half
    sizes = tuple(dict.fromkeys((*half.sizes, *sizes)))
    leaves: dict[str, Expr] = {p.name: p for p in sizes}
    known = index_expression(half.shape[-1], leaves)

    def value(*at: Variable) -> Any:
        if missing.is_constant and missing.const < 0:
            return half(*at)
        return [Case(Condition(at[-1], "<", known), half(*at)), Case(Condition(at[-1], ">=", known), 0)]

    return pointwise(
        make.computed, (half, *sizes), (*half.shape[:-1], count), value, f"({half.label} and zeros)"
    )


def resampled(
    make: Makers[Any], source: Source, length: Affine, parameters: Sizes, text: str, more: bool
) -> Any:
    """So many samples of the periodic, band-limited function through the samples.

    more: whether there are at least as many as before.
    The spectrum is cut or filled up with zeros; where the shorter length is even, its highest frequency
    stands for both signs and is halved or added up.
    """
    sizes = tuple(dict.fromkeys((*source.sizes, *parameters)))
    (old,) = source.shape
    if length == old:
        return pointwise(make.computed, (source,), (length,), lambda i: source(i), text)
    if source.dtype.kind == "c":
        whole = spectrum(make, source, -1, old, f"fft({source.label})")
        moved = _refilled(make, whole, old, length, not more, sizes)
    else:
        half = old.floordiv(2) + 1
        found = spectrum(make, source, -1, half, f"rfft({source.label})")
        moved = _cut(make, found, old, length, not more, sizes)
    gain = _ratio(length, old, sizes)
    single = moved.dtype == ComplexFloat

    def value(k: Variable) -> Expr:
        return binary("*", moved(k), Cast(Float, gain) if single else gain)

    louder = pointwise(make.computed, (moved, *sizes), moved.shape, value, "", moved.dtype)
    if source.dtype.kind == "c":
        return inverse(make, louder, text, sizes)
    return real_inverse(make, louder, length, text, sizes)


def _ratio(length: Affine, old: Affine, sizes: Sizes) -> Expr:
    leaves: dict[str, Expr] = {p.name: p for p in sizes}
    above, below = (binary("*", Const(1.0, Double), index_expression(form, leaves)) for form in (length, old))
    return binary("/", above, below)


def grows(old: Affine, length: Affine) -> bool:
    """Whether the second of two lengths is not the smaller one; refuses where that depends on sizes."""
    difference = length - old
    if difference.is_constant:
        return difference.const >= 0
    for sign in (1, -1):
        if _is_positive(difference.scale(sign), old):
            return sign > 0
    raise ShapeError(
        f"resample: which of the lengths {old} and {length} is larger depends on the sizes",
        at=caller_location(),
        hint="interp_fft(u) for a multiple of the length; where the one is a number, the other is one too",
    )


def _is_positive(form: Affine, length: Affine) -> bool:
    """Whether a form is seen to be above 0 for all sizes from 0 on that make a length at least 1."""
    factors, const = _lower_bound(form)
    if const < 0 or any(factor < 0 for factor in factors.values()):
        return False
    names = list(length.names())
    needs_a_size = length.evaluate(dict.fromkeys(names, 0)) < 1
    return const > 0 or (needs_a_size and all(factors.get(name, 0) > 0 for name in names))


def _lower_bound(form: Affine) -> tuple[dict[str, Fraction], Fraction]:
    """A form without floor divisions below another: factors of names, and a constant.

    (e - d + 1) / d <= floor(e / d) <= e / d.
    """
    factors: dict[str, Fraction] = {}
    const = Fraction(form.const)
    for atom, factor in form.terms:
        if isinstance(atom, FloorDiv):
            lost = max(factor, 0) * (atom.divisor - 1)
            inner, rest = _lower_bound(atom.numerator.scale(factor) - lost)
            share = Fraction(1, atom.divisor)
        else:
            inner, rest, share = {str(atom): Fraction(factor)}, Fraction(), Fraction(1)
        for name, value in inner.items():
            factors[name] = factors.get(name, Fraction()) + value * share
        const += rest * share
    return factors, const


def _cut(make: Makers[Any], half: Source, old: Affine, length: Affine, fewer: bool, sizes: Sizes) -> Any:
    """The half spectrum of a real signal of another length."""
    least = length if fewer else old
    leaves: dict[str, Expr] = {p.name: p for p in sizes}
    least_expr = index_expression(least, leaves)
    factor = 2.0 if fewer else 0.5

    def value(k: Variable) -> list[CaseEntry]:
        below, at = Condition(2 * k, "<", least_expr), Condition(2 * k, "==", least_expr)
        cases = [Case(below, half(k)), Case(at, half(k) * Const(factor, _part(half)))]
        return [*cases, Case(Condition(2 * k, ">", least_expr), 0)]

    shape = (length.floordiv(2) + 1,)
    return pointwise(make.computed, (half, *sizes), shape, value, f"({half.label}, refilled)")


def _refilled(
    make: Makers[Any], whole: Source, old: Affine, length: Affine, fewer: bool, sizes: Sizes
) -> Any:
    """The whole spectrum of a complex signal of another length: the negative half moves to the end."""
    least = length if fewer else old
    leaves: dict[str, Expr] = {p.name: p for p in sizes}
    small, total = index_expression(least, leaves), index_expression(length, leaves)

    def value(k: Variable) -> list[CaseEntry]:
        back = 2 * (total - k)
        front = Condition(2 * k, "<", small)
        negative = read(whole, Affine.name(k.name) + (old - length), sizes)
        half = Const(0.5, _part(whole))
        if fewer:
            both = read(whole, Affine.name(k.name), sizes) + negative
            return [
                Case(front, whole(k)),
                Case(Condition(2 * k, "==", small), both),
                Case(Condition(back, "<", small), negative),
            ]
        middle = Condition(2 * k, ">", small) & Condition(back, ">", small)
        return [
            Case(front, whole(k)),
            Case(Condition(2 * k, "==", small), whole(k) * half),
            Case(middle, 0),
            Case(Condition(back, "==", small), negative * half),
            Case(Condition(back, "<", small), negative),
        ]

    return pointwise(make.computed, (whole, *sizes), (length,), value, f"({whole.label}, refilled)")


def _part(source: Source) -> ScalarType:
    return Float if source.dtype == ComplexFloat else Double
