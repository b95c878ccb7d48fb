/* Powers by tables, for both types: the part of y log(x) that tells the result, and that result.

   x = 2**k m with m from 1 to 2 (of double, half a cell less: the largest r is half as large, and fewer terms
   are needed).  Of the cell of m a table has 1 / c, so short that r = m / c - 1 is exact, and log(c):
   log(x) = k log(2) + log(c) + log(1 + r), the sum of two numbers, of which the small one is brought below the
   rounding of the other.  y log(x) = n log(2) / N + s, and x**y is 2**(n / N) by a table times e**s.  Floats
   compute in units of log(2) / 32, of which n has no rounding, and have one number more to multiply by.

   takes T                           the type of an element
   takes NAME(name)                  functions of that type
   takes BUILTIN(name)               the compiler's
   takes U=uint32_t / uint64_t       its bits
   takes DOUBLE=0 / 1                whether it is a double
   takes MAGIC=0x1.8p23f / 0x1.8p52  added and taken off again, it leaves the nearest integer
   takes LOGARITHM=(r + w) / (r + w2)  (log(1 + r) - r + r**2 / 2) / r**3, of floats times 32 / log(2); w = r**2
   takes EXPONENTIAL=(s + s)         of floats (2**(s / 32) - 1) / s, of doubles (e**s - 1 - s) / s**2; a = s**2
*/
#pragma once

#include "functions/bits.h"
#include "functions/permuted.h"

#if defined(_PM_PERMUTED) && DOUBLE
static inline
        __attribute__((always_inline)) T NAME(pow_middle)(T k, T m, T y, T inverse, T high, T low, T *whole)
{
    const T half = 0.5, ln2hi = 0x1.62e42fefa38p-1, ln2lo = 0x1.ef35793c76p-45, cells = 0x1.71547652b82fep+4;
    const T cellhi = 0x1.62e42fefap-5, celllo = 0x1.cf79abc9e3b3ap-44;
    const T r = BUILTIN(fma)(m, inverse, -1), w = r * r, w2 = w * w, p = LOGARITHM;
    const T t = BUILTIN(fma)(k, ln2hi, high), u = t + r, rest = (t - u) + r;
    const T a = half * -r, v = BUILTIN(fma)(a, r, u), square = BUILTIN(fma)(a, r, u - v);
    const T left = BUILTIN(fma)(r * w, p, (BUILTIN(fma)(k, ln2lo, low) + rest) + square);
    const T h = v + left, hl = (v - h) + left;
    *whole = BUILTIN(fma)(y * h, cells, MAGIC);
    const T n = *whole - MAGIC;
    return BUILTIN(fma)(y, hl, BUILTIN(fma)(n, -celllo, BUILTIN(fma)(y, h, n * -cellhi)));
}

static inline __attribute__((always_inline)) T NAME(pow_end)(T s, T whole, U two)
{
    const T power = NAME(of_bits)(two + (NAME(bits)(whole) << 48)), a = s * s, p = EXPONENTIAL;
    return BUILTIN(fma)(BUILTIN(fma)(a, p, s), power, power);
}
#elif defined(_PM_PERMUTED)
static inline
        __attribute__((always_inline)) T NAME(pow_middle)(T k, T m, T y, T inverse, T high, T low, T *whole)
{
    const T half = 0.5f, cells = 0x1.715476p+5f, cellslo = 0x1.4ae0cp-21f;
    const T r = BUILTIN(fma)(m, inverse, -1), w = r * r, p = LOGARITHM;
    const T a = half * -r, q = BUILTIN(fma)(a, r, r), ql = BUILTIN(fma)(a, r, r - q);
    const T t = BUILTIN(fma)(k, 32, high), u = BUILTIN(fma)(q, cells, t),
            rest = BUILTIN(fma)(q, cells, t - u);
    const T some = BUILTIN(fma)(q, cellslo, BUILTIN(fma)(ql, cells, rest + low));
    const T left = BUILTIN(fma)(r * w, p, some), h = u + left, hl = (u - h) + left;
    *whole = BUILTIN(fma)(y, h, MAGIC);
    return BUILTIN(fma)(y, hl, BUILTIN(fma)(y, h, -(*whole - MAGIC)));
}

static inline __attribute__((always_inline)) T NAME(pow_end)(T s, T whole, U two)
{
    const T power = NAME(of_bits)(two + (NAME(bits)(whole) << 18)), p = EXPONENTIAL;
    return BUILTIN(fma)(power * s, p, power);
}
#endif
