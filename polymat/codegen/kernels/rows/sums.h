/* The lanes of four vectors added up together: transposed while they are added, in half the steps.

   takes T                  the type of an element
   takes LANES=4            elements of a vector
   takes VECTOR=NAME(row)   a vector
   takes SUMS=NAME(sums)    the name of the function
   takes MERGED(x, y)=x + y  the sums of neighbouring lanes of two vectors, next to each other
   takes TOGETHER=(void)to, (void)left, (void)right  what adds up the lanes of two such vectors, and stores them
*/
#pragma once

#include "rows/vectors.h"
#include "shuffles.h"

/* The sums of the lanes of four vectors. */
static inline __attribute__((always_inline)) void SUMS(VECTOR a, VECTOR b, VECTOR c, VECTOR d, T *to)
{
#ifdef _PM_SHUFFLES
    const VECTOR left = MERGED(a, b), right = MERGED(c, d);
    TOGETHER;
#else
    const VECTOR rows[] = {a, b, c, d};
    for (int row = 0; row < 4; row++) {
        to[row] = 0;
        for (int lane = 0; lane < LANES; lane++)
            to[row] += rows[row][lane];
    }
#endif
}
