/* The logarithm of 1 + x, and the inverse hyperbolic functions that are made of it, for both types.

   u = 1 + x loses c of x, and log(1 + x) = log(u) + c / u.  u = 2**k (1 + f) as of logarithms; c counts beside f
   where k is 0, and c / u is c (1 - f) / 2**k well enough.  Of doubles, with s = f / (2 + f): log(1 + f) =
   f - (h - s (h + R)), h = f**2 / 2.

   takes T                           the type of an element
   takes NAME(name)                  functions of that type
   takes BUILTIN(name)               the compiler's
   takes U=uint32_t / uint64_t       its bits
   takes MANTISSA=23 / 52            bits behind the point
   takes DOUBLE=0 / 1                whether it is a double
   takes BIAS=127.0f / 1023.0        what is added to an exponent
   takes ONE=0x3f800000u / 0x3ff0000000000000u       bits of 1
   takes ROOT=0x3f3504f3u / 0x3fe6a09e667f3bcdu      bits of sqrt(1/2)
   takes INFINITE=0x7f800000u / 0x7ff0000000000000u  bits of infinity
   takes HALF=0.5f / 0.5             a half
   takes LARGE=0x1p+30f / 0x1p+60    beyond it 1 beside x counts for nothing
   takes POLYNOMIAL=(z + f) / (z + w)  of floats (log(1 + f) - f) / f**2, of doubles R / z, z = s**2 and w = z**2
   takes LN2HI=0.6931f / 0.6931      log(2), and what is left of it
   takes LN2LO=1e-9f / 1e-17         log(2), and what is left of it
*/
#pragma once

#include "functions/bits.h"

static inline __attribute__((always_inline)) T NAME(log1p)(T x)
{
    const T u = 1 + x, c = x - (u - 1);
    const U b = NAME(bits)(u) + (ONE - ROOT), exponent = b >> MANTISSA;
    const T f = NAME(of_bits)((b & ((((U)1 << MANTISSA)) - 1)) + ROOT) - 1;
    const T half = NAME(of_bits)((2 * (U)BIAS + 1 - exponent) << MANTISSA) * HALF;
#if DOUBLE /* of 64 bits AVX2 converts none: the exponent becomes a number as the lowest bits of one */
    const T k = NAME(of_bits)(exponent + 0x4330000000000000u) - (0x1p+52 + 1023);
    const T s = f / (2 + f), z = s * s, w = z * z, h = HALF * f * f;
    const T p = POLYNOMIAL;
    const T rest = BUILTIN(fma)(s, BUILTIN(fma)(z, p, h), -h);
#else
    const T k = (T)((int32_t)exponent - 127);
    const T z = f * f, p = POLYNOMIAL;
    const T rest = z * p;
#endif
    const T lost = BUILTIN(fma)(half * c, 1 - f, rest);
    const T result = BUILTIN(fma)(k, LN2HI, BUILTIN(fma)(k, LN2LO, lost) + f);
    const T special = u < 0 ? BUILTIN(nan)("") : (u - 1) * BUILTIN(inf)();
    return NAME(bits)(u) - 1 < INFINITE - 1 ? BUILTIN(copysign)(result, x) : special;
}

static inline __attribute__((always_inline)) T NAME(asinh)(T x)
{
    const T a = BUILTIN(fabs)(x), s = a * a, w = a + s / (1 + BUILTIN(sqrt)(s + 1));
    const T result = NAME(log1p)(a > LARGE ? a : w) + (a > LARGE ? LN2HI : 0);
    return BUILTIN(copysign)(result, x);
}

static inline __attribute__((always_inline)) T NAME(acosh)(T x)
{
    const T t = x < 1 ? BUILTIN(nan)("") : x - 1, w = t + BUILTIN(sqrt)(t * (t + 2));
    return NAME(log1p)(x > LARGE ? x : w) + (x > LARGE ? LN2HI : 0);
}

static inline __attribute__((always_inline)) T NAME(atanh)(T x)
{
    const T a = BUILTIN(fabs)(x);
    return BUILTIN(copysign)(HALF * NAME(log1p)(2 * a / (1 - a)), x);
}
