"""Weights of sums read as linear combinations of exp(i phase), the phase a polynomial in indices and sizes.

Names may have negative powers; a size that is itself a sum counts as one name when it is divided by.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Collection, Iterable, Mapping
from functools import reduce
from typing import TypeAlias

from polymat.dataclass import dataclass
from polymat.lang.affine import Affine
from polymat.lang.expr import Binary, Call, CastExpr, Const, Expr, Parameter, Unary, Variable
from polymat.lang.expressiontext import structure
from polymat.lang.indices import affine_form
from polymat.lang.traverse import fold
from polymat.lang.types import Long

TOLERANCE = 1e-13  # relative: what is left when 2 * pi / N was computed in double precision

_TIMES = "times in "  # begins the name of how often a remainder's modulus is contained

Powers: TypeAlias = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class PhasePolynomial:
    """Coefficients by the powers of the names, sorted, without zeros."""

    terms: tuple[tuple[Powers, complex], ...] = ()

    @staticmethod
    def of(terms: Mapping[Powers, complex]) -> PhasePolynomial:
        """A polynomial from coefficients, some of which may be 0."""
        return PhasePolynomial(tuple(sorted((powers, complex(c)) for powers, c in terms.items() if c)))

    @staticmethod
    def constant(value: complex) -> PhasePolynomial:
        """A number."""
        return PhasePolynomial.of({(): value})

    @staticmethod
    def name(name: str, power: int = 1) -> PhasePolynomial:
        """A power of one name."""
        return PhasePolynomial.of({((name, power),): 1})

    @staticmethod
    def affine(form: Affine) -> PhasePolynomial:
        """An affine form; a floor division counts as one name."""
        total = PhasePolynomial.constant(form.const)
        for atom, coefficient in form.terms:
            total = total + PhasePolynomial.name(str(atom)) * PhasePolynomial.constant(coefficient)
        return total

    @property
    def number(self) -> complex | None:
        """The value of a polynomial that is a number; None for others."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and self.terms[0][0] == () else None

    def __add__(self, other: PhasePolynomial) -> PhasePolynomial:
        sums = dict(self.terms)
        for powers, c in other.terms:
            sums[powers] = sums.get(powers, 0) + c
        return PhasePolynomial.of(sums)

    def __mul__(self, other: PhasePolynomial) -> PhasePolynomial:
        products: dict[Powers, complex] = {}
        for one, c in self.terms:
            for two, d in other.terms:
                powers = _joined(one, two)
                products[powers] = products.get(powers, 0) + c * d
        return PhasePolynomial.of(products)

    def __neg__(self) -> PhasePolynomial:
        return self * PhasePolynomial.constant(-1)

    def inverse(self) -> PhasePolynomial | None:
        """1 / polynomial: a sum counts as one name; None for 0."""
        if not self.terms:
            return None
        if len(self.terms) > 1:
            return self.as_name(-1)
        powers, c = self.terms[0]
        return PhasePolynomial.of({tuple((name, -power) for name, power in powers): 1 / c})

    def as_name(self, power: int = 1) -> PhasePolynomial:
        """A power of a sum, which counts as one name."""
        return PhasePolynomial.name(f"({self.terms})", power)

    def without_turns(self, integers: Collection[str]) -> PhasePolynomial:
        """A phase less the terms that are a whole number of turns: 2 pi times a product of these names."""

        def is_whole(powers: Powers, c: complex) -> bool:
            whole = all(name in integers and power > 0 for name, power in powers)
            return whole and _is_whole(c.real / math.tau) and c.imag == 0

        return PhasePolynomial(tuple(term for term in self.terms if not is_whole(*term)))

    def is_near(self, other: PhasePolynomial) -> bool:
        """Whether all coefficients agree but for rounding."""
        if len(self.terms) != len(other.terms):
            return False
        pairs = zip(self.terms, other.terms, strict=True)
        return all(p == q and cmath.isclose(c, d, rel_tol=TOLERANCE) for (p, c), (q, d) in pairs)


def _joined(one: Powers, two: Powers) -> Powers:
    powers = dict(one)
    for name, power in two:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted((name, power) for name, power in powers.items() if power))


@dataclass(frozen=True, slots=True)
class Waves:
    """A sum of coefficient * exp(i phase), or a polynomial that is not yet a phase.

    plain: the polynomial, for what has no exponential in it.
    """

    plain: PhasePolynomial | None
    waves: tuple[tuple[PhasePolynomial, complex], ...] = ()


def waves_of(weights: Iterable[Expr]) -> Waves | None:
    """The product of some weights as waves; None when one is nothing of the kind."""
    found = [fold(weight, lambda node, parts: _wave(node, parts)) for weight in weights]
    if not found or any(each is None for each in found):
        return None
    product = reduce(_times, found)
    return None if product is None else _as_waves(product)


def number_of(expr: Expr) -> complex | None:
    """The value of an expression of constants."""
    found = fold(expr, lambda node, parts: _wave(node, parts))
    return None if found is None or found.plain is None else found.plain.number


def _wave(node: Expr, parts: tuple[Waves | None, ...]) -> Waves | None:
    if any(part is None for part in parts):
        return None
    known = [part for part in parts if part is not None]
    match node:
        case Const(value):
            return Waves(PhasePolynomial.constant(complex(value)))
        case Parameter(name=name) | Variable(name=name):
            return Waves(PhasePolynomial.name(name))
        case CastExpr(operand, dtype):
            index = operand.dtype.kind in "iu" and dtype == Long
            return known[0] if dtype.kind in "fc" or index else None
        case Unary("-"):
            return _times(known[0], Waves(PhasePolynomial.constant(-1)))
        case Call(function):
            return _function(function, known[0])
        case Binary("+"):
            return _plus(known[0], known[1])
        case Binary("-"):
            negative = _times(known[1], Waves(PhasePolynomial.constant(-1)))
            return None if negative is None else _plus(known[0], negative)
        case Binary("*"):
            return _times(known[0], known[1])
        case Binary("/"):
            inverse = None if known[1].plain is None else known[1].plain.inverse()
            return None if inverse is None else _times(known[0], Waves(inverse))
        case Binary("//"):
            form = affine_form(node)
            return None if form is None else Waves(PhasePolynomial.affine(form))
        case Binary("%") if known[0].plain is not None and known[1].plain is not None:
            return Waves(_reduced(known[0].plain, known[1].plain, structure(node)))
        case _:
            return None


def _function(function: str, argument: Waves) -> Waves | None:
    if function == "conj" and argument.plain is None:
        waves = tuple((-phase, complex(c).conjugate()) for phase, c in argument.waves)
        return Waves(None, waves)
    if function not in ("exp", "cos", "sin") or argument.plain is None:
        return None
    turned = argument.plain if function != "exp" else argument.plain * PhasePolynomial.constant(-1j)
    if any(abs(c.imag) > TOLERANCE * abs(c) for _, c in turned.terms):
        return None
    phase = PhasePolynomial.of(
        {powers: c.real for powers, c in turned.terms if not _is_turns(powers, c.real)}
    )
    match function:
        case "exp":
            waves = ((phase, 1 + 0j),)
        case "cos":
            waves = ((phase, 0.5 + 0j), (-phase, 0.5 + 0j))
        case _:
            waves = ((phase, -0.5j), (-phase, 0.5j))
    return Waves(None, waves)


def _reduced(value: PhasePolynomial, modulus: PhasePolynomial, text: str) -> PhasePolynomial:
    """value % modulus: the value less a whole number of times the modulus; that number has a name."""
    if len(modulus.terms) > 1:
        modulus = modulus.as_name()
    return value + -(modulus * PhasePolynomial.name(f"{_TIMES}{text}"))


def _is_turns(powers: Powers, coefficient: float) -> bool:
    """Whether a term of a phase is a whole number of whole turns."""
    if len(powers) != 1 or powers[0][1] != 1 or not powers[0][0].startswith(_TIMES):
        return False
    return _is_whole(coefficient / math.tau)


def _is_whole(turns: float) -> bool:
    return round(turns) != 0 and math.isclose(turns, round(turns), rel_tol=TOLERANCE)


def _as_waves(value: Waves) -> Waves | None:
    if value.plain is None:
        return value
    number = value.plain.number
    return None if number is None else Waves(None, ((PhasePolynomial(), number),))


def _times(left: Waves | None, right: Waves | None) -> Waves | None:
    if left is None or right is None:
        return None
    if left.plain is not None and right.plain is not None:
        return Waves(left.plain * right.plain)
    one, other = _as_waves(left), _as_waves(right)
    if one is None or other is None:
        return None
    return Waves(None, _merged((p + q, c * d) for p, c in one.waves for q, d in other.waves))


def _plus(left: Waves, right: Waves) -> Waves | None:
    if left.plain is not None and right.plain is not None:
        return Waves(left.plain + right.plain)
    one, other = _as_waves(left), _as_waves(right)
    if one is None or other is None:
        return None
    return Waves(None, _merged((*one.waves, *other.waves)))


def _merged(waves: Iterable[tuple[PhasePolynomial, complex]]) -> tuple[tuple[PhasePolynomial, complex], ...]:
    """Waves of equal phase added; those that cancel are left out, however small the others are."""
    found: list[tuple[PhasePolynomial, complex, float]] = []  # with the sum of magnitudes
    for phase, c in waves:
        position = next((n for n, (known, *_) in enumerate(found) if known.is_near(phase)), None)
        if position is None:
            found.append((phase, c, abs(c)))
        else:
            known, total, size = found[position]
            found[position] = (known, total + c, size + abs(c))
    return tuple((phase, c) for phase, c, size in found if abs(c) > TOLERANCE * size)


def sum_of_waves(parts: Iterable[Waves]) -> Waves:
    """The sum of some, each already waves."""
    return Waves(None, _merged(wave for part in parts for wave in part.waves))


def scaled(value: Waves, factor: complex) -> Waves:
    """Waves times a number."""
    return Waves(None, tuple((phase, c * factor) for phase, c in value.waves))
