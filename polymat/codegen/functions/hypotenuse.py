"""The length of a vector of two coordinates: the C text, for both types."""

from __future__ import annotations

from polymat.codegen.functions.kind import SINGLE, WIDE, Kind

_NUMBERS = {
    SINGLE: {"LARGE": "0x1p+62", "SMALL": "0x1p-50", "RAISED": "0x1p+90", "LOWERED": "0x1p-90"},
    WIDE: {"LARGE": "0x1p+510", "SMALL": "0x1p-450", "RAISED": "0x1p+600", "LOWERED": "0x1p-600"},
}


def length_of_two(kind: Kind, name: str) -> str:
    """`hypot`, by the root of a sum of squares that are scaled where they would overflow or vanish."""
    return kind.text(name, _NUMBERS[kind])
