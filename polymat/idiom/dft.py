"""Discrete Fourier transforms written as sums: with exp(+-2 pi i j k / N), or with cosines and sines."""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from typing import Literal

from polymat.graph.product import Product, Term
from polymat.idiom.layout import axis
from polymat.idiom.operands import is_box, is_strided
from polymat.idiom.phase import Polynomial, Waves, number_of, scaled, sum_of_waves, waves_of
from polymat.idiom.transform import FourierAxis, Kind, Transform
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr
from polymat.lang.text import structure


def match_dft(product: Product) -> Transform | None:
    """A transform over one dimension or several, of real or complex values, for each point of a batch."""
    first = product.terms[0] if product.terms else None
    if first is None or not first.reduced or product.is_recurrence or product.dtype.kind not in "fc":
        return None
    if not all(_same_sum(term, first, product) for term in product.terms):
        return None
    scales = _scales(product.terms)
    if scales is None:
        return None
    parts = [waves_of(term.weights) for term in product.terms]
    known = [scaled(part, number) for part, number in zip(parts, scales[0], strict=True) if part is not None]
    if len(known) < len(parts):
        return None
    return _transform(sum_of_waves(known), scales[1], first, product)


def _same_sum(term: Term, first: Term, product: Product) -> bool:
    """Whether a term sums one array element, the same as the first, over the same rectangle."""
    if len(term.factors) != 1 or term.divisors or term.reduced != first.reduced:
        return False
    same = term.factors == first.factors and term.domain.equals(first.domain)
    return same and is_box(term, product.context)


def _scales(terms: Sequence[Term]) -> tuple[list[complex], Expr | None] | None:
    """The terms' scales as numbers and one common expression; None when there is none."""
    numbers = [1.0 if term.scale is None else number_of(term.scale) for term in terms]
    found = [complex(number) for number in numbers if number is not None]
    if len(found) == len(terms):
        return found, None
    texts = {None if term.scale is None else structure(term.scale) for term in terms}
    return ([1 + 0j] * len(terms), terms[0].scale) if len(texts) == 1 else None


def _transform(waves: Waves, scale: Expr | None, term: Term, product: Product) -> Transform | None:
    (source,) = term.factors
    if not is_strided(source, term):
        return None
    shape = _kind(waves, source.dtype.kind == "c", product.dtype.kind == "c")
    if shape is None:
        return None
    kind, phase, number = shape
    axes = _axes(phase, term, product)
    if axes is None:
        return None
    found, sign = axes
    outputs = {each.output for each in found}
    if outputs & source.names() or not set(term.reduced) <= source.names():
        return None
    if any(d not in source.names() for d in product.dims if d not in outputs):
        return None
    if kind == "complex" and any(each.half for each in found):
        return None
    batch = tuple(axis((d,), term) for d in product.dims if d not in outputs)
    return Transform(product, kind, sign, found, source, number, scale, batch, product.addends)


def _kind(
    waves: Waves, complex_source: bool, complex_result: bool
) -> tuple[Kind, Polynomial, complex] | None:
    """Which transform the waves are, its phase and its number: one wave, or half the sum of a pair."""
    found = waves.waves
    if len(found) == 1 and complex_result:
        return ("complex" if complex_source else "real"), *found[0]
    if len(found) != 2 or complex_source or not found[0][0].is_near(-found[1][0]):
        return None
    (phase, c), (_, d) = found
    if phase.terms and phase.terms[0][1].real > 0:  # the forward one, whichever is written first
        phase, c, d = -phase, d, c
    if cmath.isclose(c, d, rel_tol=1e-12):
        return "cosine", phase, 2 * c
    # Im of exp(i phase) is (exp(i phase) - exp(-i phase)) / 2i.
    return ("sine", phase, 2j * c) if cmath.isclose(c, -d, rel_tol=1e-12) else None


def _axes(
    phase: Polynomial, term: Term, product: Product
) -> tuple[tuple[FourierAxis, ...], Literal[-1, 1]] | None:
    """The pairs of output and input index in a phase, and the sign that all have."""
    found: list[FourierAxis] = []
    signs: set[int] = set()
    for powers, coefficient in phase.terms:
        names = dict(powers)
        inputs = [d for d in term.reduced if names.get(d) == 1]
        outputs = [d for d in product.dims if names.get(d) == 1]
        if len(inputs) != 1 or len(outputs) != 1:
            return None
        each = _fourier_axis(outputs[0], inputs[0], term)
        sign = 1 if coefficient.real > 0 else -1
        expected = None if each is None else _expected(each, sign)
        if each is None or expected is None or not Polynomial(((powers, coefficient),)).is_near(expected):
            return None
        found.append(each)
        signs.add(sign)
    whole = {each.input for each in found} == set(term.reduced) and len(found) == len(term.reduced)
    if not whole or len({each.output for each in found}) < len(found) or len(signs) != 1:
        return None
    order = sorted(found, key=lambda each: product.dims.index(each.output))
    return tuple(order), 1 if signs == {1} else -1


def _fourier_axis(output: str, summed: str, term: Term) -> FourierAxis | None:
    """The axis of two indices that start at 0, with as many outputs as inputs or half of them and one."""
    (low, high), (first, last) = term.range_of(summed), term.range_of(output)
    if low != Affine() or first != Affine():
        return None
    length, count = high + 1, last + 1
    if count == length:
        return FourierAxis(output, summed, length)
    return FourierAxis(output, summed, length, half=True) if count == length.floordiv(2) + 1 else None


def _expected(each: FourierAxis, sign: int) -> Polynomial | None:
    """sign 2 pi j k / length."""
    inverse = Polynomial.affine(each.length).inverse()
    if inverse is None:
        return None
    turn = Polynomial.constant(sign * 2 * math.pi) * inverse
    return turn * Polynomial.name(each.output) * Polynomial.name(each.input)
