"""Which of many points a domain has, by its inequalities and NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import islpy as isl
import numpy as np
import numpy.typing as npt

from polymat.poly.domain import Domain

_KINDS = (isl.dim_type.param, isl.dim_type.set, isl.dim_type.div)


def members(domain: Domain, values: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
    """Whether each point is in the domain.

    values: of its parameters, numbers, and of its dimensions, arrays of one length, or of each a number.
    """
    known = [np.asarray(values[name], np.int64) for name in (*domain.params, *domain.dims)]
    inside = np.zeros(np.broadcast_shapes(*(each.shape for each in known)), np.bool_)
    for piece in domain.set.compute_divs().get_basic_sets():
        inside |= _in_piece(piece, known)
    return inside


def _in_piece(piece: isl.BasicSet, known: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.bool_]:
    own, count = list(known), piece.dim(isl.dim_type.div)
    for number in range(count):
        own.append(_quotient(piece.get_local_space().get_div(number), own))
    inside = np.ones((), np.bool_)
    for constraint in piece.get_constraints():
        value = np.asarray(constraint.get_constant_val().to_python(), np.int64)
        for (kind, position), each in zip(_places(piece, count), own, strict=True):
            value = value + constraint.get_coefficient_val(kind, position).to_python() * each
        inside = inside & (value == 0 if constraint.is_equality() else value >= 0)
    return inside


def _quotient(form: isl.Aff, known: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """An integer division of what is known so far."""
    divisor = form.get_denominator_val().to_python()
    kinds = {isl.dim_type.set: isl.dim_type.in_}
    total = np.asarray(_whole(form.get_constant_val(), divisor), np.int64)
    for (kind, position), each in zip(_places(form, form.dim(isl.dim_type.div)), known, strict=False):
        total = total + _whole(form.get_coefficient_val(kinds.get(kind, kind), position), divisor) * each
    return total // divisor


def _whole(value: isl.Val, divisor: int) -> int:
    number: int = (value * divisor).to_python()
    return number


def _places(space: isl.BasicSet | isl.Aff, divs: int) -> list[tuple[Any, int]]:
    """Parameters, dimensions and divisions of a set, or of a form on its points, in order."""
    dims = isl.dim_type.in_ if isinstance(space, isl.Aff) else isl.dim_type.set
    counts = (space.dim(isl.dim_type.param), space.dim(dims), divs)
    return [(kind, n) for kind, count in zip(_KINDS, counts, strict=True) for n in range(count)]
