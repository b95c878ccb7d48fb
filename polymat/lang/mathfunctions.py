"""Scalar functions, named as in PolyMage; of whole arrays they are taken element by element."""

from __future__ import annotations

from typing import Any

from polymat.lang.expr import Expr, binary, call
from polymat.lang.whole import Elementwise, elementwise


def _function(name: str, meaning: str) -> Elementwise[[Any]]:
    def apply(x: Any) -> Expr:
        return call(name, x)

    apply.__name__ = apply.__qualname__ = name.capitalize()
    apply.__doc__ = f"{meaning}, as in NumPy: small integers give Float, other integers Double."
    return elementwise(apply)


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


@elementwise
def Abs(x: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """Absolute value; of a complex value its modulus."""
    return call("abs", x)


@elementwise
def Floor(x: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """Largest integer not above x, in x's type."""
    return call("floor", x)


@elementwise
def Ceil(x: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """Smallest integer not below x, in x's type."""
    return call("ceil", x)


@elementwise
def Sign(x: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """-1, 0 or 1, in x's type; NaN stays NaN."""
    return call("sign", x)


@elementwise
def Conj(x: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """Complex conjugate."""
    return call("conj", x)


@elementwise
def Real(x: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """Real part."""
    return call("real", x)


@elementwise
def Imag(x: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """Imaginary part."""
    return call("imag", x)


@elementwise
def Pow(x: Any, y: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """Power x ** y; of integers an integer."""
    return binary("**", x, y)


@elementwise
def Min(first: Any, second: Any, *more: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """Smallest of the arguments; NaN if any is NaN, as numpy.minimum."""
    result = binary("min", first, second)
    for value in more:
        result = binary("min", result, value)
    return result


@elementwise
def Max(first: Any, second: Any, *more: Any) -> Expr:  # noqa: N802 (PolyMage's name)
    """Largest of the arguments; NaN if any is NaN, as numpy.maximum."""
    result = binary("max", first, second)
    for value in more:
        result = binary("max", result, value)
    return result
