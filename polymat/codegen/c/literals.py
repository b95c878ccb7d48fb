"""Constants as C text."""

from __future__ import annotations

import math

import numpy as np

from polymat.codegen.c.ctree import Cast, CBinary, CCall, CExpr, CUnary, Literal
from polymat.lang.types import BFloat16, Double, Float, Half, Long, ScalarType, to_bfloat16


def literal(value: complex, dtype: ScalarType) -> CExpr:
    """A constant of a type; floats print with all the digits they need."""
    if dtype.kind == "c":
        part = Float if dtype.dtype == "complex64" else Double
        number = complex(value)
        return CCall("__builtin_complex", (literal(number.real, part), literal(number.imag, part)))
    if dtype == Half:
        return Literal(str(int(np.float16(value.real).view(np.uint16))))
    if dtype == BFloat16:
        return Literal(str(int(to_bfloat16(value.real))))
    if dtype.kind == "f":
        return _float_literal(float(value.real), dtype)
    number_text = int(value.real)
    if dtype.size < 4:
        return Cast(dtype.c, Literal(str(number_text)))
    if dtype.kind == "u":
        return Literal(f"{number_text}u")
    suffix = "LL" if dtype == Long or (dtype.weak and abs(number_text) >= 2**31) else ""
    if number_text == -(2**63 if suffix else 2**31):  # C reads it without the minus, which takes more bits
        return CBinary("-", Literal(f"{number_text + 1}{suffix}"), Literal("1"))
    return Literal(f"{number_text}{suffix}")


def _float_literal(value: float, dtype: ScalarType) -> CExpr:
    suffix = "f" if dtype.dtype == "float32" else ""
    if math.isnan(value):
        return CCall(f"__builtin_nan{suffix}", (Literal('""'),))
    if math.isinf(value):
        infinity: CExpr = CCall(f"__builtin_inf{suffix}", ())
        return infinity if value > 0 else CUnary("-", infinity)
    text = repr(value)
    if "." not in text and "e" not in text:
        text += ".0"
    return Literal(text + suffix)


def conversion(source: ScalarType, target: ScalarType) -> str:
    """The function between a Float and the sixteen bits that it is stored in: all that the language has."""
    assert Float in (source, target), f"{source} becomes {target} at once"
    stored = "half" if Half in (source, target) else "bfloat16"
    return f"_pm_{'narrowed' if source == Float else 'widened'}_{stored}"
