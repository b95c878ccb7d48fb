"""Exponentials and what is made of them: the C text, for both types."""

from __future__ import annotations

from polymat.codegen.functions.kind import SINGLE, WIDE, Kind
from polymat.codegen.functions.polynomials import estrin
from polymat.codegen.functions.powers import POWERS_OF_TWO

EXPONENTIALS = ("exp", "exp2", "expm1", "tanh")
LOGARITHMS_OF_TWO = {
    SINGLE: {
        "LOG2E": "0x1.715476p+0",
        "LN2HI": "0x1.62e430p-1",
        "LN2LO": "-0x1.05c610p-29",
    },
    WIDE: {
        "LOG2E": "0x1.71547652b82fep+0",
        "LN2HI": "0x1.62e42fefa39efp-1",
        "LN2LO": "0x1.abc9e3b39803fp-56",
    },
}
_NUMBERS = {
    SINGLE: {
        "LOW": "-104.0",
        "LOW2": "-152.0",
        "HIGH2": "129.0",
        "NOTHING": "24.0",
        "HALF": "0.5",
        "HIGH": "89.0",
        "FAR": "10.0",
    },
    WIDE: {
        "LOW": "-746.0",
        "LOW2": "-1077.0",
        "HIGH2": "1025.0",
        "NOTHING": "44.0",
        "HALF": "0.5",
        "HIGH": "710.0",
        "FAR": "20.0",
    },
}
# (e**r - 1 - r) / r**2 on |r| <= log(2) / 2: so that e**r has the least relative error, and e**r - 1 has.
_POLYNOMIALS = {
    SINGLE: ("0.5", "0x1.555490p-3", "0x1.555460p-5", "0x1.123afcp-7", "0x1.6db2dap-10"),
    WIDE: (
        "0x1.000000000000cp-1",
        "0x1.555555555555cp-3",
        "0x1.555555554fe23p-5",
        "0x1.111111110eabfp-7",
        "0x1.6c16c18601fbap-10",
        "0x1.a01a01b40924ap-13",
        "0x1.a01995c69b213p-16",
        "0x1.71ddeeed0ebb1p-19",
        "0x1.28b0ece3c8a52p-22",
        "0x1.af6dcb9301b44p-26",
    ),
}
_FRACTIONS = {
    SINGLE: ("0.5", "0x1.5554b0p-3", "0x1.555486p-5", "0x1.1227ccp-7", "0x1.6d98fcp-10"),
    WIDE: (
        "0x1.0000000000005p-1",
        "0x1.5555555555559p-3",
        "0x1.55555555520a3p-5",
        "0x1.111111110f63ep-7",
        "0x1.6c16c17f46e0ep-10",
        "0x1.a01a01b00c367p-13",
        "0x1.a019a66052c22p-16",
        "0x1.71ddf7fab3e64p-19",
        "0x1.28a2cb1c3bc34p-22",
        "0x1.af5f4da4b1cdbp-26",
    ),
}


def exponential(kind: Kind, name: str) -> str:
    """The C text of one of these functions for a type."""
    texts = {
        "POLYNOMIAL": estrin(_POLYNOMIALS[kind], "r", ("z",), kind.tail),
        "POWER": estrin(POWERS_OF_TWO[kind], "r", ("z",), kind.tail),
        "FRACTION": estrin(_FRACTIONS[kind], "r", ("z",), kind.tail),
    }
    return kind.text("exponentials", _NUMBERS[kind] | LOGARITHMS_OF_TWO[kind], texts, only=(name,))
