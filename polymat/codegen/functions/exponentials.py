"""Exponentials and what is made of them: the C text, for both types."""

from __future__ import annotations

from polymat.codegen.functions.kind import SINGLE, WIDE, Kind
from polymat.codegen.functions.polynomials import estrin
from polymat.codegen.functions.powers import POWERS_OF_TWO

# e**x = 2**n e**r with an integer n and |r| <= log(2) / 2.  2**n is multiplied in two halves, so that neither
# overflows, and a subnormal result is rounded once.
_EXP = """\
static inline $T _pm_exp_$S($T x)
{
    const $T y = x < $LOW ? $LOW : x;
    const $T both = $FMA(y, $LOG2E, $MAGIC + 2 * $BIAS), half = $FMA(y, $LOG2E / 2, $MAGIC + $BIAS);
    const $T n = both - ($MAGIC + 2 * $BIAS);
    const $T r = $FMA(n, -$LN2LO, $FMA(n, -$LN2HI, y)), z = r * r;
    const $T p = $FMA($FMA($POLYNOMIAL, r, 1), r, 1);
    const $T result = p * $OF($BITS(half) << $M) * $OF(($BITS(both) - $BITS(half)) << $M);
    return x > $HIGH ? $INF : result;
}
"""
# The same for base 2, without a product to lose in.
_EXP2 = """\
static inline $T _pm_exp2_$S($T x)
{
    const $T y = x < $LOW2 ? $LOW2 : x;
    const $T both = y + ($MAGIC + 2 * $BIAS), half = $FMA(y, $HALF, $MAGIC + $BIAS);
    const $T r = y - (both - ($MAGIC + 2 * $BIAS)), z = r * r;
    const $T p = $FMA($POWER, r, 1);
    const $T result = p * $OF($BITS(half) << $M) * $OF(($BITS(both) - $BITS(half)) << $M);
    return x > $HIGH2 ? $INF : result;
}
"""
# e**x - 1 = 2**n ((e**r - 1) + (1 - 2**-n)); of large x the last power counts for nothing.
_EXPM1 = """\
static inline $T _pm_expm1_$S($T x)
{
    const $T y = x < -$NOTHING ? -$NOTHING : x;
    const $T both = $FMA(y, $LOG2E, $MAGIC + 2 * $BIAS), half = $FMA(y, $LOG2E / 2, $MAGIC + $BIAS);
    const $T n = both - ($MAGIC + 2 * $BIAS);
    const $T r = $FMA(n, -$LN2LO, $FMA(n, -$LN2HI, y)), z = r * r;
    const $T back = x > $NOTHING ? 0 : $OF((3 * ($U)$BIAS - $BITS(both)) << $M);
    const $T p = $FMA($FRACTION * r, r, r) + (1 - back);
    const $T result = p * $OF($BITS(half) << $M) * $OF(($BITS(both) - $BITS(half)) << $M);
    return x == 0 ? x : (x > $HIGH ? $INF : result);
}
"""
# tanh |x| = -t / (2 + t) of t = e**(-2 |x|) - 1, which is 2**n (e**r - 1) + (2**n - 1).
_TANH = """\
static inline $T _pm_tanh_$S($T x)
{
    const $T a = $ABS(x), c = a > $FAR ? $FAR : a;
    const $T whole = $FMA(c, -2 * $LOG2E, $MAGIC + $BIAS);
    const $T n = whole - ($MAGIC + $BIAS);
    const $T r = $FMA(n, -$LN2LO, $FMA(n, -$LN2HI, -2 * c)), z = r * r;
    const $T s = $OF($BITS(whole) << $M);
    const $T t = $FMA($FMA($FRACTION * r, r, r), s, s - 1);
    return $SIGNED(t / (2 + t), x);
}
"""
# By the exponential of -|x|, which does not overflow; with libm's, too.
SIGMOID = """\
static inline $T _pm_sigmoid_$S($T x)
{
    const $T e = _pm_exp_$S(-$ABS(x));
    return (x < 0 ? e : 1) / (1 + e);
}
"""
_TEMPLATES = {"exp": _EXP, "exp2": _EXP2, "expm1": _EXPM1, "tanh": _TANH}

_NUMBERS = {
    SINGLE: {
        "LOW": "-104.0",
        "LOW2": "-152.0",
        "HIGH2": "129.0",
        "NOTHING": "24.0",
        "HALF": "0.5",
        "HIGH": "89.0",
        "FAR": "10.0",
        "LOG2E": "0x1.715476p+0",
        "LN2HI": "0x1.62e430p-1",
        "LN2LO": "-0x1.05c610p-29",
    },
    WIDE: {
        "LOW": "-746.0",
        "LOW2": "-1077.0",
        "HIGH2": "1025.0",
        "NOTHING": "44.0",
        "HALF": "0.5",
        "HIGH": "710.0",
        "FAR": "20.0",
        "LOG2E": "0x1.71547652b82fep+0",
        "LN2HI": "0x1.62e42fefa39efp-1",
        "LN2LO": "0x1.abc9e3b39803fp-56",
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


def exponentials(kind: Kind) -> dict[str, str]:
    """The C text of each function of this module for a type."""
    texts = {
        "POLYNOMIAL": estrin(_POLYNOMIALS[kind], "r", ("z",), kind.tail),
        "POWER": estrin(POWERS_OF_TWO[kind], "r", ("z",), kind.tail),
        "FRACTION": estrin(_FRACTIONS[kind], "r", ("z",), kind.tail),
    }
    return {name: kind.text(template, _NUMBERS[kind], texts) for name, template in _TEMPLATES.items()}
