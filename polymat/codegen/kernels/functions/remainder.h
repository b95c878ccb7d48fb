/* Floor division of floating-point numbers and its remainder, to the bits of NumPy's: the common case, without
   branches.

   The floor of the rounded quotient is the floor, or one more where the quotient was rounded up to a whole number:
   what is left has the other sign than the divisor then.  What is left is exact, but where the two have different
   signs and its last bits are below those of the divisor's, where NumPy adds the divisor to fmod's result and
   rounds once, as the fused multiply-add does.  Quotients that have no floor of their own, infinite divisors,
   zeros of them and NaN are beyond.

   takes T                           the type of an element
   takes NAME(name)                  functions of that type
   takes BUILTIN(name)               the compiler's
   takes U=uint32_t / uint64_t       its bits
   takes LAST=31 / 63                the bit of the sign
   takes LIMIT=0x1p22f / 0x1p51      from which on quotients are too large
*/
#pragma once

#include "functions/bits.h"

/* The floor of x / y, or one more, and what is left with the sign that it has beside y: negative where one more. */
static inline __attribute__((always_inline)) T NAME(left)(T x, T y, T *whole, U *far)
{
    *whole = BUILTIN(floor)(x / y);
    const T left = BUILTIN(fma)(-*whole, y, x);
    *far |= (U) !(BUILTIN(fabs)(*whole) < LIMIT) | (U) !(BUILTIN(fabs)(left) < BUILTIN(fabs)(y));
    return NAME(of_bits)(NAME(bits)(left) ^ (NAME(bits)(y) & (U)1 << LAST));
}

static inline __attribute__((always_inline)) T NAME(modlanes_near)(T x, T y, U *far)
{
    T whole;
    const T left = NAME(left)(x, y, &whole, far);
    return BUILTIN(copysign)(left < 0 ? left + BUILTIN(fabs)(y) : left, y);
}

static inline __attribute__((always_inline)) T NAME(floordivlanes_near)(T x, T y, U *far)
{
    T whole;
    const T left = NAME(left)(x, y, &whole, far);
    return left < 0 ? whole - 1 : whole;
}
