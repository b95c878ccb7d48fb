"""Scalar functions, named as in PolyMage; of whole arrays they are taken element by element."""

from __future__ import annotations

from typing import Any, overload

from polymat.lang.condition import Condition
from polymat.lang.expr import Expr, binary, call
from polymat.lang.function import Source
from polymat.lang.whole import Elementwise, Mask, elementwise


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

Asinh = _function("asinh", "Inverse hyperbolic sine")
Acosh = _function("acosh", "Inverse hyperbolic cosine")
Atanh = _function("atanh", "Inverse hyperbolic tangent")
Exp2 = _function("exp2", "Power of two")
Expm1 = _function("expm1", "Exponential less 1, exact near 0")
Log1p = _function("log1p", "Natural logarithm of 1 + x, exact near 0")
Log2 = _function("log2", "Logarithm to base 2")
Log10 = _function("log10", "Logarithm to base 10")
Cbrt = _function("cbrt", "Cube root, also of negative numbers")
Erf = _function("erf", "Error function 2 / sqrt(pi) * integral of exp(-t**2) from 0 to x")
Sigmoid = _function("sigmoid", "Logistic function 1 / (1 + exp(-x)), exact on both sides")

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


@elementwise
def Round(x: Any) -> Expr:  # noqa: N802 (PolyMage's way)
    """Nearest integer, in x's type; halves go to the even one, as in NumPy."""
    return call("round", x)


@elementwise
def Atan2(y: Any, x: Any) -> Expr:  # noqa: N802 (PolyMage's way)
    """Angle of the point (x, y) in radians, from -pi to pi; the y coordinate comes first, as in NumPy."""
    return binary("atan2", y, x)


@elementwise
def Hypot(x: Any, y: Any) -> Expr:  # noqa: N802 (PolyMage's way)
    """Length of the vector (x, y), without overflow on the way."""
    return binary("hypot", x, y)


@elementwise
def Clamp(x: Any, low: Any, high: Any) -> Expr:  # noqa: N802 (PolyMage's way)
    """Min(Max(x, low), high); NaN stays NaN."""
    return binary("min", binary("max", x, low), high)


@overload
def IsNaN(x: Source) -> Mask: ...
@overload
def IsNaN(x: Any) -> Condition: ...
def IsNaN(x: Any) -> Condition | Mask:  # noqa: N802 (PolyMage's way)
    """The condition that x is NaN, for a Case or a Select; of a complex value: that a part is."""
    return Condition(x, "!=", x)
