"""Discrete Fourier transforms written as sums: with exp(+-2 pi i j k / N), or with cosines and sines."""

from __future__ import annotations

import cmath
import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Literal

from polymat.graph.product import Product
from polymat.graph.term import Term, is_box
from polymat.idiom.layout import axis
from polymat.idiom.lineup import from_zero
from polymat.idiom.mirrored import halved_axis
from polymat.idiom.operands import is_strided
from polymat.idiom.phase import PhasePolynomial, Waves, number_of, scaled, sum_of_waves, waves_of
from polymat.idiom.transform import FourierAxis, Kind, Transform
from polymat.idiom.unlike import has_wave, shortened
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr
from polymat.lang.expressiontext import structure


class UnlikeError(Exception):
    """Why a sum is no transform, in words; without words where it does not look like one either."""


def match_dft(product: Product) -> Transform | None:
    """A transform over one dimension or several, of real or complex values, for each point of a batch."""
    try:
        return _found(product)
    except UnlikeError:
        return None


def reason_against_dft(product: Product) -> str:
    """Why a sum with waves in its indices is no transform; empty for one that is, and for other sums."""
    try:
        _found(product)
    except UnlikeError as error:
        return str(error)
    return ""


def _found(product: Product) -> Transform:
    """The transform; where a summed index does not begin at 0 it may be counted from either end."""
    from_elsewhere = [
        dim for term in product.terms[:1] for dim in term.reduced if term.range_of(dim)[0] != Affine()
    ]
    found: UnlikeError | None = None
    for backwards in (c for n in range(len(from_elsewhere) + 1) for c in combinations(from_elsewhere, n)):
        try:
            return _transform_of(tuple(from_zero(term, backwards) for term in product.terms), product)
        except UnlikeError as error:
            found = found or error
    assert found is not None  # the empty choice is tried first
    raise found


def _transform_of(terms: Sequence[Term], product: Product) -> Transform:
    first = terms[0] if terms else None
    if first is None or not first.reduced or product.is_recurrence or product.dtype.kind not in "fc":
        raise UnlikeError
    waves, scale = _waves(terms, product)
    for term in terms:
        _check_sum(term, first, product)
    return _transform(waves, scale, first, product)


def _waves(terms: Sequence[Term], product: Product) -> tuple[Waves, Expr | None]:
    """The terms' weights with their scales as one sum of waves, and a scale that is no number."""
    scales = _scales(terms)
    parts = [waves_of(term.weights) for term in terms]
    found = [part for part in parts if part is not None]
    summed, results = set(terms[0].reduced), set(product.dims)
    _check_weights(terms, summed, results)
    names = [{name for name, _ in powers} for part in found for w, _ in part.waves for powers, _ in w.terms]
    if len(found) < len(parts) or not any(each & summed and each & results for each in names):
        raise UnlikeError
    if scales is None:
        raise UnlikeError("its terms have different scales that are no numbers")
    known = [scaled(part, number) for part, number in zip(found, scales[0], strict=True)]
    return sum_of_waves(known), scales[1]


def _check_weights(terms: Sequence[Term], summed: Collection[str], results: Collection[str]) -> None:
    """Whether all terms are weighted with waves alone, if one is."""
    weights = [weight for term in terms for weight in term.weights]
    if not any(has_wave(weight, summed, results) for weight in weights):
        return
    other = next((weight for weight in weights if waves_of([weight]) is None), None)
    if other is not None:
        raise UnlikeError(f"its weight {shortened(other)} is no sum of exponentials, cosines and sines")
    if not all(term.weights for term in terms):
        raise UnlikeError("one of its terms has no wave")


def _check_sum(term: Term, first: Term, product: Product) -> None:
    """Whether a term sums one array element, the same as the first, over the same rectangle."""
    if term.divisors:
        raise UnlikeError(f"it is divided by {term.divisors[0]}")
    if len(term.factors) > 1:
        several = " * ".join(map(str, term.factors))
        raise UnlikeError(f"{several} is no array element: compute it in a stage before")
    if not term.factors:
        raise UnlikeError("no array element is summed with a wave")
    if term.factors != first.factors:
        raise UnlikeError(f"{first.factors[0]} and {term.factors[0]} are summed, not one of them")
    if term.reduced != first.reduced or not term.domain.equals(first.domain):
        raise UnlikeError("its terms are summed over different ranges")
    if not is_box(term, product.context):
        raise UnlikeError(f"it is summed over {term.domain}, which is no rectangle")


def _scales(terms: Sequence[Term]) -> tuple[list[complex], Expr | None] | None:
    """The terms' scales as numbers and one common expression; None when there is none."""
    numbers = [1.0 if term.scale is None else number_of(term.scale) for term in terms]
    found = [complex(number) for number in numbers if number is not None]
    if len(found) == len(terms):
        return found, None
    texts = {None if term.scale is None else structure(term.scale) for term in terms}
    return ([1 + 0j] * len(terms), terms[0].scale) if len(texts) == 1 else None


def _transform(waves: Waves, scale: Expr | None, term: Term, product: Product) -> Transform:
    (source,) = term.factors
    if not is_strided(source, term):
        raise UnlikeError(f"the elements of {source} are not a constant distance apart")
    kind, phase, number = _kind(waves, source.dtype.kind == "c", product.dtype.kind == "c")
    found, sign = _axes(phase, term, product)
    outputs = {each.output for each in found}
    if outputs & source.names():
        raise UnlikeError(f"{source} depends on the index of the result, {', '.join(sorted(outputs))}")
    missing = [d for d in (*term.reduced, *product.dims) if d not in outputs | source.names()]
    if missing:
        raise UnlikeError(f"{source} does not depend on {', '.join(missing)}")
    if kind == "complex" and any(each.half for each in found):
        raise UnlikeError("half a spectrum of complex values is wanted")
    batch = tuple(axis((d,), term) for d in product.dims if d not in outputs)
    return Transform(product, kind, sign, found, source, number, scale, batch, product.addends)


def _kind(waves: Waves, complex_source: bool, complex_result: bool) -> tuple[Kind, PhasePolynomial, complex]:
    """Which transform the waves are, its phase and its number: one wave, or half the sum of a pair."""
    found = waves.waves
    if len(found) == 1 and complex_result:
        return ("complex" if complex_source else "real"), *found[0]
    if len(found) != 2 or not found[0][0].is_near(-found[1][0]):
        raise UnlikeError("its weights are no exponential, cosine or sine of one phase")
    if complex_source:
        raise UnlikeError("cosines and sines are of real values alone, others have two different spectra")
    (phase, c), (_, d) = found
    if phase.terms and phase.terms[0][1].real > 0:  # the forward one, whichever is written first
        phase, c, d = -phase, d, c
    if cmath.isclose(c, d, rel_tol=1e-12):
        return "cosine", phase, 2 * c
    if cmath.isclose(c, -d, rel_tol=1e-12):
        # Im of exp(i phase) is (exp(i phase) - exp(-i phase)) / 2i.
        return "sine", phase, 2j * c
    raise UnlikeError("its cosines and sines have different factors")


def _axes(
    phase: PhasePolynomial, term: Term, product: Product
) -> tuple[tuple[FourierAxis, ...], Literal[-1, 1]]:
    """The pairs of output and input index in a phase, and the sign of those that are not mirrored."""
    found: list[FourierAxis] = []
    signs: dict[str, Literal[-1, 1]] = {}
    for powers, coefficient in phase.without_turns(term.domain.params + term.dims).terms:
        names = dict(powers)
        inputs = [d for d in term.reduced if names.get(d) == 1]
        outputs = [d for d in product.dims if names.get(d) == 1]
        if len(inputs) != 1 or len(outputs) != 1:
            raise UnlikeError("its phase has more in it than a result's index times a summed one")
        each = _fourier_axis(outputs[0], inputs[0], term)
        sign: Literal[-1, 1] = 1 if coefficient.real > 0 else -1
        if not PhasePolynomial(((powers, coefficient),)).is_near(_expected(each, sign)):
            turn = f"{each.output} {each.input} / ({each.length})"
            raise UnlikeError(f"its phase is not 2 pi {turn}, for as many {each.input}")
        found.append(each)
        signs[each.output] = sign
    outputs = [each.output for each in found]
    if {each.input for each in found} != set(term.reduced) or len(found) != len(term.reduced):
        raise UnlikeError("not every summed index is in its phase once")
    if len(set(outputs)) < len(outputs):
        raise UnlikeError(f"{outputs[0]} is in its phase with several summed indices")
    order = sorted(found, key=lambda each: product.dims.index(each.output))
    sign = signs[halved_axis(order).output]
    return tuple(replace(each, mirrored=signs[each.output] != sign) for each in order), sign


def _fourier_axis(output: str, summed: str, term: Term) -> FourierAxis:
    """The axis of two indices that start at 0, with as many outputs as inputs or half of them and one."""
    (low, high), (first, last) = term.range_of(summed), term.range_of(output)
    length, count = high + 1, last + 1
    half = count == length.floordiv(2) + 1
    if low != Affine() or first != Affine() or not (half or count == length):
        ranges = f"{output} runs from {first} to {last} and {summed} from {low} to {high}"
        raise UnlikeError(f"{ranges}, not both over a period from 0 on, or {output} over half of one")
    return FourierAxis(output, summed, length, half=count != length)


def _expected(each: FourierAxis, sign: int) -> PhasePolynomial:
    """sign 2 pi j k / length."""
    inverse = PhasePolynomial.affine(each.length).inverse()
    if inverse is None:
        raise UnlikeError("its length is 0")
    turn = PhasePolynomial.constant(sign * 2 * math.pi) * inverse
    return turn * PhasePolynomial.name(each.output) * PhasePolynomial.name(each.input)
