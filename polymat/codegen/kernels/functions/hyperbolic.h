/* Hyperbolic sines and cosines, for both types, without a division.

   |x| = n log(2) + r with |r| <= log(2) / 2, and of the sum of both: sinh |x| = c sinh(r) + s cosh(r) and
   cosh x = c cosh(r) + s sinh(r), with c = (2**n + 2**-n) / 2 and s = (2**n - 2**-n) / 2.  Half of these is
   computed and doubled: it overflows where the result does.

   takes T                       the type of an element
   takes NAME(name)              functions of that type
   takes BUILTIN(name)           the compiler's
   takes MAGIC=0x1.8p23f / 0x1.8p52  added and taken off again, it leaves the nearest integer
   takes U=uint32_t / uint64_t   its bits
   takes MANTISSA=23 / 52        bits behind the point
   takes BIAS=127.0f / 1023.0    what is added to an exponent
   takes MOST=89.5f / 710.5      beyond it results are infinite
   takes NOTHING=24.0f / 44.0    beyond it 2**-n counts for nothing
   takes LEAST=0x1p-12f / 0x1p-27  below it sinh x is x
   takes LOG2E=1.4427f / 1.4427  1 / log(2)
   takes LN2HI=0.6931f / 0.6931  log(2), and what is left of it
   takes LN2LO=1e-9f / 1e-17     log(2), and what is left of it
   takes SINH=(z + z)            (sinh(r) / r - 1) / r**2, z = r**2
   takes COSH=(z + z)            (cosh(r) - 1) / r**2
*/
#pragma once

#include "functions/bits.h"

/* sinh x if odd, else cosh x, of x >= 0. */
static inline __attribute__((always_inline)) T NAME(hyperbolic)(T x, int odd)
{
    const T y = x > MOST ? MOST : x;
    const T whole = BUILTIN(fma)(y, LOG2E, MAGIC + BIAS), n = whole - (MAGIC + BIAS);
    const T r = BUILTIN(fma)(n, -LN2LO, BUILTIN(fma)(n, -LN2HI, y)), z = r * r;
    const T up = NAME(of_bits)((NAME(bits)(whole) - 2) << MANTISSA);
    const T down = x > NOTHING ? 0 : NAME(of_bits)((2 * (U)BIAS - 2 - NAME(bits)(whole)) << MANTISSA);
    const T sine = BUILTIN(fma)(r * z, SINH, r), cosine = z * COSH, c = up + down, s = up - down;
    const T half = odd ? BUILTIN(fma)(c, sine, BUILTIN(fma)(s, cosine, s))
                       : BUILTIN(fma)(c, cosine, BUILTIN(fma)(s, sine, c));
    return 2 * half;
}

static inline __attribute__((always_inline)) T NAME(sinh)(T x)
{
    const T a = BUILTIN(fabs)(x);
    return a < LEAST ? x : BUILTIN(copysign)(NAME(hyperbolic)(a, 1), x);
}

static inline __attribute__((always_inline)) T NAME(cosh)(T x)
{
    return NAME(hyperbolic)(BUILTIN(fabs)(x), 0);
}
