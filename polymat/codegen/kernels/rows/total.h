/* The lanes of one vector, added up, and magnitudes.

   takes T                              the type of an element
   takes NAME(name)                     functions and types of that type
   takes LANES=4|8|16                   elements of a vector
   takes POSITIVE=INT32_MAX / INT64_MAX  every bit but that of the sign
   takes HALVES=all += all              what adds each half of the lanes to the other, until two sums are left
*/
#pragma once

#include <stdint.h>
#include "rows/vectors.h"
#include "shuffles.h"

/* Magnitudes: without the bit that is the sign. */
static inline NAME(row) NAME(row_abs)(NAME(row) value)
{
    return (NAME(row))((NAME(row_places))value & POSITIVE);
}

/* The sum of the lanes of a vector. */
static inline T NAME(row_total)(NAME(row) all)
{
#ifdef _PM_SHUFFLES
    HALVES;
    return all[0] + all[1];
#else
    T sum = 0;
    for (int lane = 0; lane < LANES; lane++)
        sum += all[lane];
    return sum;
#endif
}
