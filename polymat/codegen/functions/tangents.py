"""Tangents: the C text, for both types, with the numbers of the header `functions/tangent`."""

from __future__ import annotations

from polymat.codegen.functions.called import called, versions
from polymat.codegen.functions.kind import SINGLE, WIDE, Kind
from polymat.codegen.functions.polynomials import estrin

_NUMBERS = {
    SINGLE: {
        "LIMIT": "1e5",
        "HALF": "0.5",
        "PER": "0x1.45f306p-1",
        "PI1": "0x1.921fb4p+0",
        "PI2": "0x1.4442d0p-24",
        "PI3": "0x1.846988p-48",
    },
    WIDE: {
        "LIMIT": "1e9",
        "HALF": "0.5",
        "PER": "0x1.45f306dc9c883p-1",
        "PI1": "0x1.921fb54442d18p+0",
        "PI2": "0x1.1a62633145c06p-54",
        "PI3": "0x1.c1cd129024e08p-107",
    },
}
# (sin(r) / r - 1) / r**2 and (cos(r) - 1 + r**2 / 2) / r**4 in powers of r**2, on |r| <= pi / 4.
_SINES = {
    SINGLE: ("-0x1.555546p-3", "0x1.11077ap-7", "-0x1.9954a4p-13"),
    WIDE: (
        "-0x1.5555555555549p-3",
        "0x1.111111110f892p-7",
        "-0x1.a01a019c121dep-13",
        "0x1.71de3576c1e11p-19",
        "-0x1.ae5e64ad3b71fp-26",
        "0x1.5d925f49ef3a6p-33",
    ),
}
_COSINES = {
    SINGLE: ("0x1.55554ap-5", "-0x1.6c0c1ap-10", "0x1.99e0dap-16"),
    WIDE: (
        "0x1.555555555554cp-5",
        "-0x1.6c16c16c15210p-10",
        "0x1.a01a019cbcdbbp-16",
        "-0x1.27e4f81049c4ep-22",
        "0x1.1ee9ef571a06ap-29",
        "-0x1.8fb0047ea93bdp-37",
    ),
}


def tangent(kind: Kind, name: str) -> str:
    """The C text of `tan` for a type."""
    texts = {
        "SINE": estrin(_SINES[kind], "z", ("w",), kind.tail),
        "COSINE": estrin(_COSINES[kind], "z", ("w",), kind.tail),
    }
    near = kind.text("tangent", _NUMBERS[kind], texts)
    return f"{near}\n{called(kind, name)}\n{versions(kind, name)}"
