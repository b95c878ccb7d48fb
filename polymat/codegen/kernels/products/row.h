/* Products with one row: sums of rows.

   Measured against register blocks (Zen 5, one thread, from C): 1 x 1000 x 1000 took 0.77 of the time, 1 x 2000
   x 2000, in memory, 0.55. */
#pragma once

#include "products/blocks.h"
#include "products/eight.h"
#include "products/product.h"

/* `rows` elements of A, one or eight, each times a row of B, are added to sums that lie in the first level. */
static inline __attribute__((always_inline)) void NAME(add_rows)(const int rows, ptrdiff_t width, const T *a,
        ptrdiff_t a_step, const T *b, ptrdiff_t b_step, T *sums)
{
    T each[8];
    ptrdiff_t j = 0;
#define ELEMENT_OF(r) each[r] = a[(r) * a_step]
    EACH_OF_EIGHT(rows, ELEMENT_OF)
#undef ELEMENT_OF
#define ADD(r) sum += each[r] * *(const NAME(memory) *)(b + (r) * b_step + j)
    for (; j + LANES <= width; j += LANES) {
        NAME(vector) sum = *(const NAME(memory) *)(sums + j);
        EACH_OF_EIGHT(rows, ADD)
        *(NAME(memory) *)(sums + j) = sum;
    }
#undef ADD
#define ADD(r) sum += each[r] * NAME(load)(b + (r) * b_step + j, mask)
    if (j < width) {
        const NAME(mask) mask = MASK(width - j);
        NAME(vector) sum = NAME(load)(sums + j, mask);
        EACH_OF_EIGHT(rows, ADD)
        NAME(store)(sums + j, sum, mask);
    }
#undef ADD
}

/* What becomes of the sums of a row. */
static inline __attribute__((always_inline)) void NAME(finish_row)(ptrdiff_t width, const T *sums, T scale,
        T beta, const T *from, T *c)
{
    ptrdiff_t j = 0;
    for (; j + LANES <= width; j += LANES) {
        NAME(vector) sum = scale * *(const NAME(memory) *)(sums + j);
        if (from != NULL)
            sum += beta * *(const NAME(memory) *)(from + j);
        *(NAME(memory) *)(c + j) = sum;
    }
    for (; j < width; j++)
        c[j] = from == NULL ? scale * sums[j] : scale * sums[j] + beta * from[j];
}

/* The product of one row, where rows of B are contiguous: eight of these at a time, in the order of memory.
   Nothing is used twice, so that a register block would only wait for parts of lines. */
_PM_SHARED __attribute__((noinline)) void NAME(one_row)(const NAME(product) *all)
{
    const ptrdiff_t n = all->n, a_step = all->a_step, b_step = all->b_step;
    const T scale = all->scale;
    const T *const b = all->b;
    const T beta = all->beta;
    const ptrdiff_t depth = all->k;
    const T *const a = all->a + all->rows[0],
                   *const from = all->from == NULL ? NULL : all->from + all->rows[2];
    T *const c = all->c + all->rows[1];
    enum { most = 1024 };
    _Alignas(64) T sums[most];
    for (ptrdiff_t j = 0; j < n; j += most) {
        const ptrdiff_t width = n - j < most ? n - j : most, whole = depth / 8 * 8;
        for (ptrdiff_t x = 0; x < width; x += LANES)
            *(NAME(memory) *)(sums + x) = (NAME(vector)){0};
        for (ptrdiff_t k = 0; k < whole; k += 8)
            NAME(add_rows)(8, width, a + k * a_step, a_step, b + k * b_step + j, b_step, sums);
        for (ptrdiff_t k = whole; k < depth; k++)
            NAME(add_rows)(1, width, a + k * a_step, a_step, b + k * b_step + j, b_step, sums);
        NAME(finish_row)(width, sums, scale, beta, from == NULL ? NULL : from + j, c + j);
    }
}
