/* A routine of a BLAS, timed.

   takes T=double         the type of an element
   takes TIMER=pm_made    the name of the function
   takes CALL=c[0] = a[0] * b[0] * one + zero * (T)(x + y + z)  what is timed
*/
#pragma once

#include "calibration/rounds.h"

/* The best of several times of one call; operands of as many elements as it takes at a, b and c are there. */
double TIMER(ptrdiff_t x, ptrdiff_t y, ptrdiff_t z, double sample, double patience, void *pa, void *pb,
        void *pc)
{
    T *const a = pa, *const b = pb, *const c = pc;
    const T one = 1, zero = 0;
    (void)x, (void)y, (void)z, (void)a, (void)b, (void)c, (void)one, (void)zero;
    ROUNDS(CALL);
    return best;
}
