/* A register block of filters: some vectors of neighbouring results.

   takes T                                     the type of an element
   takes NAME(name)                            functions and types of that type
   takes WIDTH=4|8                             results in a vector
   takes NEAR_BLOCK=NAME(near_block)                the name of the function
   takes NEAR_TAPS=4                                taps a step
   takes NEAR_SUMS=c0 = {0}                         the results, which begin as 0
   takes NEAR_STEP=c0 += h[0] * (NAME(near))x[0]    what adds a step of taps
   takes NEAR_THREE=c0 += h[0] * (NAME(near))x[0]   what adds three taps
   takes NEAR_TWO=c0 += h[0] * (NAME(near))x[0]     what adds two taps
   takes NEAR_ONE=c0 += h[0] * (NAME(near))x[0]     what adds one tap
   takes NEAR_STORE=y[0] = c0                       what stores the results
*/
#pragma once

#include <stddef.h>
#include "nearvectors.h"

/* Neighbouring results.  The first tap of the first one meets sample `begin`, counted through the phases in
   `samples`, which are `depth` apart.  Taps that are `down` vectors apart follow each other in h: they meet
   vectors that follow each other, each of which is loaded once for several results. */
static __attribute__((noinline)) void NEAR_BLOCK(ptrdiff_t down, ptrdiff_t begin, ptrdiff_t count,
        ptrdiff_t depth, const T *h, const T *samples, T *results)
{
    NAME(near) NEAR_SUMS;
    NAME(near_memory) *const y = (NAME(near_memory) *)(void *)results;
    const ptrdiff_t apart = down * WIDTH, each = count / apart, more = count % apart;
    const ptrdiff_t series = each > 0 ? apart : more;
    ptrdiff_t place = down == 1 ? begin : begin / down, at = begin - place * down;
    for (ptrdiff_t k = 0; k < series; k++) {
        const T *const from = samples + at * depth + place;
        const NAME(near_memory) *x = (const NAME(near_memory) *)(const void *)from;
        ptrdiff_t left = each + (k < more);
        if (++at == down) {
            at = 0;
            place++;
        }
#pragma GCC unroll 1
        for (; left >= NEAR_TAPS; left -= NEAR_TAPS) {
            NEAR_STEP;
            h += NEAR_TAPS;
            x += NEAR_TAPS;
        }
        if (left == 3) {
            NEAR_THREE;
        } else if (left == 2) {
            NEAR_TWO;
        } else if (left == 1) {
            NEAR_ONE;
        }
        h += left;
    }
    NEAR_STORE;
}
