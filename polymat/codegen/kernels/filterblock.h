/* A register block of filters: its results at consecutive positions of all runs.

   takes T                          the type of an element
   takes NAME(name)                 functions and types of that type
   takes PARTS=1|2                  vectors of a position
   takes BLOCK=NAME(filter_block)   the name of the function
   takes TAPS=1                     taps a step
   takes SUMS=c0 = {0}              the results, which begin as 0
   takes STEP=c0 += h[0] * x[0]    what adds a step of taps
   takes ONE=c0 += h[0] * x[0]     what adds one tap
   takes STORE=y[0 * across] = c0  what stores the results
*/
#pragma once

#include <stddef.h>
#include "filterlanes.h"

/* Results of every run, `across` positions apart: phase after phase, some taps a step.  The first tap meets
   sample `begin` of each run. */
static __attribute__((noinline)) void BLOCK(ptrdiff_t down, ptrdiff_t begin, ptrdiff_t count, ptrdiff_t depth,
        const T *h, const T *table, T *results, ptrdiff_t across)
{
    NAME(lanes) SUMS;
    NAME(lanes) *const y = (NAME(lanes) *)(void *)results;
    const ptrdiff_t phases = down < count ? down : count;
    const ptrdiff_t each = down == 1 ? count : count / down;
    const ptrdiff_t more = count - each * down;
    ptrdiff_t place = down == 1 ? begin : begin / down, at = begin - place * down;
    for (ptrdiff_t phase = 0; phase < phases; phase++) {
        const NAME(lanes) *x = (const NAME(lanes) *)(const void *)table + (at * depth + place) * PARTS;
        ptrdiff_t left = each + (phase < more);
        if (++at == down) {
            at = 0;
            place++;
        }
#pragma GCC unroll 1
        for (; left >= TAPS; left -= TAPS) {
            STEP;
            h += TAPS;
            x += TAPS * PARTS;
        }
#pragma GCC unroll 1
        for (; left > 0; left--) {
            ONE;
            h++;
            x += PARTS;
        }
    }
    STORE;
}
