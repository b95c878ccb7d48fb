/* Products of a few columns whose left operand is contiguous along its rows: computed as their transpose.

   Vectors of columns would be mostly empty, and a strip of a few rows reads a part of each line of A, or a
   copy of it.  Here the lanes of vectors are rows of the result, read where they are, and the elements of a
   few columns are broadcast; the sums of a part of the rows are kept, and transposed last.  Measured (Zen 5, one thread, from
   C): 300 x 4 x 300 took 0.24 of the time in float64 and 0.14 in float32, 1000 x 16 x 1000 in float32 0.35,
   and a quarter of the time that OpenBLAS took of 1000 x 4 x 1000. */
#pragma once

#include "products/blocks.h"
#include "products/pieces.h"
#include "products/product.h"

/* Rows of which sums are kept, and the depth that is run at a time where A is not in the second level. */
enum { CONST(TRANSPOSED_ROWS) = 512, CONST(TRANSPOSED_DEPTH) = 64 };

/* The sums of `m` rows and up to ROWS columns, one column after the other in `sums`. */
static void NAME(transposed_part)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t deep, T scale, const T *a,
        ptrdiff_t a_step, const T *b, ptrdiff_t b_step, ptrdiff_t b_column, T *sums)
{
    const ptrdiff_t vectors = (m + LANES - 1) / LANES, panels = (vectors + VECTORS - 1) / VECTORS;
    for (ptrdiff_t p = 0; p < k; p += deep) {
        const ptrdiff_t depth = k - p < deep ? k - p : deep;
        for (ptrdiff_t panel = 0, i = 0; panel < panels; panel++) {
            const ptrdiff_t wide = NAME(piece)(vectors, panels, panel);
            const ptrdiff_t filled = m - i < wide * LANES ? m - i : wide * LANES, next = i + filled;
            if (deep < k && next < m)
                NAME(request)(a + p * a_step + next, 1, a_step,
                        m - next < VECTORS * LANES ? m - next : VECTORS * LANES, depth, 0, 1);
            const NAME(result) part = NAME(result_of)(p > 0 ? sums + i : NULL, CONST(TRANSPOSED_ROWS),
                    sums + i, CONST(TRANSPOSED_ROWS) END(NULL));
            NAME(blocks)[wide - 1][n - 1](depth, b + p * b_step, b_column, b_step, a + p * a_step + i, a_step,
                    scale, 1, &part, (int)(filled - (wide - 1) * LANES));
            i += filled;
        }
    }
}

_PM_SHARED __attribute__((noinline)) void NAME(result_transposed)(const NAME(product) *all)
{
    const ptrdiff_t m = all->m, n = all->n, k = all->k, a_step = all->a_step, b_step = all->b_step,
                    b_column = all->b_column, from_row = all->from_row, c_row = all->c_row,
                    small = all->small;
    const T scale = all->scale;
    const T *const a = all->a;
    const T *const b = all->b;
    const T beta = all->beta;
    const T *const from = all->from;
    T *const c = all->c;
    _Alignas(64) T sums[ROWS * CONST(TRANSPOSED_ROWS)];
    const ptrdiff_t deep = (double)m * (double)k <= (double)small ? k : CONST(TRANSPOSED_DEPTH);
    const ptrdiff_t strips = (n + ROWS - 1) / ROWS;
    for (ptrdiff_t i = 0; i < m; i += CONST(TRANSPOSED_ROWS)) {
        const ptrdiff_t height = m - i < CONST(TRANSPOSED_ROWS) ? m - i : CONST(TRANSPOSED_ROWS);
        for (ptrdiff_t strip = 0, j = 0; strip < strips; strip++) {
            const ptrdiff_t width = NAME(piece)(n, strips, strip);
            NAME(transposed_part)(height, width, k, deep, scale, a + i, a_step, b + j * b_column, b_step,
                    b_column, sums);
            for (ptrdiff_t r = 0; r < height; r++)
                for (ptrdiff_t x = 0; x < width; x++) {
                    const T sum = sums[x * CONST(TRANSPOSED_ROWS) + r];
                    T *const target = c + (i + r) * c_row + j + x;
                    *target = from == NULL ? sum : sum + beta * from[(i + r) * from_row + j + x];
                }
            j += width;
        }
    }
}
