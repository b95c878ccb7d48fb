/* Products with one column: sums along the rows. */
#pragma once

#include "products/blocks.h"
#include "products/eight.h"
#include "products/product.h"

/* `rows` rows of A, one or eight, times one column: sums along the vectors, whose lanes are added up last. */
static inline
        __attribute__((always_inline)) void NAME(dots)(const int rows, ptrdiff_t depth, T scale, const T *a,
                ptrdiff_t a_row, const T *b, T beta, const T *from, ptrdiff_t from_row, T *c, ptrdiff_t c_row)
{
    const ptrdiff_t whole = depth / LANES * LANES;
    NAME(vector) sums[8] = {{0}}, right;
#define ADD(r) sums[r] += *(const NAME(memory) *)(a + (r) * a_row + k) * right
    for (ptrdiff_t k = 0; k < whole; k += LANES) {
        right = *(const NAME(memory) *)(b + k);
        EACH_OF_EIGHT(rows, ADD)
    }
#undef ADD
#define ADD(r) sums[r] += NAME(load)(a + (r) * a_row + whole, mask) * right
    if (whole < depth) {
        const NAME(mask) mask = MASK(depth - whole);
        right = NAME(load)(b + whole, mask);
        EACH_OF_EIGHT(rows, ADD)
    }
#undef ADD
    T totals[8];
    NAME(row_sums)(sums[0], sums[1], sums[2], sums[3], totals);
    if (rows > 4)
        NAME(row_sums)(sums[4], sums[5], sums[6], sums[7], totals + 4);
#define STORE(r) \
    c[(r) * c_row] = from == NULL ? scale * totals[r] : scale * totals[r] + beta * from[(r) * from_row]
    EACH_OF_EIGHT(rows, STORE)
#undef STORE
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
