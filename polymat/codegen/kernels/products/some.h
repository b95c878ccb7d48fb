/* Some lanes of a vector stored, where whole lines are written past the caches. */
#pragma once

#include "products/somedeclared.h"

#if CONST(WHOLE)
/* Lanes first..end - 1 of a vector, one by one; `to` is where the first one of all would go. */
_PM_SHARED __attribute__((noinline)) void NAME(some)(T *to, NAME(vector) value, int first, int end)
{
    T lanes[LANES];
    *(NAME(memory) *)lanes = value;
    for (int lane = first; lane < end; lane++)
        to[lane] = lanes[lane];
}
#endif
