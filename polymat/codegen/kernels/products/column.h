/* Products with one column: sums along the rows. */
#pragma once

#include "products/blocks.h"
#include "products/product.h"

/* `rows` rows of A times one column: sums along the vectors, whose lanes are added up last. */
static inline
        __attribute__((always_inline)) void NAME(dots)(const int rows, ptrdiff_t depth, T scale, const T *a,
                ptrdiff_t a_row, const T *b, T beta, const T *from, ptrdiff_t from_row, T *c, ptrdiff_t c_row)
{
    const ptrdiff_t whole = depth / LANES * LANES;
    NAME(vector) sums[8] = {{0}};
    for (ptrdiff_t k = 0; k < whole; k += LANES)
        for (int r = 0; r < rows; r++)
            sums[r] += *(const NAME(memory) *)(a + r * a_row + k) * *(const NAME(memory) *)(b + k);
    if (whole < depth) {
        const NAME(mask) mask = MASK(depth - whole);
        for (int r = 0; r < rows; r++)
            sums[r] += NAME(load)(a + r * a_row + whole, mask) * NAME(load)(b + whole, mask);
    }
    for (int r = 0; r < rows; r++) {
        T sum = 0;
        for (int lane = 0; lane < LANES; lane++)
            sum += sums[r][lane];
        c[r * c_row] = from == NULL ? scale * sum : scale * sum + beta * from[r * from_row];
    }
}

/* The product with one column that is contiguous, as the rows of A are: vectors of columns would be empty. */
_PM_SHARED __attribute__((noinline)) void NAME(column)(const NAME(product) *all)
{
    const ptrdiff_t m = all->m, a_row = all->a_row, from_row = all->from_row, c_row = all->c_row;
    const T scale = all->scale;
    const T *const a = all->a;
    const T *const b = all->b;
    const T beta = all->beta;
    const T *const from = all->from;
    T *const c = all->c;
    const ptrdiff_t depth = all->k;
    const ptrdiff_t whole = m / 8 * 8;
    for (ptrdiff_t i = 0; i < whole; i += 8)
        NAME(dots)(8, depth, scale, a + i * a_row, a_row, b, beta, from == NULL ? NULL : from + i * from_row,
                from_row, c + i * c_row, c_row);
    for (ptrdiff_t i = whole; i < m; i++)
        NAME(dots)(1, depth, scale, a + i * a_row, a_row, b, beta, from == NULL ? NULL : from + i * from_row,
                from_row, c + i * c_row, c_row);
}
