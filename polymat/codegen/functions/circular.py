"""Sines and cosines: the C text, for both types, with the numbers of the header `functions/circular`."""

from __future__ import annotations

from polymat.codegen.functions.called import called, versions
from polymat.codegen.functions.kind import SINGLE, WIDE, Kind
from polymat.codegen.functions.polynomials import estrin

CIRCULAR = ("sin", "cos")
_NUMBERS = {
    SINGLE: {
        "LIMIT": "1e5",
        "HALF": "0.5",
        "PER": "0x1.45f306p-2",
        "PI1": "0x1.921fb4p+1",
        "PI2": "0x1.4442d0p-23",
        "PI3": "0x1.846988p-47",
    },
    WIDE: {
        "LIMIT": "1e9",
        "HALF": "0.5",
        "PER": "0x1.45f306dc9c883p-2",
        "PI1": "0x1.921fb54442d18p+1",
        "PI2": "0x1.1a62633145c06p-53",
        "PI3": "0x1.c1cd129024e08p-106",
    },
}
# (sin(r) / r - 1) / r**2 in powers of r**2, on |r| <= pi / 2.
_SINES = {
    SINGLE: ("-0x1.555556p-3", "0x1.11110cp-7", "-0x1.a017e4p-13", "0x1.717198p-19", "-0x1.9a7d36p-26"),
    WIDE: (
        "-0x1.5555555555555p-3",
        "0x1.1111111111111p-7",
        "-0x1.a01a01a019fe1p-13",
        "0x1.71de3a5569fb9p-19",
        "-0x1.ae64567d69e2ep-26",
        "0x1.612460553b4c9p-33",
        "-0x1.ae7eba83dbf62p-41",
        "0x1.94feb7e20b715p-49",
        "-0x1.26818eeebd6e4p-57",
    ),
}


def circular(kind: Kind, name: str) -> str:
    """The C text of one of these functions for a type."""
    texts = {"SINE": estrin(_SINES[kind], "z", ("w",), kind.tail)}
    near = kind.text("circular", _NUMBERS[kind], texts, only=(f"{name}_near",))
    return f"{near}\n{called(kind, name)}\n{versions(kind, name)}"
