/* Arithmetic of complex numbers as NumPy has it.

   takes T              the type of each part
   takes NAME(name)     functions of that type
   takes MATH(name)     functions of libm
   takes BUILTIN(name)  functions of the compiler
*/
#pragma once

#include <math.h>

/* Smith's division, as NumPy computes it; a division by zero gives infinities, or NaN. */
static inline T _Complex NAME(div)(T _Complex a, T _Complex b)
{
    const T c = __real__ b, d = __imag__ b;
    if (c == 0 && d == 0)
        return __builtin_complex(__real__ a / MATH(fabs)(c), __imag__ a / MATH(fabs)(c));
    if (MATH(fabs)(c) >= MATH(fabs)(d)) {
        const T ratio = d / c, scale = 1 / (c + d * ratio);
        return __builtin_complex((__real__ a + __imag__ a * ratio) * scale,
                (__imag__ a - __real__ a * ratio) * scale);
    }
    const T ratio = c / d, scale = 1 / (c * ratio + d);
    return __builtin_complex((__real__ a * ratio + __imag__ a) * scale,
            (__imag__ a * ratio - __real__ a) * scale);
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
