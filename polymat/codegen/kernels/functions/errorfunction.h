/* The error function, for both types: near 0 a polynomial, beyond 1 - e**p with a polynomial p of |x| - 2.

   takes T                      the type of an element
   takes NAME(name)             functions of that type
   takes BUILTIN(name)          the compiler's
   takes BEYOND=0.95f / 1.0     where the other polynomial begins
   takes MOST=4.0f / 5.95       from it on the result is 1
   takes INNER=(z4 + z2 + z)    erf(x) / x - 1, z = x**2
   takes OUTER=(t4 + t2 + t)    log(1 - erf |x|), t = |x| - 2
*/
#pragma once

#include "functions/exponentials.h"

static inline __attribute__((always_inline)) T NAME(erf)(T x)
{
    const T a = BUILTIN(fabs)(x), z = x * x, z2 = z * z, z4 = z2 * z2;
    const T t = (a > MOST ? MOST : a) - 2, t2 = t * t, t4 = t2 * t2;
    const T far = 1 - NAME(exp)(OUTER);
    return a < BEYOND ? BUILTIN(fma)(x, INNER, x) : BUILTIN(copysign)(far, x);
}
