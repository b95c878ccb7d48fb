/* Exponentials and what is made of them, for both types.

   e**x = 2**n e**r with an integer n and |r| <= log(2) / 2.  2**n is multiplied in two halves, so that neither
   overflows, and a subnormal result is rounded once.  MAGIC, added to a number and taken off again, leaves the
   nearest integer, which is in its lowest bits.

   takes T                          the type of an element
   takes NAME(name)                 functions of that type
   takes BUILTIN(name)              the compiler's
   takes U=uint32_t / uint64_t      its bits
   takes MANTISSA=23 / 52           bits behind the point
   takes BIAS=127.0f / 1023.0       what is added to an exponent
   takes MAGIC=0x1.8p23f / 0x1.8p52  one and a half units of the first number without a bit behind the point
   takes LOW=-104.0f / -746.0       below it e**x is 0
   takes HIGH=89.0f / 710.0         beyond it e**x is infinite
   takes LOW2=-152.0f / -1077.0     the same of 2**x
   takes HIGH2=129.0f / 1025.0      the same of 2**x
   takes NOTHING=24.0f / 44.0       beyond it, 1 beside e**x counts for nothing
   takes FAR=10.0f / 20.0           beyond it tanh x is 1
   takes HALF=0.5f / 0.5            a half
   takes LOG2E=1.4427f / 1.4427     1 / log(2)
   takes LN2HI=0.6931f / 0.6931     log(2), and what is left of it
   takes LN2LO=1e-9f / 1e-17        log(2), and what is left of it
   takes POLYNOMIAL=(z + r)         (e**r - 1 - r) / r**2, z = r**2
   takes POWER=(z + r)              (2**r - 1) / r
   takes FRACTION=(z + r)           (e**r - 1 - r) / r**2, so that e**r - 1 has the least relative error
*/
#pragma once

#include "functions/bits.h"

static inline __attribute__((always_inline)) T NAME(exp)(T x)
{
    const T y = x < LOW ? LOW : x;
    const T both = BUILTIN(fma)(y, LOG2E, MAGIC + 2 * BIAS), half = BUILTIN(fma)(y, LOG2E / 2, MAGIC + BIAS);
    const T n = both - (MAGIC + 2 * BIAS);
    const T r = BUILTIN(fma)(n, -LN2LO, BUILTIN(fma)(n, -LN2HI, y)), z = r * r;
    const T p = BUILTIN(fma)(BUILTIN(fma)(POLYNOMIAL, r, 1), r, 1);
    const T result = p * NAME(of_bits)(NAME(bits)(half) << MANTISSA)
            * NAME(of_bits)((NAME(bits)(both) - NAME(bits)(half)) << MANTISSA);
    return x > HIGH ? BUILTIN(inf)() : result;
}

/* The same for base 2, without a product to lose in. */
static inline __attribute__((always_inline)) T NAME(exp2)(T x)
{
    const T y = x < LOW2 ? LOW2 : x;
    const T both = y + (MAGIC + 2 * BIAS), half = BUILTIN(fma)(y, HALF, MAGIC + BIAS);
    const T r = y - (both - (MAGIC + 2 * BIAS)), z = r * r;
    const T p = BUILTIN(fma)(POWER, r, 1);
    const T result = p * NAME(of_bits)(NAME(bits)(half) << MANTISSA)
            * NAME(of_bits)((NAME(bits)(both) - NAME(bits)(half)) << MANTISSA);
    return x > HIGH2 ? BUILTIN(inf)() : result;
}

/* e**x - 1 = 2**n ((e**r - 1) + (1 - 2**-n)); of large x the last power counts for nothing. */
static inline __attribute__((always_inline)) T NAME(expm1)(T x)
{
    const T y = x < -NOTHING ? -NOTHING : x;
    const T both = BUILTIN(fma)(y, LOG2E, MAGIC + 2 * BIAS), half = BUILTIN(fma)(y, LOG2E / 2, MAGIC + BIAS);
    const T n = both - (MAGIC + 2 * BIAS);
    const T r = BUILTIN(fma)(n, -LN2LO, BUILTIN(fma)(n, -LN2HI, y)), z = r * r;
    const T back = x > NOTHING ? 0 : NAME(of_bits)((3 * (U)BIAS - NAME(bits)(both)) << MANTISSA);
    const T p = BUILTIN(fma)(FRACTION * r, r, r) + (1 - back);
    const T result = p * NAME(of_bits)(NAME(bits)(half) << MANTISSA)
            * NAME(of_bits)((NAME(bits)(both) - NAME(bits)(half)) << MANTISSA);
    return x == 0 ? x : (x > HIGH ? BUILTIN(inf)() : result);
}

/* tanh |x| = -t / (2 + t) of t = e**(-2 |x|) - 1, which is 2**n (e**r - 1) + (2**n - 1). */
static inline __attribute__((always_inline)) T NAME(tanh)(T x)
{
    const T a = BUILTIN(fabs)(x), c = a > FAR ? FAR : a;
    const T whole = BUILTIN(fma)(c, -2 * LOG2E, MAGIC + BIAS);
    const T n = whole - (MAGIC + BIAS);
    const T r = BUILTIN(fma)(n, -LN2LO, BUILTIN(fma)(n, -LN2HI, -2 * c)), z = r * r;
    const T s = NAME(of_bits)(NAME(bits)(whole) << MANTISSA);
    const T t = BUILTIN(fma)(BUILTIN(fma)(FRACTION * r, r, r), s, s - 1);
    return BUILTIN(copysign)(t / (2 + t), x);
}
