/* The absolute value of a complex number; with libm's hypot, too.

   takes T           the type of each part
   takes NAME(name)  functions of that type
*/
#pragma once

#include "functions/hypot.h"

static inline __attribute__((always_inline)) T NAME(cabs)(T _Complex z)
{
    return NAME(hypot)(__real__ z, __imag__ z);
}
