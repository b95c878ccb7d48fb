"""Affine forms over integer parameters and variables, with floor division by constants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias, overload

from polymat.dataclass import dataclass
from polymat.lang import later
from polymat.lang.extentoperators import ExtentOperators


@dataclass(frozen=True, slots=True)
class FloorDiv:
    """floor(numerator / divisor), an atom of a quasi-affine form; divisor > 0."""

    numerator: Affine
    divisor: int

    def __str__(self) -> str:
        return f"({self.numerator})//{self.divisor}"


@dataclass(frozen=True, slots=True)
class Limits:
    """All of some forms at most, and all of others at least, what they limit: low <= value <= high."""

    lows: tuple[Affine, ...] = ()
    highs: tuple[Affine, ...] = ()

    def substitute(self, values: Mapping[str, Affine]) -> Limits:
        """Replace names by forms, all at once."""
        lows, highs = (tuple(form.substitute(values) for form in side) for side in (self.lows, self.highs))
        return Limits(lows, highs)


@dataclass(frozen=True, slots=True)
class Computed:
    """The value of an expression that is no form, as an atom of an index: of which there is one at most.

    value: the expression, told apart from others by `key`.  place: the position of the index, by which it is
    found again in rewritten indices.  ranges: the value lies within one of them.  inside: the names in it.
    """

    value: Any = field(compare=False)
    key: object
    place: int
    ranges: tuple[Limits, ...]
    inside: tuple[str, ...] = field(compare=False)

    @property
    def limits(self) -> tuple[int, int] | None:
        """The least and the largest value; None where they are no numbers alone."""
        sides = [side for each in self.ranges for side in (each.lows, each.highs)]
        if not sides or not all(side and all(form.is_constant for form in side) for side in sides):
            return None
        pairs = [
            (max(low.const for low in each.lows), min(high.const for high in each.highs))
            for each in self.ranges
        ]
        some = [(low, high) for low, high in pairs if low <= high]
        return (min(low for low, _ in some), max(high for _, high in some)) if some else None

    def substitute(self, values: Mapping[str, Affine]) -> Computed:
        """Replace names by forms, all at once."""
        if values.keys().isdisjoint(self.inside):
            return self
        ranges = tuple(limits.substitute(values) for limits in self.ranges)
        return later.computed(later.substituted(self.value, values), self.place, ranges)

    def __str__(self) -> str:
        return later.value_text(self.value)


Atom: TypeAlias = str | FloorDiv | Computed


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Affine(ExtentOperators):
    """const + sum of coefficient * atom; atoms are names or floor divisions, in order of first use.

    The order serves the text only: N + M equals M + N.

    parameters: the sizes behind the names, where a user may calculate with the form: `A.sum() / A.shape[0]`.
    """

    terms: tuple[tuple[Atom, int], ...] = ()
    const: int = 0
    parameters: tuple[Any, ...] = field(default=(), repr=False)

    def __eq__(self, other: object) -> Any:
        """Whether both are the same form; of a user's extent and a number a condition."""
        if not isinstance(other, Affine):
            return self._compared("==", other) if self.is_value else NotImplemented
        same = self.terms == other.terms  # as most equal ones are, in their order as well
        return self.const == other.const and (same or dict(self.terms) == dict(other.terms))

    def __ne__(self, other: object) -> Any:
        if not isinstance(other, Affine):
            return self._compared("!=", other) if self.is_value else NotImplemented
        return not self == other

    def __hash__(self) -> int:
        return hash((frozenset(self.terms), self.const))

    @staticmethod
    def name(name: str) -> Affine:
        """The form that is one parameter or variable."""
        return Affine(((name, 1),))

    @overload
    def __add__(self, other: Affine | int) -> Affine: ...
    @overload
    def __add__(self, other: Any) -> Any: ...
    def __add__(self, other: Any) -> Any:
        if isinstance(other, int):
            return Affine(self.terms, self.const + other, self.parameters)
        if not isinstance(other, Affine):
            return self._value("+", other)
        sums = dict(self.terms)
        for atom, coefficient in other.terms:
            sums[atom] = sums.get(atom, 0) + coefficient
        terms = tuple((a, c) for a, c in sums.items() if c)
        return Affine(terms, self.const + other.const, self._all_parameters(other))

    def _all_parameters(self, other: Affine) -> tuple[Any, ...]:
        if not other.parameters or self.parameters is other.parameters:
            return self.parameters
        return tuple(dict.fromkeys(self.parameters + other.parameters))

    def __neg__(self) -> Affine:
        return self.scale(-1)

    @overload
    def __sub__(self, other: Affine | int) -> Affine: ...
    @overload
    def __sub__(self, other: Any) -> Any: ...
    def __sub__(self, other: Any) -> Any:
        return self + (-other) if isinstance(other, Affine | int) else self._value("-", other)

    def scale(self, factor: int) -> Affine:
        """Multiply by an integer."""
        if factor == 0:
            return Affine()
        return Affine(tuple((a, c * factor) for a, c in self.terms), self.const * factor, self.parameters)

    def floordiv(self, divisor: int) -> Affine:
        """Floor division by a positive integer; exact divisions stay plain."""
        if all(c % divisor == 0 for _, c in self.terms):
            return Affine(
                tuple((a, c // divisor) for a, c in self.terms), self.const // divisor, self.parameters
            )
        return Affine(((FloorDiv(self, divisor), 1),), 0, self.parameters)

    def with_parameters(self, parameters: tuple[Any, ...]) -> Affine:
        """An affine form of the same terms that counts as a value too, by its parameters."""
        return Affine(self.terms, self.const, parameters)

    def __radd__(self, other: Any) -> Any:
        return self + other if isinstance(other, int) else self._value("+", other, True)

    def __rsub__(self, other: Any) -> Any:
        return -self + other if isinstance(other, int) else self._value("-", other, True)

    def __mul__(self, other: Any) -> Any:
        return self.scale(other) if isinstance(other, int) else self._value("*", other)

    def __rmul__(self, other: Any) -> Any:
        return self.scale(other) if isinstance(other, int) else self._value("*", other, True)

    def __floordiv__(self, other: Any) -> Any:
        return self.floordiv(other) if isinstance(other, int) and other > 0 else self._value("//", other)

    @property
    def is_value(self) -> bool:
        """Whether a user may calculate with it."""
        return bool(self.parameters) or not self.terms

    @property
    def is_constant(self) -> bool:
        """Whether no name occurs."""
        return not self.terms

    def names(self) -> Iterator[str]:
        """The names that occur, with repetitions, in order."""
        for atom, _ in self.terms:
            match atom:
                case FloorDiv(numerator):
                    yield from numerator.names()
                case Computed():
                    yield from atom.inside
                case _:
                    yield atom

    def coefficient(self, name: str) -> int:
        """Coefficient of a plain name (0 where it only occurs inside a floor division)."""
        return dict(self.terms).get(name, 0)

    def is_linear_in(self, names: Iterable[str]) -> bool:
        """Whether none of the names is in a floor division or a computed value, but moves the form evenly."""
        uneven = Affine(tuple(term for term in self.terms if not isinstance(term[0], str)))
        return {*uneven.names()}.isdisjoint(names)

    def substitute(self, values: Mapping[str, Affine]) -> Affine:
        """Replace names by forms, all at once."""
        result = Affine((), self.const)
        for atom, coefficient in self.terms:
            match atom:
                case FloorDiv(numerator, divisor):
                    inner = numerator.substitute(values).floordiv(divisor)
                case Computed():
                    inner = Affine(((atom.substitute(values), 1),))
                case _:
                    inner = values.get(atom, Affine.name(atom))
            result = result + inner.scale(coefficient)
        return result

    def with_computed(self, values: Mapping[Computed, Affine]) -> Affine:
        """Replace computed values by forms."""
        result = Affine((), self.const, self.parameters)
        for atom, coefficient in self.terms:
            match atom:
                case FloorDiv(numerator, divisor):
                    inner = numerator.with_computed(values).floordiv(divisor)
                case Computed() if atom in values:
                    inner = values[atom]
                case _:
                    inner = Affine(((atom, 1),))
            result = result + inner.scale(coefficient)
        return result

    def evaluate(self, values: Mapping[Any, Any]) -> Any:
        """Value at integers, or elementwise at NumPy integer arrays.

        values: of names, and of computed values by themselves.
        """
        total: Any = self.const
        for atom, coefficient in self.terms:
            if isinstance(atom, FloorDiv):
                total = total + coefficient * (atom.numerator.evaluate(values) // atom.divisor)
            else:
                total = total + coefficient * values[atom]
        return total

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        text = ""
        for atom, coefficient in self.terms:
            sign = "-" if coefficient < 0 else "+"
            factor = "" if abs(coefficient) == 1 else f"{abs(coefficient)}*"
            divided = isinstance(atom, FloorDiv) and (factor or (sign == "-" and not text))
            term = f"{factor}({atom})" if divided else f"{factor}{atom}"
            text += f" {sign} {term}" if text else f"{'-' if sign == '-' else ''}{term}"
        if not text:
            return str(self.const)
        if self.const:
            text += f" {'-' if self.const < 0 else '+'} {abs(self.const)}"
        return text


def extremes(form: Affine, bounds: Mapping[str, tuple[Affine, Affine]]) -> tuple[Affine, Affine]:
    """Smallest and largest value of a form whose bounded names range between forms of the others.

    Exact for one bounded name; for several coupled ones an enclosure (interval arithmetic).
    """
    low, high = Affine((), form.const), Affine((), form.const)
    for atom, coefficient in form.terms:
        if isinstance(atom, FloorDiv):
            inner = tuple(e.floordiv(atom.divisor) for e in extremes(atom.numerator, bounds))
        elif isinstance(atom, str) and atom in bounds:
            inner = bounds[atom]
        else:
            inner = (Affine(((atom, 1),)), Affine(((atom, 1),)))
        first, last = (inner[0], inner[1]) if coefficient > 0 else (inner[1], inner[0])
        low = low + first.scale(coefficient)
        high = high + last.scale(coefficient)
    return low, high


def computed_in(forms: Iterable[Affine]) -> tuple[Computed, ...]:
    """The computed values in some forms, each once, in order."""
    found: dict[Computed, None] = {}
    for form in forms:
        for atom, _ in form.terms:
            if type(atom) is str:
                continue
            if isinstance(atom, FloorDiv):
                found |= dict.fromkeys(computed_in([atom.numerator]))
            elif isinstance(atom, Computed):
                found[atom] = None
    return tuple(found)


def without_computed(forms: Sequence[Affine]) -> tuple[Affine, ...]:
    """The forms as they are where each computed value is 0."""
    found = dict.fromkeys(computed_in(forms), Affine())
    return tuple(form.with_computed(found) for form in forms) if found else tuple(forms)
