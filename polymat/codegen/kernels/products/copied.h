/* Small products whose right operand is copied as a whole.

   Measured against packed blocks (Zen 5, one thread): 0.7 to 0.97 of the time of products with a transposed
   right operand, 0.34 to 0.77 of both transposed, 0.6 of a triangle of 30 x 30 and depth 20. */
#pragma once

#include "products/triangles.h"

/* A product beside whose strips all of B stays near, copied as a whole where it is not contiguous along its
   rows.  Of a triangle of the result each strip has the panels that reach its diagonal, and no others. */
_PM_SHARED __attribute__((noinline)) void NAME(small_copied)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t depth,
        T scale, const NAME(operand) *a, const T *b, ptrdiff_t b_step, ptrdiff_t b_column, T beta,
        const NAME(result) *whole, const NAME(half) *half)
{
    _Alignas(64) T copy[CONST(NEAR)];
    const int is_half = HALVES && half->place == 3;
    if (b_column != 1) {
        const ptrdiff_t room = ((unsigned)n + LANES - 1) / LANES * LANES;
        NAME(strip)(n, depth, b, b_column, b_step, copy, room, 0);
        b = copy;
        b_step = room;
    }
    const unsigned strips = ((unsigned)m + ROWS - 1) / ROWS;
    const unsigned least = (unsigned)m / strips, higher = (unsigned)m % strips;
#pragma GCC unroll 1
    for (unsigned strip = 0, i = 0, rows; strip < strips; strip++, i += rows) {
        rows = least + (strip < higher);
        NAME(spans) in = {0, n, 0, n};
        if (is_half)
            in = NAME(spans_of)(half, i, rows, 0, n);
        const unsigned first = is_half && !half->before ? (unsigned)in.part_0 / LANES * LANES : 0;
        const unsigned last = is_half && half->before ? (unsigned)in.part_1 : (unsigned)n;
        const unsigned vectors = (last - first + LANES - 1) / LANES,
                       panels = (vectors + VECTORS - 1) / VECTORS;
#pragma GCC unroll 1
        for (unsigned panel = 0, j = first, wide; panel < panels; panel++, j += wide * LANES) {
            wide = panels == 1 ? vectors : vectors / panels + (panel < vectors % panels);
            const unsigned filled = last - j < wide * LANES ? last - j : wide * LANES;
            const NAME(result) part = NAME(result_at)(whole, i, j);
            const NAME(operand) strip_of_a = {a->first + i * a->row, a->row, a->step};
            const NAME(area) area = {i, rows, j, filled};
            if (is_half && ((ptrdiff_t)j < in.whole_0 || (ptrdiff_t)(j + filled) > in.whole_1))
                NAME(cut)(half, &area, depth, &strip_of_a, b + j, b_step, scale, beta, &part);
            else
                NAME(blocks)[wide - 1][rows - 1](depth, a->first + i * a->row, a->row, a->step, b + j, b_step,
                        scale, beta, &part, (int)(filled - (wide - 1) * LANES));
        }
    }
}
