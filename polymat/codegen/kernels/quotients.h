/* Floor division of integers of up to 32 bits by floating-point numbers: processors divide no integers in vectors.

   takes T=int32_t                                   the type
   takes NAME(name)                                  functions of that type
   takes F=double                                    a type whose quotients are close enough
   takes BITS=uint64_t                               its bits
   takes FLOOR(x)=__builtin_floor(x)                 of that type
   takes COPYSIGN(x,y)=__builtin_copysign(x, y)      of that type
   takes UNIT=6755399441055744.0                     1.5 times the power of two from which on numbers are whole
*/
#pragma once

#include <stdint.h>

/* The values of floordiv and mod, for vectors.  Half a unit towards the divisor's sign is added to `a`, which
   leaves the floor of the quotient as it is, and keeps the quotient 1 / 2b from the next whole number: one part
   in 2 |a| + 1 of it, at most 2^17 for integers of 16 bits, divided in float to within 2^-24, and 2^33 for 32
   bits, in double to within 2^-53; so floors are exact, by reciprocals as well, where a user asks for them.
   The last bits of its sum with UNIT are the quotient, wrapped as integers are. */
static inline __attribute__((always_inline)) T NAME(floordivlanes)(T a, T b)
{
    const F divisor = (F)(T)(b == 0 ? 1 : b);
    const union {
        F number;
        BITS bits;
    } found = {FLOOR(((F)a + COPYSIGN((F)0.5, divisor)) / divisor) + (F)UNIT};
    return b == 0 ? 0 : (T)found.bits;
}

static inline __attribute__((always_inline)) T NAME(modlanes)(T a, T b)
{
    const F divisor = (F)(T)(b == 0 ? 1 : b);
    const union {
        F number;
        BITS bits;
    } found = {FLOOR(((F)a + COPYSIGN((F)0.5, divisor)) / divisor) + (F)UNIT};
    const BITS by = (BITS)b;
    return b == 0 ? 0 : (T)((BITS)a - found.bits * by);
}
