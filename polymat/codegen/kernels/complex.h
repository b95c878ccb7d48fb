/* Arithmetic of complex numbers as NumPy has it.

   takes T              the type of each part
   takes NAME(name)     functions of that type
   takes MATH(name)     functions of libm
   takes BUILTIN(name)  functions of the compiler
*/
#pragma once

#include <math.h>

/* Smith's division, as NumPy computes it, by the larger part of the divisor; a division by zero gives infinities, or
   NaN.  All are choices between two numbers, for loops on vectors. */
static inline __attribute__((always_inline)) T _Complex NAME(div)(T _Complex a, T _Complex b)
{
    const T x = __real__ a, y = __imag__ a, c = __real__ b, d = __imag__ b;
    const int wide = MATH(fabs)(c) >= MATH(fabs)(d), none = (c == 0) & (d == 0);
    const T large = wide ? c : d, small = wide ? d : c, ratio = small / large;
    const T scale = 1 / (none ? MATH(fabs)(c) : large + small * ratio);
    const T real = (wide ? x : y) + (wide ? y : x) * ratio;
    const T imaginary = (wide ? y : -x) + (wide ? -x : y) * ratio;
    return __builtin_complex((none ? x : real) * scale, (none ? y : imaginary) * scale);
}

/* NumPy's power: small integer exponents by multiplication, 0 to the power 0 is 1. */
static inline T _Complex NAME(pow)(T _Complex a, T _Complex b)
{
    const T exponent = __real__ b;
    if (exponent == 0 && __imag__ b == 0)
        return 1;
    if (__real__ a == 0 && __imag__ a == 0)
        return exponent > 0 ? 0 : __builtin_complex((T)NAN, (T)NAN);
    if (__imag__ b != 0 || exponent != MATH(rint)(exponent) || MATH(fabs)(exponent) >= 100)
        return BUILTIN(cpow)(a, b);
    T _Complex result = 1, power = a;
    for (int left = (int)MATH(fabs)(exponent); left != 0; left >>= 1) {
        if (left & 1)
            result = result == 1 ? power : result * power;
        power *= power;
    }
    return exponent < 0 ? NAME(div)(1, result) : result;
}

/* Powers that NumPy multiplies out. */
static inline __attribute__((always_inline)) T _Complex NAME(square)(T _Complex a)
{
    return a * a;
}

static inline __attribute__((always_inline)) T _Complex NAME(cube)(T _Complex a)
{
    return a * (a * a);
}

/* Which of two values, both known: each part by itself, for gcc makes no vectors of loops that choose both. */
static inline __attribute__((always_inline)) T _Complex NAME(choose)(int first, T _Complex a, T _Complex b)
{
    return __builtin_complex(first ? __real__ a : __real__ b, first ? __imag__ a : __imag__ b);
}
