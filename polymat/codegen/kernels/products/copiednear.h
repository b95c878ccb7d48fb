/* Small products whose operands are copied, where need be, to where copies stay near.

   Of B all is copied where it is not contiguous along its rows, and the symmetric whole of one of which a
   triangle is stored; of such an A a strip at a time.

   Measured against packed blocks (Zen 5, one thread): 0.7 to 0.97 of the time of products with a transposed
   right operand, 0.34 to 0.77 of both transposed, 0.6 of a triangle of 30 x 30 and depth 20.

   takes COPIED_LEFT=place == 1 && mirrored                whether A is copied
   takes COPIED_RIGHT=!in_order + (place == 2 && mirrored)  whether B is */
#pragma once

#include "products/triangles.h"

/* B, copied: all of its depth, in rows of whole vectors. */
static inline void NAME(copy_right)(const NAME(half) *half, ptrdiff_t n, ptrdiff_t depth, const T *b,
        ptrdiff_t b_step, ptrdiff_t b_column, T *copy, ptrdiff_t room)
{
    if (HALVES && half->place == 2)
        NAME(pack_half)(half, 0, n, 0, depth, b, b_column, b_step, copy, room);
    else
        NAME(strip)(n, depth, b, b_column, b_step, copy, room, 0);
}

/* A block beside a triangle, or in one of the result of which the strip has some columns of each row. */
static inline void NAME(block_near)(const NAME(half) *half, const NAME(area) *area, NAME(spans) in,
        ptrdiff_t depth, const NAME(operand) *a, const T *b, ptrdiff_t b_step, T scale, T beta,
        const NAME(result) *to)
{
    const int place = HALVES && half->mirror == NULL ? half->place : 0;
    const ptrdiff_t wide = (area->columns + LANES - 1) / LANES;
    if (place == 3 && (area->j < in.whole_0 || area->j + area->columns > in.whole_1))
        NAME(cut)(half, area, depth, a, b, b_step, scale, beta, to);
    else if (place == 1 || place == 2)
        NAME(sum_half)(half, area, 0, depth, a, b, b_step, scale, beta, to, (const char *)b, 0);
    else
        NAME(blocks)[wide - 1][area->rows - 1](depth, a->first, a->row, a->step, b, b_step, scale, beta, to,
                (int)(area->columns - (wide - 1) * LANES));
}

/* A product beside whose strips all of B stays near.  Of a triangle of the result each strip has the panels
   that reach its diagonal, and no others. */
_PM_SHARED __attribute__((noinline)) void NAME(copied_near)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t depth,
        T scale, const NAME(operand) *a, const T *b, ptrdiff_t b_step, ptrdiff_t b_column, T beta,
        const NAME(result) *whole, const NAME(half) *half)
{
    _Alignas(64) T copy[CONST(NEAR)];
    const int place = HALVES ? half->place : 0, mirrored = HALVES && half->mirror != NULL,
              in_order = b_column == 1;
    const int copies_left = COPIED_LEFT, copies_right = COPIED_RIGHT;
    _PM_PACKS(copies_left, copies_right);
    const ptrdiff_t room = ((unsigned)n + LANES - 1) / LANES * LANES;
    if (copies_right) {
        NAME(copy_right)(half, n, depth, b, b_step, b_column, copy, room);
        b = copy;
        b_step = room;
    }
    const unsigned strips = ((unsigned)m + ROWS - 1) / ROWS;
    const unsigned least = (unsigned)m / strips, higher = (unsigned)m % strips;
#pragma GCC unroll 1
    for (unsigned strip = 0, i = 0, rows; strip < strips; strip++, i += rows) {
        rows = least + (strip < higher);
        NAME(spans) in = {0, n, 0, n};
        if (place == 3)
            in = NAME(spans_of)(half, i, rows, 0, n);
        const unsigned first = place == 3 && !half->before ? (unsigned)in.part_0 / LANES * LANES : 0;
        const unsigned last = place == 3 && half->before ? (unsigned)in.part_1 : (unsigned)n;
        const unsigned vectors = (last - first + LANES - 1) / LANES,
                       panels = (vectors + VECTORS - 1) / VECTORS;
        NAME(operand) left = {a->first + i * a->row, a->row, a->step};
        if (copies_left) {
            NAME(pack_half)(half, i, rows, 0, depth, left.first, a->row, a->step, copy + room * depth, rows);
            left = (NAME(operand)){copy + room * depth, 1, rows};
        }
#pragma GCC unroll 1
        for (unsigned panel = 0, j = first, wide; panel < panels; panel++, j += wide * LANES) {
            wide = panels == 1 ? vectors : vectors / panels + (panel < vectors % panels);
            const unsigned filled = last - j < wide * LANES ? last - j : wide * LANES;
            const NAME(result) part = NAME(result_at)(whole, i, j);
            const NAME(area) area = {i, rows, j, filled};
            NAME(block_near)(half, &area, in, depth, &left, b + j, b_step, scale, beta, &part);
        }
    }
}
