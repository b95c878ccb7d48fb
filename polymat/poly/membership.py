"""Which of many points a domain has, by its inequalities and NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import islpy as isl
import numpy as np
import numpy.typing as npt

from polymat.dataclass import dataclass
from polymat.poly.domain import Domain

_KINDS = (isl.dim_type.param, isl.dim_type.set, isl.dim_type.div)
_Values: TypeAlias = list[npt.NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class _Form:
    """constant + sum of coefficient * value, the values told by their numbers."""

    constant: int
    terms: tuple[tuple[int, int], ...]

    def __call__(self, values: _Values) -> npt.NDArray[np.int64]:
        total = np.asarray(self.constant, np.int64)
        for number, coefficient in self.terms:
            total = total + coefficient * values[number]
        return total


@dataclass(frozen=True, slots=True)
class _Piece:
    """A convex set: integer divisions, each of what stands before it, and what is 0, or at least 0."""

    divisions: tuple[tuple[_Form, int], ...]
    zeros: tuple[_Form, ...]
    at_least_zero: tuple[_Form, ...]

    def __call__(self, known: _Values) -> npt.NDArray[np.bool_]:
        own = list(known)
        for form, divisor in self.divisions:
            own.append(form(own) // divisor)
        inside = np.ones((), np.bool_)
        for form in self.zeros:
            inside = inside & (form(own) == 0)
        for form in self.at_least_zero:
            inside = inside & (form(own) >= 0)
        return inside


# What is asked of isl once for a domain, and goes with it: steps ask for the same domains each time.
_PIECES: WeakKeyDictionary[Domain, tuple[_Piece, ...]] = WeakKeyDictionary()


def members(domain: Domain, values: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
    """Whether each point is in the domain.

    values: of its parameters, numbers, and of its dimensions, arrays of one length, or of each a number.
    """
    known = [np.asarray(values[name], np.int64) for name in (*domain.params, *domain.dims)]
    inside = np.zeros(np.broadcast_shapes(*(each.shape for each in known)), np.bool_)
    pieces = _PIECES.get(domain)
    if pieces is None:
        pieces = _PIECES[domain] = tuple(map(_piece, domain.set.compute_divs().get_basic_sets()))
    for piece in pieces:
        inside |= piece(known)
    return inside


def _piece(piece: isl.BasicSet) -> _Piece:
    zeros: list[_Form] = []
    rest: list[_Form] = []
    count, space = piece.dim(isl.dim_type.div), piece.get_local_space()
    divisions = tuple(_division(space.get_div(number)) for number in range(count))
    places = _places(piece, count)
    for constraint in piece.get_constraints():
        coefficients = [constraint.get_coefficient_val(*place).to_python() for place in places]
        form = _form(constraint.get_constant_val().to_python(), coefficients)
        (zeros if constraint.is_equality() else rest).append(form)
    return _Piece(divisions, tuple(zeros), tuple(rest))


def _form(constant: int, coefficients: Sequence[int]) -> _Form:
    return _Form(constant, tuple((n, each) for n, each in enumerate(coefficients) if each))


def _division(form: isl.Aff) -> tuple[_Form, int]:
    """An integer division of what stands before it: what is divided, and by what."""
    divisor = form.get_denominator_val().to_python()
    kinds = {isl.dim_type.set: isl.dim_type.in_}
    places = _places(form, form.dim(isl.dim_type.div))
    found = [form.get_coefficient_val(kinds.get(kind, kind), position) for kind, position in places]
    return _form(_whole(form.get_constant_val(), divisor), [_whole(each, divisor) for each in found]), divisor


def _whole(value: isl.Val, divisor: int) -> int:
    number: int = (value * divisor).to_python()
    return number


def _places(space: isl.BasicSet | isl.Aff, divs: int) -> list[tuple[Any, int]]:
    """Parameters, dimensions and divisions of a set, or of a form on its points, in order."""
    dims = isl.dim_type.in_ if isinstance(space, isl.Aff) else isl.dim_type.set
    counts = (space.dim(isl.dim_type.param), space.dim(dims), divs)
    return [(kind, n) for kind, count in zip(_KINDS, counts, strict=True) for n in range(count)]
