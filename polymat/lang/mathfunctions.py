"""Scalar functions, named as in PolyMage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polymat.lang.expr import Expr, binary, call


def _function(name: str, meaning: str) -> Callable[[Any], Expr]:
    def apply(x: Any) -> Expr:
        return call(name, x)

    apply.__name__ = apply.__qualname__ = name.capitalize()
    apply.__doc__ = f"{meaning}, as in NumPy: small integers give Float, other integers Double."
    return apply


Sin = _function("sin", "Sine of an angle in radians")
Cos = _function("cos", "Cosine of an angle in radians")
Tan = _function("tan", "Tangent of an angle in radians")
Asin = _function("asin", "Inverse sine in radians")
Acos = _function("acos", "Inverse cosine in radians")
Atan = _function("atan", "Inverse tangent in radians")
Sinh = _function("sinh", "Hyperbolic sine")
Cosh = _function("cosh", "Hyperbolic cosine")
Tanh = _function("tanh", "Hyperbolic tangent")
Exp = _function("exp", "Exponential")
Log = _function("log", "Natural logarithm")
Sqrt = _function("sqrt", "Square root")

I0 = _function("i0", "Modified Bessel function of the first kind and order 0")


def Abs(x: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """Absolute value; of a complex value its modulus."""
    return call("abs", x)


def Floor(x: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """Largest integer not above x, in x's type."""
    return call("floor", x)


def Ceil(x: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """Smallest integer not below x, in x's type."""
    return call("ceil", x)


def Sign(x: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """-1, 0 or 1, in x's type; NaN stays NaN."""
    return call("sign", x)


def Conj(x: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """Complex conjugate."""
    return call("conj", x)


def Real(x: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """Real part."""
    return call("real", x)


def Imag(x: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """Imaginary part."""
    return call("imag", x)


def Pow(x: Any, y: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """Power x ** y; of integers an integer."""
    return binary("**", x, y)


def Min(first: Any, second: Any, *more: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """Smallest of the arguments; NaN if any is NaN, as numpy.minimum."""
    result = binary("min", first, second)
    for value in more:
        result = binary("min", result, value)
    return result


def Max(first: Any, second: Any, *more: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """Largest of the arguments; NaN if any is NaN, as numpy.maximum."""
    result = binary("max", first, second)
    for value in more:
        result = binary("max", result, value)
    return result
