/* Tangents, for both types: the common case, without branches.

   Multiples of pi / 2 are taken off as of sines; the tangent of what is left is its sine by its cosine, and after
   an odd multiple the negative cosine by the sine.

   takes T                           the type of an element
   takes NAME(name)                  functions of that type
   takes BUILTIN(name)               the compiler's
   takes MAGIC=0x1.8p23f / 0x1.8p52  added and taken off again, it leaves the nearest integer
   takes U=uint32_t / uint64_t       its bits
   takes LAST=31 / 63                the bit of the sign
   takes LIMIT=1e5f / 1e9            where arguments are too large
   takes HALF=0.5f / 0.5             a half
   takes PER=0.6366f / 0.6366        2 / pi
   takes PI1=1.5708f / 1.5708        pi / 2, and twice what is left of it
   takes PI2=1e-7f / 1e-16           pi / 2, and twice what is left of it
   takes PI3=1e-14f / 1e-32          pi / 2, and twice what is left of it
   takes SINE=(z + w)                (sin(r) / r - 1) / r**2, z = r**2 and w = z**2
   takes COSINE=(z + w)              (cos(r) - 1 + z / 2) / w
*/
#pragma once

#include "functions/bits.h"

static inline __attribute__((always_inline)) T NAME(tan_near)(T x, U *far)
{
    *far |= (U) !(BUILTIN(fabs)(x) <= LIMIT);
    const T whole = BUILTIN(fma)(x, PER, MAGIC), n = whole - MAGIC;
    const T r = BUILTIN(fma)(n, -PI3, BUILTIN(fma)(n, -PI2, BUILTIN(fma)(n, -PI1, x)));
    const T z = r * r, w = z * z;
    const T sine = BUILTIN(fma)(r * z, SINE, r), c = 1 - BUILTIN(fma)(-w, COSINE, z * HALF);
    const U s = NAME(bits)(sine) | (NAME(bits)(r) & (U)1 << LAST);
    const U swapped = (s ^ NAME(bits)(c)) & -(NAME(bits)(whole) & 1);
    const T quotient = NAME(of_bits)(s ^ swapped) / NAME(of_bits)(NAME(bits)(c) ^ swapped);
    return NAME(of_bits)(NAME(bits)(quotient) ^ (NAME(bits)(whole) << LAST));
}
