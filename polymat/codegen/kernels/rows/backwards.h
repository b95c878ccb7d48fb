/* A vector with its lanes in the opposite order.

   takes T                              the type of an element
   takes NAME(name)                     functions and types of that type
   takes LANES=4|8|16                   elements of a vector
   takes BACKWARDS=all                  all of its lanes, from the last one to the first
*/
#pragma once

#include "rows/vectors.h"
#include "shuffles.h"

/* The lanes from the last one to the first. */
static inline NAME(row) NAME(row_backwards)(NAME(row) all)
{
#ifdef _PM_SHUFFLES
    return BACKWARDS;
#else
    NAME(row) turned;
    for (int lane = 0; lane < LANES; lane++)
        turned[lane] = all[LANES - 1 - lane];
    return turned;
#endif
}
