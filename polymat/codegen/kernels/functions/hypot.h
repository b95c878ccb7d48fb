/* The length of a vector of two coordinates: the root of the sum of their squares, scaled where those would
   overflow, or lose what they have in common with nothing.

   takes T                              the type of an element
   takes NAME(name)                     functions of that type
   takes U=uint32_t / uint64_t          its bits
   takes BUILTIN(name)                  the compiler's
   takes LARGE=0x1p+62f / 0x1p+510      above it squares overflow
   takes SMALL=0x1p-50f / 0x1p-450      below it they are inexact
   takes RAISED=0x1p+90f / 0x1p+600     what small ones are scaled by, and large ones divided
   takes LOWERED=0x1p-90f / 0x1p-600    its reciprocal
*/
#pragma once

#include "functions/bits.h"

/* Where one is infinite the other may be NaN.  The result is no choice: what follows would be followed on both
   its ways.  What is infinite is told by its bits: of numbers gcc 13 concludes that none is where their sum is
   not greater than LARGE, as that with NaN is not. */
static inline __attribute__((always_inline)) T NAME(hypot)(T x, T y)
{
    const T wide = BUILTIN(fabs)(x), high = BUILTIN(fabs)(y), sum = wide + high, most = BUILTIN(inf)();
    const U endless = NAME(bits)(most);
    const T scale = sum > LARGE ? LOWERED : (sum < SMALL ? RAISED : 1);
    const T back = sum > LARGE ? RAISED : (sum < SMALL ? LOWERED : 1);
    const T a = (NAME(bits)(high) == endless ? most : wide) * scale;
    const T b = (NAME(bits)(wide) == endless ? most : high) * scale;
    return BUILTIN(sqrt)(BUILTIN(fma)(a, a, b * b)) * back;
}
