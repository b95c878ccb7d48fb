/* The logistic function by the exponential of -|x|, which does not overflow; with libm's, too.

   takes T              the type of an element
   takes NAME(name)     functions of that type
   takes BUILTIN(name)  the compiler's
*/
#pragma once

#include "functions/exponentials.h"

static inline __attribute__((always_inline)) T NAME(sigmoid)(T x)
{
    const T e = NAME(exp)(-BUILTIN(fabs)(x));
    return (x < 0 ? e : 1) / (1 + e);
}
