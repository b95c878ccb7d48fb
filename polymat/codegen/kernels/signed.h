/* Arithmetic of signed integers, where that of C is not that of NumPy.

   takes T=int32_t     the type
   takes NAME(name)           functions of that type
   takes U=uint32_t  the unsigned type as large as it, or larger
   takes W=uint32_t  an unsigned type in which products wrap
*/
#pragma once

#include <stdint.h>
#include "inorder.h"

/* Floor division and its remainder: 0 for a division by zero, and the least value divided by -1 wraps.  Nothing
   branches on signs. */
static inline __attribute__((always_inline)) T NAME(floordiv)(T a, T b)
{
    if (b == 0)
        return 0;
    if (b == -1)
        return (T)(0u - (U)a);
    const T q = (T)(a / b);
    return (T)(q - ((a % b != 0) & ((a ^ b) < 0)));
}

static inline __attribute__((always_inline)) T NAME(mod)(T a, T b)
{
    if (b == 0 || b == -1)
        return 0;
    const T r = (T)(a % b), wrong = (T)((r != 0) & ((r ^ b) < 0));
    return (T)(r + (b & -wrong));
}

/* Shifts: by a negative number of bits, or by more than there are, all bits leave. */
static inline __attribute__((always_inline)) T NAME(shl)(T a, T b)
{
    return (T)((U)b < 8 * sizeof(T) ? (U)a << b : 0);
}

static inline __attribute__((always_inline)) T NAME(shr)(T a, T b)
{
    return (T)(a >> ((U)b < 8 * sizeof(T) ? b : (T)(8 * sizeof(T) - 1)));
}

/* Power by squaring, wrapping; a negative exponent gives the quotient towards zero, 0 but for 1 and -1. */
static inline __attribute__((always_inline)) T NAME(pow)(T base, T exponent)
{
    if (exponent < 0)
        return (T)(base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0);
    W result = 1, power = (W)base;
    for (W left = (W)exponent; left != 0; left >>= 1) {
        if (left & 1)
            result *= power;
        power *= power;
    }
    return (T)result;
}

static inline __attribute__((always_inline)) T NAME(square)(T a)
{
    return (T)((W)a * (W)a);
}

static inline __attribute__((always_inline)) T NAME(min)(T a, T b)
{
    return a < b ? a : b;
}

static inline __attribute__((always_inline)) T NAME(max)(T a, T b)
{
    return a > b ? a : b;
}

static inline __attribute__((always_inline)) T NAME(abs)(T a)
{
    return a < 0 ? (T)(0u - (U)a) : a;
}

static inline __attribute__((always_inline)) T NAME(sign)(T a)
{
    return (T)((a > 0) - (a < 0));
}
