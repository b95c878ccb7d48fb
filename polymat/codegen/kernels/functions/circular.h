/* Sines and cosines, for both types: the common case, without branches.

   Multiples of pi are taken off in three steps of fused multiply-adds, the first of which is exact; beyond
   LIMIT that would need more.

   takes T                           the type of an element
   takes NAME(name)                  functions of that type
   takes BUILTIN(name)               the compiler's
   takes U=uint32_t / uint64_t       its bits
   takes MAGIC=0x1.8p23f / 0x1.8p52  added and taken off again, it leaves the nearest integer
   takes LAST=31 / 63                the bit of the sign
   takes LIMIT=1e5f / 1e9            where arguments are too large
   takes HALF=0.5f / 0.5             a half
   takes PER=0.3183f / 0.3183        1 / pi
   takes PI1=3.1416f / 3.1416        pi, and twice what is left of it
   takes PI2=1e-7f / 1e-16           pi, and twice what is left of it
   takes PI3=1e-14f / 1e-32          pi, and twice what is left of it
   takes SINE=(z + w)                (sin(r) / r - 1) / r**2, z = r**2 and w = z**2
*/
#pragma once

#include "functions/bits.h"

static inline __attribute__((always_inline)) T NAME(sin_near)(T x, U *far)
{
    *far |= (U) !(BUILTIN(fabs)(x) <= LIMIT);
    const T whole = BUILTIN(fma)(x, PER, MAGIC), n = whole - MAGIC;
    const T r = BUILTIN(fma)(n, -PI3, BUILTIN(fma)(n, -PI2, BUILTIN(fma)(n, -PI1, x)));
    const T z = r * r, w = z * z;
    const T s = BUILTIN(fma)(r * z, SINE, r);
    return NAME(of_bits)((NAME(bits)(s) | (NAME(bits)(r) & (U)1 << LAST)) ^ (NAME(bits)(whole) << LAST));
}

/* cos(x) = sin(x + pi / 2), with an odd multiple of pi / 2 taken off. */
static inline __attribute__((always_inline)) T NAME(cos_near)(T x, U *far)
{
    *far |= (U) !(BUILTIN(fabs)(x) <= LIMIT);
    const T whole = BUILTIN(fma)(x, PER, -HALF) + MAGIC, n = BUILTIN(fma)(2, whole - MAGIC, 1);
    const T r = BUILTIN(fma)(n, -PI3 / 2, BUILTIN(fma)(n, -PI2 / 2, BUILTIN(fma)(n, -PI1 / 2, x)));
    const T z = r * r, w = z * z;
    const T s = BUILTIN(fma)(r * z, SINE, r);
    return NAME(of_bits)(NAME(bits)(s) ^ (~NAME(bits)(whole) << LAST));
}
