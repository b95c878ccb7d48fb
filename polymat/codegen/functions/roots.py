"""Cube roots and lengths of vectors of two coordinates: the C text, for both types."""

from __future__ import annotations

from polymat.codegen.functions.kind import SINGLE, WIDE, Kind
from polymat.codegen.functions.polynomials import estrin

_NUMBERS = {
    SINGLE: {
        "THIRD": "0x1.555556p-2",
        "ROOT1": "-0x1.d2150cp-3",
        "ROOT2": "0x1.5ca5b0p-6",
        "BENT1": "0x1.c71c72p-3",
        "BENT2": "0x1.61f9aep-3",
        "HALF": "0.5",
    },
    WIDE: {
        "THIRD": "0x1.5555555555555p-2",
        "ROOT1": "-0x1.d2150c92f7332p-3",
        "ROOT2": "0x1.5ca5af129611ep-6",
        "BENT1": "0x1.c71c71c71c71cp-3",
        "BENT2": "0x1.61f9add3c0ca4p-3",
        "HALF": "0.5",
    },
}
_TEXTS = {
    SINGLE: {"RAISE": "24u", "INFINITE": "0x7f800000u"},
    WIDE: {"RAISE": "54u", "INFINITE": "0x7ff0000000000000u"},
}
# What is squared is kept within the square roots of the largest and the least number.
_SCALES = {
    SINGLE: {"LARGE": "0x1p+62", "SMALL": "0x1p-50", "RAISED": "0x1p+90", "LOWERED": "0x1p-90"},
    WIDE: {"LARGE": "0x1p+510", "SMALL": "0x1p-450", "RAISED": "0x1p+600", "LOWERED": "0x1p-600"},
}
# m**(-1 / 3) on 1 <= m <= 2, to 2**-12 and 2**-17.
_RECIPROCALS = {
    SINGLE: ("0x1.8ab91cp+0", "-0x1.9eb328p-1", "0x1.456238p-2", "-0x1.99156ap-5"),
    WIDE: (
        "0x1.c7f3645956337p+0",
        "-0x1.90e7492c19eb1p+0",
        "0x1.3e68ccf026714p+0",
        "-0x1.321c7d7f01b84p-1",
        "0x1.3fa2912cf02c1p-3",
        "-0x1.16d712fd99c43p-6",
    ),
}


def cube_root(kind: Kind, name: str) -> str:
    """The C text of `cbrt` for a type."""
    texts = {**_TEXTS[kind], "RECIPROCAL": estrin(_RECIPROCALS[kind], "m", ("z",), kind.tail)}
    return kind.text("cuberoot", _NUMBERS[kind], texts)


def length_of_two(kind: Kind, name: str) -> str:
    """`hypot`, by the root of a sum of squares that are scaled where they would overflow or vanish."""
    return kind.text(name, _SCALES[kind])
