"""Logarithms, those of 1 + x, and inverse hyperbolic functions: the C text, for both types."""

from __future__ import annotations

from polymat.codegen.functions.kind import SINGLE, WIDE, Kind
from polymat.codegen.functions.polynomials import estrin

BASES = {"log": 0, "log2": 2, "log10": 10}  # 0: of the natural one
SMALL_LOGARITHMS = ("log1p", "asinh", "acosh", "atanh")  # each by the first
_NUMBERS = {
    SINGLE: {
        "LN2HI": "0x1.62e42ep-1",
        "LN2LO": "0x1.efa39ep-25",
        "LOG2E": "0x1.715476p+0",
        "LG2HI": "0x1.3441340000000p-2",
        "LG2LO": "0x1.09f79e0000000p-26",
        "LG10E": "0x1.bcb7b2p-2",
        "HALF": "0.5",
    },
    WIDE: {
        "LN2HI": "0x1.62e42fefa39efp-1",
        "LN2LO": "0x1.abc9e3b39803fp-56",
        "LOG2E": "0x1.71547652b82fep+0",
        "LG2HI": "0x1.34413509f79fep-2",
        "LG2LO": "0x1.e623e2566b02dp-55",
        "LG10E": "0x1.bcb7b1526e50ep-2",
        "HALF": "0.5",
    },
}
_TEXTS = {
    SINGLE: {
        "RAISE": "25u",
        "ROOT": "0x3f3504f3u",
        "INFINITE": "0x7f800000u",
    },
    WIDE: {
        "RAISE": "54u",
        "ROOT": "0x3fe6a09e667f3bcdu",
        "INFINITE": "0x7ff0000000000000u",
    },
}
_LARGE = {SINGLE: {"LARGE": "0x1p+30"}, WIDE: {"LARGE": "0x1p+60"}}
# float: (log(1 + f) - f) / f**2.  double: log((1 + s) / (1 - s)) = 2 s + s**3 P(s**2).
_POLYNOMIALS = {
    SINGLE: (
        "-0.5",
        "0x1.555546p-2",
        "-0.25",
        "0x1.99a562p-3",
        "-0x1.555f04p-3",
        "0x1.232dd8p-3",
        "-0x1.fbc1a4p-4",
        "0x1.e71054p-4",
        "-0x1.e056a4p-4",
        "0x1.1690bap-4",
    ),
    WIDE: (
        "0x1.555555555558dp-1",
        "0x1.999999998142ep-2",
        "0x1.24924940e7b95p-2",
        "0x1.c71c52c508368p-3",
        "0x1.74661c838bbd9p-3",
        "0x1.39a4e1ec11f8cp-3",
        "0x1.2ee81c12293a3p-3",
    ),
}


def _polynomial(kind: Kind) -> str:
    """The polynomial of logarithms, in C."""
    variables = {SINGLE: ("f", ("z",)), WIDE: ("z", ("w",))}[kind]
    return estrin(_POLYNOMIALS[kind], *variables, kind.tail)


def logarithm(kind: Kind, name: str) -> str:
    """The C text of one of `SMALL_LOGARITHMS` for a type."""
    texts = {
        **_TEXTS[kind],
        "LOGARITHM": f"_pm_{name}_{kind.suffix}",
        "BASE": BASES[name],
        "POLYNOMIAL": _polynomial(kind),
    }
    return kind.text("logarithm", _NUMBERS[kind], texts)


def small_logarithm(kind: Kind, name: str) -> str:
    """The C text of one of `SMALL_LOGARITHMS` for a type."""
    texts = {**_TEXTS[kind], "POLYNOMIAL": _polynomial(kind)}
    return kind.text("log1p", _NUMBERS[kind] | _LARGE[kind], texts, only=(name,))
