/* Arithmetic of floating-point numbers as NumPy has it.

   takes T                      the type of an element
   takes NAME(name)             functions of that type
   takes MATH(name)             functions of libm
   takes U=uint32_t / uint64_t  its bits
*/
#pragma once

#include <math.h>
#include <stdint.h>

/* Python's quotient and remainder, as NumPy computes them, with the same rounding and the same signs of zero. */
static inline __attribute__((always_inline)) T NAME(floordiv)(T a, T b)
{
    if (b == 0)
        return a / b;
    const T r = MATH(fmod)(a, b);
    T quotient = (a - r) / b;
    if (r != 0 && (b < 0) != (r < 0))
        quotient -= 1;
    if (quotient == 0)
        return MATH(copysign)(0, a / b);
    const T whole = MATH(floor)(quotient);
    return quotient - whole > (T)0.5 ? whole + 1 : whole;
}

static inline __attribute__((always_inline)) T NAME(mod)(T a, T b)
{
    const T r = MATH(fmod)(a, b);
    if (b == 0)
        return r;
    if (r == 0)
        return MATH(copysign)(0, b);
    return (b < 0) != (r < 0) ? r + b : r;
}

/* To within two roundings, by numbers of either sign. */
static inline __attribute__((always_inline)) T NAME(cube)(T a)
{
    return a * a * a;
}

static inline __attribute__((always_inline)) T NAME(ipow)(T base, int64_t exponent)
{
    T result = 1;
    for (uint64_t left = exponent < 0 ? 0u - (uint64_t)exponent : (uint64_t)exponent; left != 0; left >>= 1) {
        if (left & 1)
            result *= base;
        base *= base;
    }
    return exponent < 0 ? 1 / result : result;
}

/* A NaN on either side is the result; written without branches, for the vectoriser.  Beside a constant on the
   right, as in max(x, 0), one comparison says it all, and where both are equal `b` is the result either way. */
static inline __attribute__((always_inline)) T NAME(min)(T a, T b)
{
    if (__builtin_constant_p(b))
        return ((a >= b) | (b != b)) ? b : a;
    return ((a < b) | (a != a)) ? a : b;
}

static inline __attribute__((always_inline)) T NAME(max)(T a, T b)
{
    if (__builtin_constant_p(b))
        return ((a <= b) | (b != b)) ? b : a;
    return ((a > b) | (a != a)) ? a : b;
}

/* The values of min and max, where both sides may be such themselves: gcc 12 asks of what is chosen whether it is
   NaN before it chooses, and writes no vectors of such a loop; it does of masks. */
static inline __attribute__((always_inline)) T NAME(minmasked)(T a, T b)
{
    const union {
        T number;
        U bits;
    } one = {a}, other = {b};
    const U mask = (U)0 - (U)((a < b) | (a != a));
    const union {
        U bits;
        T number;
    } found = {(one.bits & mask) | (other.bits & ~mask)};
    return found.number;
}

static inline __attribute__((always_inline)) T NAME(maxmasked)(T a, T b)
{
    const union {
        T number;
        U bits;
    } one = {a}, other = {b};
    const U mask = (U)0 - (U)((a > b) | (a != a));
    const union {
        U bits;
        T number;
    } found = {(one.bits & mask) | (other.bits & ~mask)};
    return found.number;
}

/* The first of two values where it is NaN, else the other one.  Two instructions, which gcc 12 makes a branch. */
static inline __attribute__((always_inline)) T NAME(ifnan)(T a, T other)
{
#ifdef __AVX__
    T unordered, found;
    if (sizeof(T) == 8) {
        __asm__("vcmpunordsd %1, %1, %0" : "=x"(unordered) : "x"(a));
        __asm__("vblendvpd %3, %2, %1, %0" : "=x"(found) : "x"(other), "x"(a), "x"(unordered));
    } else {
        __asm__("vcmpunordss %1, %1, %0" : "=x"(unordered) : "x"(a));
        __asm__("vblendvps %3, %2, %1, %0" : "=x"(found) : "x"(other), "x"(a), "x"(unordered));
    }
    return found;
#else
    return a != a ? a : other;
#endif
}

/* The values of min and max, where elements come one after the other: what is written for vectors becomes
   branches there, which random numbers take as often as not. */
static inline __attribute__((always_inline)) T NAME(minalone)(T a, T b)
{
    return NAME(ifnan)(a, a < b ? a : b);
}

static inline __attribute__((always_inline)) T NAME(maxalone)(T a, T b)
{
    return NAME(ifnan)(a, a > b ? a : b);
}

/* Which of two values, both known, where elements come one after the other: never by a branch. */
static inline __attribute__((always_inline)) T NAME(choose)(int first, T a, T b)
{
#ifdef __AVX__
    const union {
        uint64_t all;
        T part;
    } mask = {first ? ~(uint64_t)0 : 0};
    T found;
    if (sizeof(T) == 8)
        __asm__("vblendvpd %3, %2, %1, %0" : "=x"(found) : "x"(b), "x"(a), "x"(mask.part));
    else
        __asm__("vblendvps %3, %2, %1, %0" : "=x"(found) : "x"(b), "x"(a), "x"(mask.part));
    return found;
#else
    return first ? a : b;
#endif
}

/* A number that the compiler does not know. */
static __attribute__((noinline, noclone, const)) T NAME(hidden)(T a)
{
    __asm__("" : "+r"(a));
    return a;
}

/* As min and max with a bound that is a number, whether the compiler knows it or not, but for the sign of
   zero.  Written so, they are one instruction. */
static inline __attribute__((always_inline)) T NAME(atmost)(T a, T bound)
{
    return bound < a ? bound : a;
}

static inline __attribute__((always_inline)) T NAME(atleast)(T a, T bound)
{
    return bound > a ? bound : a;
}

/* As atleast, and the bound in place of NaN. */
static inline __attribute__((always_inline)) T NAME(above)(T a, T bound)
{
    return a > bound ? a : bound;
}

static inline __attribute__((always_inline)) T NAME(sign)(T a)
{
    return a > 0 ? 1 : a < 0 ? -1 : a == 0 ? 0 : a;
}
