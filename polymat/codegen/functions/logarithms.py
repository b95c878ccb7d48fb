"""Logarithms and what is made of them: the C text, for both types."""

from __future__ import annotations

from polymat.codegen.functions.kind import SINGLE, WIDE, Kind
from polymat.codegen.functions.polynomials import estrin

# x = 2**k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2); a subnormal number is first multiplied by 2**$RAISE.
# What is no positive finite number has its result in k: -inf for 0, NaN below, itself else.
_SPLIT = """\
    const $U low = -($U)(x < $TINY) & $RAISE;
    const $U b = $BITS(x * $OF((low << $M) + $ONE)) + ($ONE - $ROOT);
    const $T special = x < 0 ? $NAN : (x - 1) * $INF;
    const $T k = $BITS(x) - 1 < $INFINITE - 1 ? $EXPONENT : special;
    const $T f = $OF((b & (((($U)1 << $M)) - 1)) + $ROOT) - 1;
"""
_LOG_SINGLE = """\
    const $T z = f * f, p = $POLYNOMIAL;
    const $T rest = z * p;
"""
# With s = f / (2 + f): log(1 + f) = f - (h - s (h + R)), h = f**2 / 2.
_LOG_WIDE = """\
    const $T s = f / (2 + f), z = s * s, w = z * z, h = $HALF * f * f;
    const $T p = $POLYNOMIAL;
    const $T rest = $FMA(s, $FMA(z, p, h), -h);
"""
# log(1 + f) = f + rest, in units of the base's logarithm.
_RESULTS = {
    "log": "$FMA(k, $LN2HI, $FMA(k, $LN2LO, rest) + f)",
    "log2": "$FMA(rest + f, $LOG2E, k)",
    "log10": "$FMA(k, $LG2HI, $FMA(rest + f, $LG10E, k * $LG2LO))",
}
_SERIES = {SINGLE: _LOG_SINGLE, WIDE: _LOG_WIDE}
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
        "EXPONENT": "($T)((int32_t)((b >> $M) - low) - 127)",
    },
    # Of 64 bits AVX2 converts none: the exponent becomes a number as the lowest bits of one.
    WIDE: {
        "RAISE": "54u",
        "ROOT": "0x3fe6a09e667f3bcdu",
        "INFINITE": "0x7ff0000000000000u",
        "EXPONENT": "$OF((b >> $M) - low + 0x4330000000000040u) - (0x1p+52 + (1023 + 64))",
    },
}
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


def logarithms(kind: Kind) -> dict[str, str]:
    """The C text of each function of this module for a type."""
    variables = {SINGLE: ("f", ("z",)), WIDE: ("z", ("w",))}[kind]
    texts = {"POLYNOMIAL": estrin(_POLYNOMIALS[kind], *variables, kind.tail)}
    texts |= {name: kind.text(text, {}) for name, text in _TEXTS[kind].items()}
    return {
        name: kind.text(
            f"static inline $T _pm_{name}_$S($T x)\n{{\n{_SPLIT}{_SERIES[kind]}    return {result};\n}}\n",
            _NUMBERS[kind],
            texts,
        )
        for name, result in _RESULTS.items()
    }
