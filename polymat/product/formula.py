"""Formulas that Python evaluates and generated C computes: numbers and conditions over names.

A decision that the compiler predicts and the generated code takes is written down once, as a formula:

    panels = LetNumber("panels", quotient(n, columns))
    few = (panels <= 2) & (k >= 16)

    few.at({"n": 30, "columns": 16, "k": 100})     # 1.0, in Python
    few.text("double")                             # panels <= 2.0 && k >= 16.0, in C

Numbers are doubles, or integers that C computes as such.  Names stand in `polymat.product.formulanames`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import ceil, floor
from operator import add, eq, ge, gt, le, lt, mul, sub, truediv
from typing import Literal

from polymat.dataclass import dataclass

Kind = Literal["double", "ptrdiff_t"]
Values = dict[str, float]  # of names; evaluating adds those of names that stand for formulas
Asker = Callable[[Values], float]

_COMPUTED = {"+": add, "-": sub, "*": mul, "/": truediv, "<": lt, "<=": le, ">": gt, ">=": ge, "==": eq}
_ROUNDED = {True: lambda a, b: float(ceil(a / b)), False: lambda a, b: float(floor(a / b))}
_ORDER = {"||": 1, "&&": 2, "+": 4, "-": 4, "*": 5, "/": 5}
_ORDER |= dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), 3)


@dataclass(frozen=True, slots=True, eq=False)
class Formula:
    """A number or a condition; conditions are 1 and 0.  No `ABC`: Python tells their instances slowly."""

    def asker(self) -> Asker:
        """The function that gives the value of the formula."""
        raise NotImplementedError

    def at(self, values: Values) -> float:
        """The value of the formula where its names have these values."""
        return asker_of(self)(values)

    def text(self, kind: Kind) -> str:
        """The C expression, of variables of a type with these names."""
        raise NotImplementedError

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The formulas that this one is computed from."""
        values = [getattr(self, name) for name in self.__dataclass_fields__]
        return tuple([value for value in values if isinstance(value, Formula)])

    @property
    def strength(self) -> int:
        """How tightly the C expression of the formula holds together."""
        return 9


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

    def text(self, kind: Kind) -> str:
        return _between(self.sign, self.left, self.right, kind)

    @property
    def strength(self) -> int:
        return _ORDER[self.sign]


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Number):
    """A number that is known."""

    value: float

    def asker(self) -> Asker:
        value = self.value
        return lambda values: value

    def text(self, kind: Kind) -> str:
        return repr(float(self.value)) if kind == "double" else str(int(self.value))


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

    def text(self, kind: Kind) -> str:
        """Of whole numbers, whose quotient is exact enough to be cut off (others: `codegen.c.formulas`)."""
        right, one = _inside(self.right, kind, 6), Constant(1).text(kind)
        above = f"({_inside(self.left, kind, 4)} + {right} - {one})" if self.up else ""
        text = f"({above or _inside(self.left, kind, 5)} / {right})"
        return f"(double)(long long){text}" if kind == "double" else text

    @property
    def strength(self) -> int:
        return 8


@dataclass(frozen=True, slots=True, eq=False)
class Choice(Number):
    """One of two numbers."""

    condition: Predicate
    chosen: Number
    other: Number

    def asker(self) -> Asker:
        holds, chosen, other = asker_of(self.condition), asker_of(self.chosen), asker_of(self.other)
        return lambda values: chosen(values) if holds(values) else other(values)

    def text(self, kind: Kind) -> str:
        condition, chosen, other = (each.text(kind) for each in self.parts)
        return f"({condition} ? {chosen} : {other})"


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

    def text(self, kind: Kind) -> str:
        """Of other signs between, each side in parentheses, as compilers ask for."""
        sides = (self.left, self.right)
        apart = [isinstance(each, Joined) and each.sign != self.sign for each in sides]
        texts = (
            f"({each.text(kind)})" if a else each.text(kind) for a, each in zip(apart, sides, strict=True)
        )
        return f" {self.sign} ".join(texts)

    @property
    def strength(self) -> int:
        return _ORDER[self.sign]


@dataclass(frozen=True, slots=True, eq=False)
class Denied(Predicate):
    """The opposite of a condition."""

    condition: Predicate

    def asker(self) -> Asker:
        holds = asker_of(self.condition)
        return lambda values: not holds(values)

    def text(self, kind: Kind) -> str:
        if isinstance(self.condition, Comparison) and self.condition.sign == "==":
            return _between("!=", self.condition.left, self.condition.right, kind)
        return f"!{_inside(self.condition, kind, 8)}"

    @property
    def strength(self) -> int:
        return 3 if isinstance(self.condition, Comparison) and self.condition.sign == "==" else 8


@dataclass(frozen=True, slots=True, eq=False)
class _Always(Predicate):
    """What holds anyway."""

    def asker(self) -> Asker:
        return lambda values: 1.0

    def text(self, kind: Kind) -> str:
        return "1"


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


def _between(sign: str, left: Formula, right: Formula, kind: Kind) -> str:
    """Two expressions with a sign between them; what stands on the right of - and / is held together."""
    strength = _ORDER[sign]
    tighter = strength + (sign in "-/" or strength == 3)
    return f"{_inside(left, kind, strength + (strength == 3))} {sign} {_inside(right, kind, tighter)}"


def _inside(formula: Formula, kind: Kind, strength: int) -> str:
    text = formula.text(kind)
    return f"({text})" if formula.strength < strength else text
