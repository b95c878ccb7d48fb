"""Sines and cosines: the C text, for both types.

Multiples of pi are taken off in three steps of fused multiply-adds, the first of which is exact; beyond
$LIMIT that would need more.
"""

from __future__ import annotations

from polymat.codegen.functions.called import called
from polymat.codegen.functions.kind import SINGLE, WIDE, Kind
from polymat.codegen.functions.polynomials import estrin

_SIN = """\
static inline $T _pm_sin_near_$S($T x, $U *far)
{
    *far |= ($U)!($ABS(x) <= $LIMIT);
    const $T whole = $FMA(x, $PER, $MAGIC), n = whole - $MAGIC;
    const $T r = $FMA(n, -$PI3, $FMA(n, -$PI2, $FMA(n, -$PI1, x)));
    const $T z = r * r, w = z * z;
    const $T s = $FMA(r * z, $SINE, r);
    return $OF(($BITS(s) | ($BITS(r) & ($U)1 << $LAST)) ^ ($BITS(whole) << $LAST));
}
"""
# cos(x) = sin(x + pi / 2), with an odd multiple of pi / 2 taken off.
_COS = """\
static inline $T _pm_cos_near_$S($T x, $U *far)
{
    *far |= ($U)!($ABS(x) <= $LIMIT);
    const $T whole = $FMA(x, $PER, -$HALF) + $MAGIC, n = $FMA(2, whole - $MAGIC, 1);
    const $T r = $FMA(n, -$PI3 / 2, $FMA(n, -$PI2 / 2, $FMA(n, -$PI1 / 2, x)));
    const $T z = r * r, w = z * z;
    const $T s = $FMA(r * z, $SINE, r);
    return $OF($BITS(s) ^ (~$BITS(whole) << $LAST));
}
"""
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


def circular(kind: Kind) -> dict[str, str]:
    """The C text of each function of this module for a type."""
    texts = {"SINE": estrin(_SINES[kind], "z", ("w",), kind.tail), "LAST": str(kind.size - 1)}
    return {
        name: f"{kind.text(near, _NUMBERS[kind], texts)}\n{called(kind, name)}"
        for name, near in (("sin", _SIN), ("cos", _COS))
    }
