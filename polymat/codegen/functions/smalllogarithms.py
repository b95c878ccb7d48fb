"""The logarithm of 1 + x and inverse hyperbolic functions: the C text, for both types."""

from __future__ import annotations

from polymat.codegen.functions.kind import SINGLE, WIDE, Kind
from polymat.codegen.functions.logarithms import LOGARITHM_NUMBERS, LOGARITHM_TEXTS, logarithm_polynomial

SMALL_LOGARITHMS = ("log1p", "asinh", "acosh", "atanh")  # each by the first
_LARGE = {SINGLE: {"LARGE": "0x1p+30"}, WIDE: {"LARGE": "0x1p+60"}}


def small_logarithm(kind: Kind, name: str) -> str:
    """The C text of one of these functions for a type."""
    texts = {**LOGARITHM_TEXTS[kind], "POLYNOMIAL": logarithm_polynomial(kind)}
    return kind.text("log1p", LOGARITHM_NUMBERS[kind] | _LARGE[kind], texts, only=(name,))
