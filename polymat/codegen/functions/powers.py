"""Powers: the C text, for both types.

x**y = 2**(y log2(x)) for positive normal x and results that are normal numbers; libm's else.  The logarithm
is a sum of two numbers: with s = f / (2 + f), x = 2**k (1 + f), it is k + s (c0 + z (c1 + z P(z))) in powers
of z = s**2, whose first terms are added up with what their roundings leave.  Vectors of 512 bits have tables.
"""

from __future__ import annotations

from polymat.codegen.functions.called import called
from polymat.codegen.functions.kind import SINGLE, WIDE, Kind
from polymat.codegen.functions.permuted import body_text, condition_text, near_text
from polymat.codegen.functions.polynomials import estrin

_WIDE_POW = """\
static inline double _pm_pow_near_f64(double x, double y, uint64_t *far)
{
    const uint64_t b = $BITS(x) + ($ONE - 0x3fe6a09e667f3bcdu);
    const double k = $OF((b >> 52) + 0x4330000000000000u) - (0x1p+52 + 1023);
    const double m = $OF((b & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu), f = m - 1;
    const double d = m + 1, left = m - (d - 1), v = 1 / d;
    const double s = f * v, sl = $FMA(-s, left, $FMA(-s, d, f)) * v;
    const double z = s * s, zl = $FMA(s, s, -z) + 2 * s * sl, w = z * z, w2 = w * w;
    const double p = $LOGARITHM;
    const double u = z * p, c = $C1 + u, cl = (u - (c - $C1)) + $C1L;
    const double q = z * c, ql = $FMA(z, c, -q) + $FMA(z, cl, zl * c);
    const double t = $C0 + q, tl = (q - (t - $C0)) + (ql + $C0L);
    const double g = s * t, gl = $FMA(s, t, -g) + $FMA(s, tl, sl * t);
    const double h = k + g, hl = (g - (h - k)) + gl;
    const double e = y * h, el = $FMA(y, h, -e) + y * hl;
    const double whole = e + ($MAGIC + $BIAS), n = whole - ($MAGIC + $BIAS);
    const double r = (e - n) + el, a = r * r, a2 = a * a;
    *far |= (uint64_t)($BITS(x) - 0x0010000000000000u >= 0x7fe0000000000000u) | (uint64_t)!($ABS(e) <= 1021);
    return $FMA(r, $EXPONENTIAL, 1) * $OF($BITS(whole) << 52);
}
"""
# The same, without what counts for less than half a unit in the last place.
_SINGLE_POW = """\
static inline float _pm_pow_near_f32(float x, float y, uint32_t *far)
{
    const uint32_t b = $BITS(x) + ($ONE - 0x3f3504f3u);
    const float k = (float)((int32_t)(b >> 23) - 127);
    const float m = $OF((b & 0x007fffffu) + 0x3f3504f3u), f = m - 1;
    const float d = m + 1, left = m - (d - 1), v = 1 / d;
    const float s = f * v, sl = $FMA(-s, left, $FMA(-s, d, f)) * v;
    const float z = s * s, w = z * z, c = $LOGARITHM;
    const float zl = $FMA(s, s, -z) + 2 * s * sl;
    const float t = $FMA(z, c, $C0), tl = $FMA(z, c, $C0 - t) + $FMA(zl, c, $C0L);
    const float g = s * t, gl = $FMA(s, t, -g) + $FMA(s, tl, sl * t);
    const float h = k + g, hl = (g - (h - k)) + gl;
    const float e = y * h, el = $FMA(y, h, -e) + y * hl;
    const float whole = e + ($MAGIC + $BIAS), n = whole - ($MAGIC + $BIAS);
    const float r = (e - n) + el, a = r * r, a2 = a * a;
    *far |= (uint32_t)($BITS(x) - 0x00800000u >= 0x7f000000u) | (uint32_t)!($ABS(e) <= 125);
    return $FMA(r, $EXPONENTIAL, 1) * $OF($BITS(whole) << 23);
}
"""
_NUMBERS = {
    SINGLE: {"C0": "0x1.715476p+1", "C0L": "0x1.4ae0c0p-25"},
    WIDE: {
        "C0": "0x1.71547652b82fep+1",
        "C0L": "0x1.777d0ffda0d24p-55",
        "C1": "0x1.ec709dc3a03fdp-1",
        "C1L": "0x1.d27f05548af0cp-55",
    },
}
# log2((1 + s) / (1 - s)) = c0 s + c1 s**3 + s**5 P(s**2); for float c1 is in P.
_LOGARITHMS = {
    SINGLE: ("0x1.ec709ep-1", "0x1.277764p-1", "0x1.a59752p-2", "0x1.5c5256p-2"),
    WIDE: (
        "0x1.2776c50ef9bfep-1",
        "0x1.a61762a7ae615p-2",
        "0x1.484b13d714563p-2",
        "0x1.0c9a850ef5b8fp-2",
        "0x1.c68efe728ec45p-3",
        "0x1.8a06d7a3e9d21p-3",
        "0x1.5932423143725p-3",
        "0x1.6056276185ad2p-3",
    ),
}
# (2**r - 1) / r on |r| <= 1/2.
POWERS_OF_TWO = {
    SINGLE: (
        "0x1.62e430p-1",
        "0x1.ebfbe0p-3",
        "0x1.c6aed0p-5",
        "0x1.3b29aap-7",
        "0x1.5f4736p-10",
        "0x1.448f60p-13",
    ),
    WIDE: (
        "0x1.62e42fefa39efp-1",
        "0x1.ebfbdff82c5a6p-3",
        "0x1.c6b08d704a0d1p-5",
        "0x1.3b2ab6fb9fdf4p-7",
        "0x1.5d87fe78a2284p-10",
        "0x1.4309130f6b883p-13",
        "0x1.ffcbfc75f7881p-17",
        "0x1.62bfc647ade3ap-20",
        "0x1.b524db2ef1b57p-24",
        "0x1.e61d782648128p-28",
        "0x1.ea04533396259p-32",
    ),
}


def powers(kind: Kind) -> dict[str, str]:
    """The C text of each function of this module for a type."""
    steps = ("w", "w2") if kind is WIDE else ("w",)
    texts = {
        "LOGARITHM": estrin(_LOGARITHMS[kind], "z", steps, kind.tail),
        "EXPONENTIAL": estrin(POWERS_OF_TWO[kind], "r", ("a", "a2"), kind.tail),
    }
    near = kind.text(_WIDE_POW if kind is WIDE else _SINGLE_POW, _NUMBERS[kind], texts)
    chosen = f"#ifdef _PM_PERMUTED_{kind.suffix}\n{near_text(kind)}#else\n{near}#endif\n"
    return {"pow": f"{condition_text(kind)}{chosen}\n{called(kind, 'pow', 2, body_text(kind))}"}
