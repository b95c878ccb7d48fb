"""Hyperbolic sines and cosines: the C text, for both types."""

from __future__ import annotations

from polymat.codegen.functions.exponentials import LOGARITHMS_OF_TWO
from polymat.codegen.functions.kind import SINGLE, WIDE, Kind
from polymat.codegen.functions.polynomials import estrin

HYPERBOLIC = ("hyperbolic", "sinh", "cosh")  # each by the first, which is both
_NUMBERS = {
    SINGLE: {"MOST": "89.5", "NOTHING": "24.0", "LEAST": "0x1p-12"},
    WIDE: {"MOST": "710.5", "NOTHING": "44.0", "LEAST": "0x1p-27"},
}
# (sinh(r) / r - 1) / r**2 and (cosh(r) - 1) / r**2 in powers of r**2, on |r| <= log(2) / 2.
_SINES = {
    SINGLE: ("0x1.5554aep-3", "0x1.12294ep-7"),
    WIDE: (
        "0x1.5555555555559p-3",
        "0x1.111111110f624p-7",
        "0x1.a01a01b0250c7p-13",
        "0x1.71ddf79e14545p-19",
        "0x1.af601c8009258p-26",
    ),
}
_COSINES = {
    SINGLE: ("0.5", "0x1.5554e6p-5", "0x1.6d4f46p-10"),
    WIDE: (
        "0x1.000000000000cp-1",
        "0x1.555555554fd67p-5",
        "0x1.6c16c1863e174p-10",
        "0x1.a01994ffd2ed0p-16",
        "0x1.28b1bda42a34bp-22",
    ),
}


def hyperbolic(kind: Kind, name: str) -> str:
    """The C text of one of these functions for a type."""
    texts = {
        "SINH": estrin(_SINES[kind], "z", (), kind.tail),
        "COSH": estrin(_COSINES[kind], "z", (), kind.tail),
    }
    return kind.text("hyperbolic", _NUMBERS[kind] | LOGARITHMS_OF_TWO[kind], texts, only=(name,))
