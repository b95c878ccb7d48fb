"""Names in formulas: of what whoever asks gives, and of other formulas.

A name that stands for a formula is declared in C before those that use it; in Python it is computed once,
where it is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter

from polymat.dataclass import dataclass
from polymat.product.formula import Asker, Formula, Number, Predicate, Values, asker_of


class _Given:
    """What whoever asks gives, by its name."""

    __slots__ = ()
    name: str

    def asker(self) -> Asker:
        return itemgetter(self.name)


class _Let:
    """A name that stands for a formula."""

    __slots__ = ()
    name: str
    formula: Formula

    def asker(self) -> Asker:
        return _once(self.name, self.formula)


@dataclass(frozen=True, slots=True, eq=False)
class Name(_Given, Number):
    """A number that whoever asks gives."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Fact(_Given, Predicate):
    """A condition that whoever asks gives."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class LetNumber(_Let, Number):
    """A name that stands for a number."""

    name: str
    formula: Number


@dataclass(frozen=True, slots=True, eq=False)
class LetCondition(_Let, Predicate):
    """A name that stands for a condition."""

    name: str
    formula: Predicate


def lets(formulas: Sequence[Formula]) -> list[LetNumber | LetCondition]:
    """The names that stand for formulas in these, each after those that it needs."""
    return [each for each in _walk(tuple(formulas)) if isinstance(each, LetNumber | LetCondition)]


def names(formulas: Sequence[Formula]) -> list[str]:
    """The names that whoever asks gives, of numbers and of facts, in the order of their use."""
    return [*dict.fromkeys(each.name for each in _walk(tuple(formulas)) if isinstance(each, Name | Fact))]


def _once(name: str, formula: Formula) -> Asker:
    """The value of a formula under its name, computed where it is not known."""
    compute = asker_of(formula)

    def known(values: Values) -> float:
        value = values.get(name)
        if value is None:
            value = values[name] = compute(values)
        return value

    return known


# Of constants of the package, whose names and declarations are asked for one after the other.
@lru_cache(maxsize=2)
def _walk(formulas: tuple[Formula, ...]) -> list[Formula]:
    """All of some formulas, parts first, each once: formulas share many of their parts."""
    found: dict[Formula, None] = {}
    for formula in formulas:
        _add(formula, found)
    return [*found]


def _add(formula: Formula, found: dict[Formula, None]) -> None:
    if formula in found:
        return
    for part in formula.parts:
        _add(part, found)
    found[formula] = None
