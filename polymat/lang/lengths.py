"""Lengths that depend on sizes: those that may fall below 0, and the conditions that rule it out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from polymat.lang.affine import Affine, FloorDiv
from polymat.lang.condition import Condition
from polymat.lang.expr import Expr, Parameter
from polymat.lang.makers import index_expression


def not_negative(lengths: Iterable[Affine], sizes: Sequence[Parameter]) -> tuple[Condition, ...]:
    """The conditions, where not always true, that lengths over `sizes`, in elements, are at least 0.

    Of N - 63, the valid part of a filter:  N - 63 >= 0;  of N + 1:  none.
    """
    leaves: dict[str, Expr] = {size.name: size for size in sizes}
    doubtful = dict.fromkeys(filter(may_be_negative, lengths))
    return tuple(Condition(index_expression(length, leaves), ">=", 0) for length in doubtful)


def may_be_negative(length: Affine) -> bool:
    """Whether a length is not seen to be at least 0 for all sizes, as that of the valid part of a filter."""
    inside = (atom.numerator for atom, _ in length.terms if isinstance(atom, FloorDiv))
    falls = length.const < 0 or any(factor < 0 for _, factor in length.terms)
    return falls or any(map(may_be_negative, inside))


def never_positive(form: Affine) -> bool:
    """Whether a form over sizes, which are at least 0, is at most 0 and falls as they grow: -K, -N - 1."""
    falls = (
        (factor < 0 and (isinstance(atom, str) or not may_be_negative(atom.numerator)))
        or (factor > 0 and isinstance(atom, FloorDiv) and never_positive(atom.numerator))
        for atom, factor in form.terms
        if isinstance(atom, str | FloorDiv)
    )
    return not form.is_constant and form.const <= 0 and all(falls)


def at_least(number: int, lengths: Iterable[Affine], sizes: Sequence[Parameter]) -> tuple[Condition, ...]:
    """The conditions, where not always true, that lengths are at least some number."""
    return not_negative((length - number for length in lengths), sizes)
