/* Small products, about which nothing is asked. */
#pragma once

#include "products/blocks.h"

/* A product of matrices about which nothing is asked, because of what the caches hold. */
static __attribute__((noinline)) void NAME(small)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t depth, T scale,
        const NAME(operand) *a, const T *b, ptrdiff_t b_step, T beta, const NAME(result) *whole)
{
    const unsigned vectors = ((unsigned)n + LANES - 1) / LANES, panels = (vectors + VECTORS - 1) / VECTORS;
    const unsigned strips = ((unsigned)m + ROWS - 1) / ROWS;
    const unsigned least = (unsigned)m / strips, higher = (unsigned)m % strips;
#pragma GCC unroll 1
    for (unsigned panel = 0, j = 0; panel < panels; panel++) {
        const unsigned wide = panels == 1 ? vectors : vectors / panels + (panel < vectors % panels);
        const unsigned left = (unsigned)n - j < wide * LANES ? (unsigned)n - j : wide * LANES;
#pragma GCC unroll 1
        for (unsigned strip = 0, i = 0; strip < strips; strip++) {
            const unsigned rows = least + (strip < higher);
            const NAME(result) part = NAME(result_at)(whole, i, j);
            NAME(blocks)[wide - 1][rows - 1](depth, a->first + i * a->row, a->row, a->step, b + j, b_step,
                    scale, beta, &part, (int)(left - (wide - 1) * LANES));
            i += rows;
        }
        j += wide * LANES;
    }
}
