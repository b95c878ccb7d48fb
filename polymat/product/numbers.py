"""Numbers that formulas compute of others: quotients of whole ones, the larger one, one of two."""

from __future__ import annotations

from polymat.product.formula import Choice, Number, Predicate, Rounded, as_number


def quotient(left: Number | float, right: Number | float) -> Number:
    """How many of one it takes to cover the other."""
    return Rounded(True, as_number(left), as_number(right))


def whole(left: Number | float, right: Number | float) -> Number:
    """How many of one fit into the other."""
    return Rounded(False, as_number(left), as_number(right))


def larger(left: Number | float, right: Number | float) -> Number:
    """The larger of two numbers, each computed twice in C where it is not a name."""
    return Choice(as_number(left) > right, as_number(left), as_number(right))


def smaller(left: Number | float, right: Number | float) -> Number:
    """The smaller of two numbers."""
    return Choice(as_number(left) < right, as_number(left), as_number(right))


def where(condition: Predicate, chosen: Number | float, other: Number | float) -> Number:
    """One number where a condition holds, the other one elsewhere."""
    return Choice(condition, as_number(chosen), as_number(other))
