/* Cube roots, for both types, without a division.

   |x| = 8**q y with 1 <= y < 8; the reciprocal of y's root begins as a polynomial and is bent once by what y times
   its cube is short of 1; the root of y is mended once by what its own cube is short of y.  A subnormal number is
   first multiplied by 2**RAISE.

   takes T                           the type of an element
   takes NAME(name)                  functions of that type
   takes BUILTIN(name)               the compiler's
   takes MAGIC=0x1.8p23f / 0x1.8p52  added and taken off again, it leaves the nearest integer
   takes U=uint32_t / uint64_t       its bits
   takes MANTISSA=23 / 52            bits behind the point
   takes DOUBLE=0 / 1                whether it is a double
   takes BIAS=127.0f / 1023.0        what is added to an exponent
   takes RAISE=24u / 54u             how far subnormal numbers are raised, a multiple of 3
   takes ONE=0x3f800000u / 0x3ff0000000000000u       bits of 1
   takes INFINITE=0x7f800000u / 0x7ff0000000000000u  bits of infinity
   takes TINY=0x1p-126f / 0x1p-1022  the smallest normal number
   takes THIRD=0.3333f / 0.3333      a third
   takes ROOT1=-0.2276f / -0.2276    with ROOT2 2**(-r / 3) = 1 + r (ROOT1 + r ROOT2) for r = 0, 1 and 2
   takes ROOT2=0.0213f / 0.0213      with ROOT1
   takes BENT1=0.2222f / 0.2222      2 / 9
   takes BENT2=0.1728f / 0.1728      14 / 81
   takes HALF=0.5f / 0.5             a half
   takes RECIPROCAL=(m + z)          m**(-1 / 3) from 1 to 2, z = m**2
*/
#pragma once

#include "functions/bits.h"

static inline __attribute__((always_inline)) T NAME(cbrt)(T x)
{
    const T a = BUILTIN(fabs)(x);
    const U low = -(U)(a < TINY) & RAISE;
    const U b = NAME(bits)(a * NAME(of_bits)((low << MANTISSA) + ONE));
#if DOUBLE /* of 64 bits AVX2 converts none: the exponent becomes a number as the lowest bits of one */
    const T k = NAME(of_bits)((b >> MANTISSA) - low + 0x4330000000000040u) - (0x1p+52 + (1023 + 64));
#else
    const T k = (T)((int32_t)((b >> MANTISSA) - low) - 127);
#endif
    const T part = BUILTIN(fma)(k, THIRD, -THIRD), whole = part + (MAGIC + BIAS);
    const T q = whole - (MAGIC + BIAS), r = BUILTIN(fma)(-3, q, k);
    const T m = NAME(of_bits)((b & ((((U)1 << MANTISSA)) - 1)) | ONE), z = m * m;
    const T y = m * BUILTIN(fma)(r, BUILTIN(fma)(r, HALF, HALF), 1);
    const T guess = RECIPROCAL * BUILTIN(fma)(r, BUILTIN(fma)(r, ROOT2, ROOT1), 1);
    const T e = BUILTIN(fma)(-y * guess, guess * guess, 1);
    const T bent = BUILTIN(fma)(e, BUILTIN(fma)(e, BENT2, BENT1), THIRD);
    const T v = BUILTIN(fma)(guess * e, bent, guess), root = y * v * v;
    const T square = root * root, rest = BUILTIN(fma)(root, root, -square);
    const T left = BUILTIN(fma)(-square, root, y) - rest * root;
    const T result = BUILTIN(fma)(left, v * v * THIRD, root) * NAME(of_bits)(NAME(bits)(whole) << MANTISSA);
    return NAME(bits)(a) - 1 < INFINITE - 1 ? BUILTIN(copysign)(result, x) : x;
}
