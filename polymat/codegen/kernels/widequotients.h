/* Floor division of integers of 64 bits by floating-point numbers, where vectors of these become such integers.

   takes T=int64_t                                   the type
   takes NAME(name)                                  functions of that type
   takes U=uint64_t                                  the unsigned type as large as it
*/
#pragma once

#include <stdint.h>
#include "signed.h"

/* The values of floordiv and mod, for vectors.  Two conversions, an inverse and a product, each rounded to within
   2^-53, leave a quotient at most 2^-51 of it from a / b, and q, a whole number, at most 2^12 / |b| + 1/2: what is
   left, a - q b, is between -|b| / 2 - 2^12 and |b| / 2 + 2^12, and no product that wraps changes it.  Half a unit
   towards the divisor's sign keeps its quotient 1 / 2b from the next whole number: far more than it is rounded by
   where |b| is less than 2^32; beyond it is less than 1 either way, and its sign is that of what is left.
   A sum with 0 is left as it is: of a floor that is converted gcc makes one function, which it has no vectors of. */
static inline __attribute__((always_inline)) T NAME(floordivlanes)(T a, T b)
{
#ifdef __AVX512DQ__
    const T by = b == 0 ? 1 : b;
    const double divisor = (double)by, inverse = 1.0 / divisor, near = (double)a * inverse;
    const T q = (T)(__builtin_rint(near < 0x1.fffffffffffffp62 ? near : 0x1.fffffffffffffp62) + 0.0);
    const double left = (double)(T)((U)a - (U)q * (U)by) + __builtin_copysign(0.5, divisor);
    return b == 0 ? 0 : (T)((U)q + (U)(T)(__builtin_floor(left * inverse) + 0.0));
#else
    return NAME(floordiv)(a, b);
#endif
}

static inline __attribute__((always_inline)) T NAME(modlanes)(T a, T b)
{
#ifdef __AVX512DQ__
    const T by = b == 0 ? 1 : b;
    const double divisor = (double)by, inverse = 1.0 / divisor, near = (double)a * inverse;
    const T q = (T)(__builtin_rint(near < 0x1.fffffffffffffp62 ? near : 0x1.fffffffffffffp62) + 0.0);
    const U r = (U)a - (U)q * (U)by;
    const double left = (double)(T)r + __builtin_copysign(0.5, divisor);
    return b == 0 ? 0 : (T)(r - (U)(T)(__builtin_floor(left * inverse) + 0.0) * (U)by);
#else
    return NAME(mod)(a, b);
#endif
}
