"""Polynomials in tile sizes, as small values: footprints are these until sizes are chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from polymat.dataclass import dataclass

Monomial: TypeAlias = tuple[tuple[str, int], ...]
Number: TypeAlias = "float | Polynomial"

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True, eq=False)
class Polynomial:
    """Sum of coefficient * product of powers; a monomial lists its names in alphabetical order.

    The order of the terms is that of their first use and does not take part in equality.
    """

    terms: tuple[tuple[Monomial, float], ...] = ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int | float):
            other = Polynomial.constant(other)
        return isinstance(other, Polynomial) and dict(self.terms) == dict(other.terms)

    def __hash__(self) -> int:
        return hash(frozenset(self.terms))

    @staticmethod
    def name(name: str) -> Polynomial:
        """The polynomial that is one variable."""
        return Polynomial(((((name, 1),), 1),))

    @staticmethod
    def constant(value: float) -> Polynomial:
        """The polynomial without a variable."""
        return Polynomial((((), value),)) if value else Polynomial()

    def __add__(self, other: Number) -> Polynomial:
        sums = dict(self.terms)
        for monomial, coefficient in _lifted(other).terms:
            sums[monomial] = sums.get(monomial, 0) + coefficient
        return Polynomial(tuple((m, c) for m, c in sums.items() if c))

    def __mul__(self, other: Number) -> Polynomial:
        sums: dict[Monomial, float] = {}
        factors = _lifted(other).terms
        for left, a in self.terms:
            for right, b in factors:
                monomial = _product(left, right)
                sums[monomial] = sums.get(monomial, 0) + a * b
        return Polynomial(tuple((m, c) for m, c in sums.items() if c))

    def __sub__(self, other: Number) -> Polynomial:
        return self + _lifted(other) * -1

    def __truediv__(self, divisor: float) -> Polynomial:
        return Polynomial(tuple((m, _quotient(c, divisor)) for m, c in self.terms))

    __radd__ = __add__
    __rmul__ = __mul__

    def evaluate(self, values: Mapping[str, float]) -> float:
        """Value at numbers for all its names."""
        total: float = 0
        for monomial, coefficient in self.terms:
            for name, power in monomial:
                coefficient *= values[name] ** power
            total += coefficient
        return total

    def substitute(self, values: Mapping[str, Number]) -> Polynomial:
        """Replace names by numbers or polynomials, all at once."""
        total = Polynomial()
        for monomial, coefficient in self.terms:
            term = Polynomial.constant(coefficient)
            for name, power in monomial:
                for _ in range(power):
                    term = term * values.get(name, Polynomial.name(name))
            total = total + term
        return total

    def coefficients(self, name: str) -> tuple[float, ...]:
        """Coefficients by power of the only name that occurs, highest power first."""
        powers = {sum(power for _, power in monomial): c for monomial, c in self.terms}
        if any(other != name for monomial, _ in self.terms for other, _ in monomial):
            raise ValueError(f"{self} has other variables than {name}")
        return tuple(powers.get(power, 0) for power in range(max(powers, default=0), -1, -1))

    def __str__(self) -> str:
        falling = sorted(self.terms, key=lambda term: -sum(power for _, power in term[0]))
        return signed_sum((c, _monomial_text(m)) for m, c in falling)


def signed_sum(terms: Iterable[tuple[float, str]]) -> str:
    """Text of a sum of (coefficient, factor) pairs: `0.5τ² + 256τ - 4096`."""
    text = ""
    for coefficient, factor in terms:
        size = f"{abs(coefficient):.6g}"
        shown = factor if size == "1" and factor else size + factor
        if text:
            text += f" {'-' if coefficient < 0 else '+'} {shown}"
        else:
            text = ("-" if coefficient < 0 else "") + shown
    return text or "0"


def number(value: Number, values: Mapping[str, float] | None = None) -> float:
    """A number, or the value of a polynomial at numbers for all its names."""
    return value.evaluate(values or {}) if isinstance(value, Polynomial) else value


def power_text(name: str, power: int) -> str:
    """A name with a raised exponent."""
    return name + (str(power).translate(_SUPERSCRIPTS) if power > 1 else "")


def _lifted(value: Number) -> Polynomial:
    return value if isinstance(value, Polynomial) else Polynomial.constant(value)


def _product(left: Monomial, right: Monomial) -> Monomial:
    if not left or not right:
        return left or right
    powers = dict(left)
    for name, power in right:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted(powers.items()))


def _quotient(value: float, divisor: float) -> float:
    return value if divisor == 1 else value / divisor


def _monomial_text(monomial: Monomial) -> str:
    return "·".join(power_text(name, power) for name, power in monomial)
