"""Sines and cosines: the C text, for both types.

Multiples of pi are taken off in three steps of fused multiply-adds, the first of which is exact.  Beyond
$LIMIT they are libm's.  gcc calls vector versions of a function whose declaration has the `simd` attribute,
by names that the vectors' ABI gives them: those for the vectors of the processor are written here, each with
a loop over its lanes.
"""

from __future__ import annotations

from polymat.codegen.functions.kind import SINGLE, WIDE, Kind
from polymat.codegen.functions.polynomials import estrin

_SIN = """\
static inline $T _pm_sin_near_$S($T x)
{
    const $T whole = $FMA(x, $PER, $MAGIC), n = whole - $MAGIC;
    $T r = $FMA(n, -$PI3, $FMA(n, -$PI2, $FMA(n, -$PI1, x)));
    const $T z = r * r, w = z * z;
    r *= $FMA($SINE, z, 1);
    return $OF($BITS(r) ^ ($BITS(whole) << $LAST));
}
"""
# cos(x) = sin(x + pi / 2), with an odd multiple of pi / 2 taken off.
_COS = """\
static inline $T _pm_cos_near_$S($T x)
{
    const $T whole = $FMA(x, $PER, -$HALF) + $MAGIC, n = $FMA(2, whole - $MAGIC, 1);
    $T r = $FMA(n, -$PI3 / 2, $FMA(n, -$PI2 / 2, $FMA(n, -$PI1 / 2, x)));
    const $T z = r * r, w = z * z;
    r *= $FMA($SINE, z, 1);
    return $OF($BITS(r) ^ (~$BITS(whole) << $LAST));
}
"""
# Vectors by gcc for x86: what the compiler calls in loops, and the function itself in each file of a library.
_CALLED = """#if defined(__x86_64__) && !defined(__clang__)
extern __attribute__((simd("notinbranch"), const, visibility("hidden"))) $T _pm_${N}_$S($T x);
__attribute__((weak, visibility("hidden"))) $T _pm_${N}_one_$S($T x) __asm__("_pm_${N}_$S");
$T _pm_${N}_one_$S($T x)
#else
static inline $T _pm_${N}_$S($T x)
#endif
{
    return $ABS(x) <= $LIMIT ? _pm_${N}_near_$S(x) : __builtin_$N$F(x);
}

#if defined(__x86_64__) && !defined(__clang__)
#define _PM_LANES(letter, lanes) \\
    typedef $T _pm_${N}_$S##letter __attribute__((vector_size(sizeof($T) * lanes))); \\
    __attribute__((weak, visibility("hidden"))) _pm_${N}_$S##letter _pm_${N}_vector_$S##letter( \\
        _pm_${N}_$S##letter x) __asm__("_ZGV" #letter "N" #lanes "v__pm_${N}_$S"); \\
    _pm_${N}_$S##letter _pm_${N}_vector_$S##letter(_pm_${N}_$S##letter x) \\
    { \\
        _Alignas(64) $T in[lanes], out[lanes]; \\
        int far = 0; \\
        __builtin_memcpy(in, &x, sizeof in); \\
        _Pragma("omp simd reduction(| : far)") for (int lane = 0; lane < lanes; lane++) \\
        { \\
            out[lane] = _pm_${N}_near_$S(in[lane]); \\
            far |= !($ABS(in[lane]) <= $LIMIT); \\
        } \\
        if (__builtin_expect(far, 0)) \\
            for (int lane = 0; lane < lanes; lane++) \\
                out[lane] = _pm_${N}_one_$S(in[lane]); \\
        __builtin_memcpy(&x, out, sizeof out); \\
        return x; \\
    }
$VERSIONS#undef _PM_LANES
#endif
"""
# The letters of the vectors' ABI: SSE, AVX2, AVX-512.
_VERSIONS = """\
_PM_LANES(b, $QUARTER)
_PM_LANES(d, $HALVED)
#ifdef __AVX512F__
_PM_LANES(e, $FULL)
#endif
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
    widest = 512 // kind.size
    counts = {"FULL": str(widest), "HALVED": str(widest // 2), "QUARTER": str(widest // 4)}
    texts = {
        "SINE": estrin(_SINES[kind], "z", ("w",), kind.tail),
        "LAST": str(kind.size - 1),
        "VERSIONS": kind.text(_VERSIONS, {}, counts),
    }
    return {
        name: kind.text(f"{near}\n{_CALLED}", _NUMBERS[kind], texts | {"N": name})
        for name, near in (("sin", _SIN), ("cos", _COS))
    }
