/* A function of vectors as a loop over their lanes, by the name that the vectors' ABI gives it.

   takes T                                            the type of an element
   takes U=uint32_t / uint64_t                        its bits
   takes LANES=4                                      elements of a vector
   takes VECTOR=NAME(sinb)                            the type of a vector
   takes MAPPED=NAME(sin_ofb)                         the name of the function
   takes SYMBOL="_pm_sin"                             its name for the linker
   takes BEYOND=NAME(sin_farb)                        the function where lanes lie beyond the common case
   takes COMMON=NAME(sin_near)                        the common case, which says whether arguments lie beyond it
   takes VECTORS=VECTOR x                             parameters
   takes ARGUMENTS=x                                  their names
   takes LANED=xs = {x}                               as unions with their lanes
   takes ELEMENTS=xs.each[lane]                       arguments of one lane

   gcc 12 copies vectors of 256 bits to arrays in halves, and a load of both at once waits for these in memory.
*/
#pragma once

#include "functions/far.h"

__attribute__((weak, visibility("hidden"))) VECTOR MAPPED(VECTORS) __asm__(SYMBOL);
VECTOR MAPPED(VECTORS)
{
    union {
        VECTOR whole;
        T each[LANES];
    } LANED, out;
    U far = 0;
#pragma omp simd simdlen(LANES) reduction(| : far)
    for (int lane = 0; lane < LANES; lane++)
        out.each[lane] = COMMON(ELEMENTS, &far);
    if (__builtin_expect(far != 0, 0))
        return BEYOND(ARGUMENTS);
    return out.whole;
}
