"""Names in formulas: of what whoever asks gives, and of other formulas.

A name that stands for a formula is declared in C before those that use it (`declarations`); in Python it is
computed once, where it is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from polymat.product.formula import Asker, Condition, Formula, Kind, Number, Values, asker_of


@dataclass(frozen=True, slots=True, eq=False)
class Name(Number):
    """A number that whoever asks gives."""

    name: str

    def asker(self) -> Asker:
        return itemgetter(self.name)

    def text(self, kind: Kind) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class Fact(Condition):
    """A condition that whoever asks gives."""

    name: str

    def asker(self) -> Asker:
        return itemgetter(self.name)

    def text(self, kind: Kind) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class LetNumber(Number):
    """A name that stands for a number."""

    name: str
    formula: Number

    def asker(self) -> Asker:
        return _once(self.name, self.formula)

    def text(self, kind: Kind) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class LetCondition(Condition):
    """A name that stands for a condition."""

    name: str
    formula: Condition

    def asker(self) -> Asker:
        return _once(self.name, self.formula)

    def text(self, kind: Kind) -> str:
        return self.name


def declarations(formulas: Sequence[Formula], kind: Kind) -> list[str]:
    """C declarations of the names that stand for formulas in these, each after those that it needs."""
    found = dict.fromkeys(each for formula in formulas for each in _lets(formula))
    types = {LetNumber: f"const {kind}", LetCondition: "const int"}
    return [f"{types[type(each)]} {each.name} = {each.formula.text(kind)};" for each in found]


def names(formulas: Sequence[Formula]) -> list[str]:
    """The names that whoever asks gives, of numbers and of facts, in the order of their use."""
    found = (each for formula in formulas for each in _walk(formula))
    return [*dict.fromkeys(each.name for each in found if isinstance(each, Name | Fact))]


def _once(name: str, formula: Formula) -> Asker:
    """The value of a formula under its name, computed where it is not known."""
    compute = asker_of(formula)

    def known(values: Values) -> float:
        value = values.get(name)
        if value is None:
            value = values[name] = compute(values)
        return value

    return known


def _lets(formula: Formula) -> Iterator[LetNumber | LetCondition]:
    for each in _walk(formula):
        if isinstance(each, LetNumber | LetCondition):
            yield each


def _walk(formula: Formula) -> Iterator[Formula]:
    """All of a formula, parts first."""
    for part in formula.parts:
        yield from _walk(part)
    yield formula
