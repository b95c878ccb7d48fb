/* A logarithm, for both types.

   x = 2**k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2); a subnormal number is first multiplied by 2**RAISE.
   What is no positive finite number has its result in k: -inf for 0, NaN below, itself else.  Of doubles, with
   s = f / (2 + f): log(1 + f) = f - (h - s (h + R)), h = f**2 / 2.

   takes T                           the type of an element
   takes NAME(name)                  functions of that type
   takes BUILTIN(name)               the compiler's
   takes U=uint32_t / uint64_t       its bits
   takes MANTISSA=23 / 52            bits behind the point
   takes DOUBLE=0 / 1                whether it is a double
   takes LOGARITHM=NAME(log)         the name of the function
   takes RAISE=25u / 54u             how far subnormal numbers are raised
   takes ONE=0x3f800000u / 0x3ff0000000000000u       bits of 1
   takes ROOT=0x3f3504f3u / 0x3fe6a09e667f3bcdu      bits of sqrt(1/2)
   takes INFINITE=0x7f800000u / 0x7ff0000000000000u  bits of infinity
   takes TINY=0x1p-126f / 0x1p-1022  the smallest normal number
   takes HALF=0.5f / 0.5             a half
   takes POLYNOMIAL=(z + f) / (z + w)  of floats (log(1 + f) - f) / f**2, of doubles R / z, z = s**2 and w = z**2
   takes BASE=0|2|10                 of the logarithm, 0 of the natural one
   takes LN2HI=0.6931f / 0.6931      log(2), and what is left of it
   takes LN2LO=1e-9f / 1e-17         log(2), and what is left of it
   takes LOG2E=1.4427f / 1.4427      1 / log(2)
   takes LG2HI=0.3010f / 0.3010      the decimal logarithm of 2, and what is left of it
   takes LG2LO=1e-9f / 1e-17         the decimal logarithm of 2, and what is left of it
   takes LG10E=0.4343f / 0.4343      1 / log(10)
*/
#pragma once

#include "functions/bits.h"

static inline __attribute__((always_inline)) T LOGARITHM(T x)
{
    const U low = -(U)(x < TINY) & RAISE;
    const U b = NAME(bits)(x * NAME(of_bits)((low << MANTISSA) + ONE)) + (ONE - ROOT);
    const T special = x < 0 ? BUILTIN(nan)("") : (x - 1) * BUILTIN(inf)();
#if DOUBLE /* of 64 bits AVX2 converts none: the exponent becomes a number as the lowest bits of one */
    const T k = NAME(bits)(x) - 1 < INFINITE - 1
            ? NAME(of_bits)((b >> MANTISSA) - low + 0x4330000000000040u) - (0x1p+52 + (1023 + 64))
            : special;
#else
    const T k = NAME(bits)(x) - 1 < INFINITE - 1 ? (T)((int32_t)((b >> MANTISSA) - low) - 127) : special;
#endif
    const T f = NAME(of_bits)((b & ((((U)1 << MANTISSA)) - 1)) + ROOT) - 1;
#if DOUBLE
    const T s = f / (2 + f), z = s * s, w = z * z, h = HALF * f * f;
    const T p = POLYNOMIAL;
    const T rest = BUILTIN(fma)(s, BUILTIN(fma)(z, p, h), -h);
#else
    const T z = f * f, p = POLYNOMIAL;
    const T rest = z * p;
#endif
#if BASE == 2
    return BUILTIN(fma)(rest + f, LOG2E, k);
#elif BASE == 10
    return BUILTIN(fma)(k, LG2HI, BUILTIN(fma)(rest + f, LG10E, k * LG2LO));
#else
    return BUILTIN(fma)(k, LN2HI, BUILTIN(fma)(k, LN2LO, rest) + f);
#endif
}
