/* The power with an odd exponent, of numbers of either sign: that of their absolute value, with their sign; with
   libm's, too.

   takes T                   the type of an element
   takes NAME(name)          functions of that type
   takes BUILTIN(name)       the compiler's
   takes POWER=BUILTIN(pow)  the power
*/
#pragma once

static inline __attribute__((always_inline)) T NAME(oddpow)(T x, T exponent)
{
    return BUILTIN(copysign)(POWER(BUILTIN(fabs)(x), exponent), x);
}
