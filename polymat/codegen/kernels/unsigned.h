/* Arithmetic of unsigned integers, and of truth values, where that of C is not that of NumPy.

   takes T=uint32_t   the type
   takes NAME(name)           functions of that type
   takes W=uint32_t  an unsigned type in which products wrap
*/
#pragma once

#include <stdint.h>
#include "inorder.h"

static inline __attribute__((always_inline)) T NAME(floordiv)(T a, T b)
{
    return (T)(b == 0 ? 0 : a / b);
}

static inline __attribute__((always_inline)) T NAME(mod)(T a, T b)
{
    return (T)(b == 0 ? 0 : a % b);
}

static inline __attribute__((always_inline)) T NAME(shl)(T a, T b)
{
    return (T)(b < 8 * sizeof(T) ? (W)a << b : 0);
}

static inline __attribute__((always_inline)) T NAME(shr)(T a, T b)
{
    return (T)(b < 8 * sizeof(T) ? a >> b : 0);
}

static inline __attribute__((always_inline)) T NAME(pow)(T base, T exponent)
{
    W result = 1, power = base;
    for (W left = exponent; left != 0; left >>= 1) {
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

static inline __attribute__((always_inline)) T NAME(sign)(T a)
{
    return (T)(a > 0);
}
