"""Numbers that formulas compute of others: quotients of whole ones, the larger one, one of two, roots."""

from __future__ import annotations

from math import sqrt

from polymat.dataclass import dataclass
from polymat.product.formula import Asker, Choice, Number, Predicate, Rounded, as_number, asker_of


@dataclass(frozen=True, slots=True, eq=False)
class Root(Number):
    """The square root of a number, which is a double."""

    square: Number

    def asker(self) -> Asker:
        square = asker_of(self.square)
        return lambda values: sqrt(square(values))


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


def root(value: Number) -> Number:
    """The square root of a number of at least zero."""
    return Root(value)
