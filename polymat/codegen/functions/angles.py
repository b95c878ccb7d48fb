"""Inverse functions of angles: the C text, for both types."""

from __future__ import annotations

from polymat.codegen.functions.kind import SINGLE, WIDE, Kind
from polymat.codegen.functions.polynomials import estrin

BY_ANGLE = ("angle", "atan", "asin", "acos", "atan2")  # each by the first
_NUMBERS = {
    SINGLE: {
        "EIGHTH": "0x1.a8279ap-2",
        "LARGE": "0x1p+126",
        "QUARTER": "0.25",
        "SMALL": "0x1p-100",
        "RAISED": "0x1p+60",
        "PI1": "0x1.921fb6p-1",
        "PI2": "-0x1.777a5cp-26",
    },
    WIDE: {
        "EIGHTH": "0x1.a827999fcef32p-2",
        "LARGE": "0x1p+1022",
        "QUARTER": "0.25",
        "SMALL": "0x1p-960",
        "RAISED": "0x1p+60",
        "PI1": "0x1.921fb54442d18p-1",
        "PI2": "0x1.1a62633145c07p-55",
    },
}
# (atan(t) / t - 1) / t**2 in powers of t**2, on |t| <= tan(pi / 8).
_ARCS = {
    SINGLE: ("-0x1.55554ap-2", "0x1.9991e6p-3", "-0x1.23ba0ap-3", "0x1.b22aecp-4", "-0x1.f30780p-5"),
    WIDE: (
        "-0x1.555555555553dp-2",
        "0x1.999999999589bp-3",
        "-0x1.24924922af0d1p-3",
        "0x1.c71c70e6c989fp-4",
        "-0x1.745cf8f1d5f39p-4",
        "0x1.3b111a9421049p-4",
        "-0x1.10ebc8631c4e0p-4",
        "0x1.df102a47cfec3p-5",
        "-0x1.9cd66ecf11d87p-5",
        "0x1.37de659c535d3p-5",
        "-0x1.257c1505c3386p-6",
    ),
}


def angle(kind: Kind, name: str) -> str:
    """The C text of one of these functions for a type."""
    texts = {"ARC": estrin(_ARCS[kind], "z", ("w",), kind.tail)}
    return kind.text("angle", _NUMBERS[kind], texts, only=(name,))
