/* Values of integers, where elements come one after the other.

   takes T=int32_t     the type
   takes NAME(name)    functions of that type
*/
#pragma once

#include <stdint.h>

/* The values of min and max, where elements come one after the other: gcc takes these to registers of vectors
   and back, for an instruction that saves one. */
static inline T NAME(minalone)(T a, T b)
{
    __asm__("" : "+r"(a));
    if (!__builtin_constant_p(b))
        __asm__("" : "+r"(b));
    return a < b ? a : b;
}

static inline T NAME(maxalone)(T a, T b)
{
    __asm__("" : "+r"(a));
    if (!__builtin_constant_p(b))
        __asm__("" : "+r"(b));
    return a > b ? a : b;
}

/* Which of two values, both known, where elements come one after the other: never by a branch. */
static inline T NAME(choose)(int first, T a, T b)
{
    __asm__("" : "+r"(a), "+r"(b));
    return first ? a : b;
}
