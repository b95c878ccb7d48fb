"""Formulas that Python evaluates and generated C computes: numbers and conditions over names.

A decision that the compiler predicts and the generated code takes is written down once, as a formula:

    panels = LetNumber("panels", quotient(n, columns))
    few = (panels <= 2) & (k >= 16)

    few.at({"n": 30, "columns": 16, "k": 100})     # 1.0, in Python

In C it is `panels <= 2.0 && k >= 16.0`, of doubles or of integers (`polymat.codegen.c.formulas`).  Names
stand in `polymat.product.formulanames`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import ceil, floor
from operator import add, eq, ge, gt, le, lt, mul, sub, truediv
from typing import Literal

from polymat.dataclass import dataclass

Values = dict[str, float]  # of names; evaluating adds those of names that stand for formulas
Asker = Callable[[Values], float]

_COMPUTED = {"+": add, "-": sub, "*": mul, "/": truediv, "<": lt, "<=": le, ">": gt, ">=": ge, "==": eq}
_ROUNDED = {True: lambda a, b: float(ceil(a / b)), False: lambda a, b: float(floor(a / b))}


@dataclass(frozen=True, slots=True, eq=False)
class Formula:
    """A number or a condition; conditions are 1 and 0.  No `ABC`: Python tells their instances slowly."""

    def asker(self) -> Asker:
        """The function that gives the value of the formula."""
        raise NotImplementedError

    def at(self, values: Values) -> float:
        """The value of the formula where its names have these values."""
        return asker_of(self)(values)

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The formulas that this one is computed from."""
        values = [getattr(self, name) for name in self.__dataclass_fields__]
        return tuple([value for value in values if isinstance(value, Formula)])


@dataclass(frozen=True, slots=True, eq=False)
class Number(Formula):
    """A formula whose value is a number."""

    def __add__(self, other: Number | float) -> Number:
        return Arithmetic("+", self, as_number(other))

    def __radd__(self, other: float) -> Number:
        return Arithmetic("+", as_number(other), self)

    def __sub__(self, other: Number | float) -> Number:
        return Arithmetic("-", self, as_number(other))

    def __mul__(self, other: Number | float) -> Number:
        return Arithmetic("*", self, as_number(other))

    def __rmul__(self, other: float) -> Number:
        return Arithmetic("*", as_number(other), self)

    def __truediv__(self, other: Number | float) -> Number:
        return Arithmetic("/", self, as_number(other))

    def __lt__(self, other: Number | float) -> Predicate:
        return Comparison("<", self, as_number(other))

    def __le__(self, other: Number | float) -> Predicate:
        return Comparison("<=", self, as_number(other))

    def __gt__(self, other: Number | float) -> Predicate:
        return Comparison(">", self, as_number(other))

    def __ge__(self, other: Number | float) -> Predicate:
        return Comparison(">=", self, as_number(other))

    def equals(self, other: Number | float) -> Predicate:
        """That both are the same."""
        return Comparison("==", self, as_number(other))


@dataclass(frozen=True, slots=True, eq=False)
class Predicate(Formula):
    """A formula whose value is 1 where it holds, else 0."""

    def __and__(self, other: Predicate) -> Predicate:
        return Joined("&&", self, other)

    def __or__(self, other: Predicate) -> Predicate:
        return Joined("||", self, other)

    def __invert__(self) -> Predicate:
        return Denied(self)

    def holds(self, values: Values) -> bool:
        """Whether it does where the names have these values."""
        return bool(self.at(values))


class _Signed:
    """Two numbers with a sign of C and Python between them."""

    __slots__ = ()
    sign: str
    left: Number
    right: Number

    def asker(self) -> Asker:
        return _of_both(_COMPUTED[self.sign], self.left, self.right)


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Number):
    """A number that is known."""

    value: float

    def asker(self) -> Asker:
        value = self.value
        return lambda values: value


@dataclass(frozen=True, slots=True, eq=False)
class Arithmetic(_Signed, Number):
    """A sum, difference, product or quotient."""

    sign: Literal["+", "-", "*", "/"]
    left: Number
    right: Number


@dataclass(frozen=True, slots=True, eq=False)
class Rounded(Number):
    """A quotient, rounded up or down to a whole number."""

    up: bool
    left: Number
    right: Number

    def asker(self) -> Asker:
        return _of_both(_ROUNDED[self.up], self.left, self.right)


@dataclass(frozen=True, slots=True, eq=False)
class Choice(Number):
    """One of two numbers."""

    condition: Predicate
    chosen: Number
    other: Number

    def asker(self) -> Asker:
        holds, chosen, other = asker_of(self.condition), asker_of(self.chosen), asker_of(self.other)
        return lambda values: chosen(values) if holds(values) else other(values)


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(_Signed, Predicate):
    """Two numbers compared."""

    sign: Literal["<", "<=", ">", ">=", "=="]
    left: Number
    right: Number


@dataclass(frozen=True, slots=True, eq=False)
class Joined(Predicate):
    """Two conditions of which both, or one at least, have to hold."""

    sign: Literal["&&", "||"]
    left: Predicate
    right: Predicate

    def asker(self) -> Asker:
        first, second = asker_of(self.left), asker_of(self.right)
        if self.sign == "||":
            return lambda values: first(values) or second(values)
        return lambda values: first(values) and second(values)


@dataclass(frozen=True, slots=True, eq=False)
class Denied(Predicate):
    """The opposite of a condition."""

    condition: Predicate

    def asker(self) -> Asker:
        holds = asker_of(self.condition)
        return lambda values: not holds(values)


@dataclass(frozen=True, slots=True, eq=False)
class _Always(Predicate):
    """What holds anyway."""

    def asker(self) -> Asker:
        return lambda values: 1.0


ALWAYS: Predicate = _Always()


# Formulas are constants of the package.
@cache
def asker_of(formula: Formula) -> Asker:
    """The function that gives the value of a formula, made once: it is asked for many sizes."""
    return formula.asker()


def as_number(value: Number | float) -> Number:
    """A number as a formula."""
    return value if isinstance(value, Number) else Constant(value)


def _of_both(compute: Callable[[float, float], float], left: Formula, right: Formula) -> Asker:
    """What is computed of two formulas."""
    first, second = asker_of(left), asker_of(right)
    return lambda values: compute(first(values), second(values))
