"""Powers by tables that lie in two vectors of 512 bits, which one instruction permutes: the C text.

x = 2**k m with m from 1 to 2 (of double, half a cell less: the largest r is half as large, and
fewer terms are needed).  Of the cell of m a table has 1 / c, so short that r = m / c - 1 is exact, and
log(c): log(x) = k log(2) + log(c) + log(1 + r), the sum of two numbers, of which the small one is brought
below the rounding of the other.  y log(x) = n log(2) / N + s, and x**y is 2**(n / N) by a table times e**s.
Single numbers are computed as vectors are, to the last bit.
"""

from __future__ import annotations

from polymat.codegen.functions.kind import SINGLE, WIDE, Kind
from polymat.codegen.functions.polynomials import estrin
from polymat.codegen.functions.powertables import TABLES

# Other compilers, and processors without such vectors, compute by longer polynomials.
_CONDITION = """\
#if defined(__x86_64__) && !defined(__clang__) && defined(__AVX512F__) && defined(__AVX512DQ__)
#ifdef __has_builtin
#if __has_builtin(__builtin_ia32_getexp$Q) && __has_builtin(__builtin_ia32_getmant$Q) \\
    && __has_builtin(__builtin_ia32_fpclass$Q) && __has_builtin(__builtin_ia32_cmp$Q)
#define _PM_PERMUTED_$S
#endif
#endif
#endif
"""
_WIDE_MIDDLE = """\
static inline double _pm_pow_middle_f64(
    double k, double m, double y, double inverse, double high, double low, double *whole)
{
    const double r = $FMA(m, inverse, -1), w = r * r, w2 = w * w, p = $LOGARITHM;
    const double t = $FMA(k, $LN2HI, high), u = t + r, rest = (t - u) + r;
    const double a = $HALF * -r, v = $FMA(a, r, u), square = $FMA(a, r, u - v);
    const double left = $FMA(r * w, p, ($FMA(k, $LN2LO, low) + rest) + square);
    const double h = v + left, hl = (v - h) + left;
    *whole = $FMA(y * h, $CELLS, $MAGIC);
    const double n = *whole - $MAGIC;
    return $FMA(y, hl, $FMA(n, -$CELLLO, $FMA(y, h, n * -$CELLHI)));
}

static inline double _pm_pow_end_f64(double s, double whole, uint64_t two)
{
    const double power = $OF(two + ($BITS(whole) << 48)), a = s * s, p = $EXPONENTIAL;
    return $FMA($FMA(a, p, s), power, power);
}
"""
# In units of log(2) / 32, of which n has no rounding, and one number more to multiply by.
_SINGLE_MIDDLE = """\
static inline float _pm_pow_middle_f32(
    float k, float m, float y, float inverse, float high, float low, float *whole)
{
    const float r = $FMA(m, inverse, -1), w = r * r, p = $LOGARITHM;
    const float a = $HALF * -r, q = $FMA(a, r, r), ql = $FMA(a, r, r - q);
    const float t = $FMA(k, 32, high), u = $FMA(q, $CELLS, t), rest = $FMA(q, $CELLS, t - u);
    const float some = $FMA(q, $CELLSLO, $FMA(ql, $CELLS, rest + low));
    const float left = $FMA(r * w, p, some), h = u + left, hl = (u - h) + left;
    *whole = $FMA(y, h, $MAGIC);
    return $FMA(y, hl, $FMA(y, h, -(*whole - $MAGIC)));
}

static inline float _pm_pow_end_f32(float s, float whole, uint32_t two)
{
    const float power = $OF(two + ($BITS(whole) << 18)), p = $EXPONENTIAL;
    return $FMA(power * s, p, power);
}
"""
_NEAR = """\
static inline $T _pm_pow_near_$S($T x, $T y, $U *far)
{
    const $U b = $BITS(x) + $MARGIN, cell = (b >> $DROPPED) & ($N - 1);
    const $T k = ($T)(($I)(b >> $M) - $EXCESS), m = $OF((b & ((($U)1 << $M) - 1)) + ($ONE - $MARGIN));
    $T whole;
    const $T s = _pm_pow_middle_$S(
        k, m, y, _pm_pow_inverse_$S[cell], _pm_pow_high_$S[cell], _pm_pow_low_$S[cell], &whole);
    const int inside = (x >= $TINY) & (x <= $LARGEST);
    *far |= ($U)!(inside & (whole >= $MAGIC - $LIMIT) & (whole <= $MAGIC + $LIMIT));
    return _pm_pow_end_$S(s, whole, _pm_pow_power_$S[$BITS(whole) & ($N - 1)]);
}
"""
# Before the first function of vectors of 512 bits.
_HEAD = """\
typedef $U _pm_pow_bits_$S __attribute__((vector_size(64)));
static inline void _pm_pow_at_$S(const void *table, _pm_pow_bits_$S cells, void *out)
{
    _pm_pow_bits_$S half, other;
    __builtin_memcpy(&half, table, 64);
    __builtin_memcpy(&other, (const char *)table + 64, 64);
    half = __builtin_shuffle(half, other, cells);
    __builtin_memcpy(out, &half, 64);
}
"""
# What libm answers: x of the classes zero, negative, subnormal, infinite and NaN; n too large, or NaN.
_BODY = """\
{
    _Alignas(64) $T ks[$LANES], ms[$LANES], ys[$LANES], inverses[$LANES], highs[$LANES], lows[$LANES];
    _Alignas(64) $T wholes[$LANES], out[$LANES];
    _Alignas(64) $U twos[$LANES];
    const _pm_pow_bits_$S b = (_pm_pow_bits_$S)x + $MARGIN, cells = b >> $DROPPED;
    const $MANTISSA;
    const _pm_pow_${S}e k = __builtin_ia32_getexp$Q((_pm_pow_${S}e)b, x, -1, 4);
    __builtin_memcpy(ks, &k, sizeof ks);
    __builtin_memcpy(ms, &m, sizeof ms);
    __builtin_memcpy(ys, &y, sizeof ys);
    _pm_pow_at_$S(_pm_pow_inverse_$S, cells, inverses);
    _pm_pow_at_$S(_pm_pow_high_$S, cells, highs);
    _pm_pow_at_$S(_pm_pow_low_$S, cells, lows);
#pragma omp simd simdlen($LANES)
    for (int lane = 0; lane < $LANES; lane++)
        out[lane] = _pm_pow_middle_$S(
            ks[lane], ms[lane], ys[lane], inverses[lane], highs[lane], lows[lane], &wholes[lane]);
    _pm_pow_${S}e whole;
    __builtin_memcpy(&whole, wholes, sizeof whole);
    const _pm_pow_${S}e least = (_pm_pow_${S}e){0} + ($MAGIC - $LIMIT);
    const _pm_pow_${S}e most = (_pm_pow_${S}e){0} + ($MAGIC + $LIMIT);
    $MASK near = ($MASK)~__builtin_ia32_fpclass$Q(x, 0xff, ($MASK)-1);
    near = ($MASK)__builtin_ia32_cmp$Q(whole, least, 13, near, 4);
    near = ($MASK)__builtin_ia32_cmp$Q(whole, most, 2, near, 4);
    if (__builtin_expect(near != ($MASK)-1, 0))
        return _pm_pow_far_${S}e(x, y);
    _pm_pow_at_$S(_pm_pow_power_$S, (_pm_pow_bits_$S)whole, twos);
#pragma omp simd simdlen($LANES)
    for (int lane = 0; lane < $LANES; lane++)
        out[lane] = _pm_pow_end_$S(out[lane], wholes[lane], twos[lane]);
    __builtin_memcpy(&x, out, sizeof out);
    return x;
}
"""
_MIDDLES = {SINGLE: _SINGLE_MIDDLE, WIDE: _WIDE_MIDDLE}
_NUMBERS = {
    SINGLE: {
        "HALF": "0.5",
        "CELLS": "0x1.715476p+5",
        "CELLSLO": "0x1.4ae0cp-21",
        "LARGEST": "0x1.fffffep+127",
        "LIMIT": "4000.0",
    },
    WIDE: {
        "HALF": "0.5",
        "LN2HI": "0x1.62e42fefa38p-1",
        "LN2LO": "0x1.ef35793c76p-45",
        "CELLS": "0x1.71547652b82fep+4",
        "CELLHI": "0x1.62e42fefap-5",
        "CELLLO": "0x1.cf79abc9e3b3ap-44",
        "LARGEST": "0x1.fffffffffffffp+1023",
        "LIMIT": "16320.0",
    },
}
_TEXTS = {
    SINGLE: {
        "I": "int32_t",
        "N": "32",
        "DROPPED": "18",
        "MARGIN": "0u",
        "EXCESS": "127",
        "LANES": "16",
    },
    WIDE: {
        "I": "int64_t",
        "N": "16",
        "DROPPED": "48",
        "MARGIN": "((uint64_t)1 << 47)",
        "EXCESS": "1023",
        "LANES": "8",
    },
}
_BUILTINS = {
    SINGLE: {
        "Q": "ps512_mask",
        "MANTISSA": "_pm_pow_f32e m = __builtin_ia32_getmantps512_mask(x, 0, x, -1, 4)",
        "MASK": "unsigned short",
    },
    WIDE: {
        "Q": "pd512_mask",
        "MANTISSA": "_pm_pow_bits_f64 m = (b & 0x000fffffffffffffu) + 0x3fef800000000000u",
        "MASK": "unsigned char",
    },
}
# (log(1 + r) - r + r**2 / 2) / r**3, for float times 32 / log(2).
_LOGARITHMS = {
    SINGLE: ("0x1.ec70c6p+3", "-0x1.716e74p+3", "0x1.23a2eap+3"),
    WIDE: (
        "0x1.5555555555555p-2",
        "-0x1.fffffffffff7fp-3",
        "0x1.9999999997bcfp-3",
        "-0x1.55555556e0568p-3",
        "0x1.2492494e5905cp-3",
        "-0x1.ffffd6e3e6a98p-4",
        "0x1.c71a2188fc5ep-4",
        "-0x1.9a660eea6f26ep-4",
        "0x1.79aa5c0ecb0aep-4",
    ),
}
# float: (2**(s / 32) - 1) / s; double: (e**s - 1 - s) / s**2.
_EXPONENTIALS = {
    SINGLE: ("0x1.62e430p-6", "0x1.ebfcccp-13", "0x1.c6b110p-20"),
    WIDE: (
        "0.5",
        "0x1.55555554dccc9p-3",
        "0x1.555555551905ep-5",
        "0x1.11120b7404abp-7",
        "0x1.6c17bbd8299c9p-10",
    ),
}


def near_text(kind: Kind) -> str:
    """The tables and `_pm_pow_near_S`."""
    texts = {
        "LOGARITHM": estrin(_LOGARITHMS[kind], "r", ("w", "w2") if kind is WIDE else ("w",), kind.tail),
        "EXPONENTIAL": estrin(_EXPONENTIALS[kind], "s", ("a",) if kind is WIDE else (), kind.tail),
    }
    template = "\n".join((TABLES[kind], _MIDDLES[kind], _NEAR, _HEAD))
    return kind.text(template, _NUMBERS[kind], _TEXTS[kind] | texts)


def body_text(kind: Kind) -> str:
    """The body of a function of vectors of 512 bits that looks its values up in registers."""
    return kind.text(_BODY, _NUMBERS[kind], _TEXTS[kind] | _BUILTINS[kind])


def condition_text(kind: Kind) -> str:
    """Defines `_PM_PERMUTED_S` where both are for the processor and the compiler."""
    return kind.text(_CONDITION, {}, _BUILTINS[kind])
