/* A function of vectors where some lanes lie beyond the common case: so that the usual one needs no memory.

   takes T                       the type of an element
   takes LANES=4                 elements of a vector
   takes VECTOR=NAME(sinb)       the type of a vector
   takes BEYOND=NAME(sin_farb)   the name of the function
   takes EACH=NAME(sin)          the function of one element
   takes VECTORS=VECTOR x        parameters
   takes LANE=x[lane]            arguments of one lane
*/
#pragma once

#include "functions/called.h"

typedef T VECTOR __attribute__((vector_size(sizeof(T) * LANES)));
static __attribute__((noinline, cold)) VECTOR BEYOND(VECTORS)
{
    for (int lane = 0; lane < LANES; lane++)
        x[lane] = EACH(LANE);
    return x;
}
