/* Small products of constant extents, as straight code. */
#pragma once

#include "products/blocks.h"

/* Rows i..i + rows - 1 and vectors v..v + wide - 1 of a product of matrices, whose last vector has `last`
   lanes; everything known to the compiler, which unrolls all loops. */
static inline __attribute__((always_inline)) void NAME(unrolled_block)(const int rows, const int wide,
        const int depth, const int last, T scale, const T *a, ptrdiff_t a_row, ptrdiff_t a_step, const T *b,
        ptrdiff_t b_step, T beta, const T *from, ptrdiff_t from_row, T *c, ptrdiff_t c_row)
{
    const NAME(mask) mask = MASK(last);
    NAME(vector) sums[ROWS * VECTORS] = {{0}};
#pragma GCC unroll 64
    for (int k = 0; k < depth; k++) {
        UNROLL(VECTORS)
        for (int v = 0; v < wide; v++) {
            const T *const at = b + k * b_step + v * LANES;
            NAME(vector) columns;
            if (v == wide - 1 && last < LANES)
                columns = NAME(load)(at, mask);
            else
                columns = *(const NAME(memory) *)at;
            UNROLL(ROWS)
            for (int row = 0; row < rows; row++)
                sums[row * VECTORS + v] += a[row * a_row + k * a_step] * columns;
        }
    }
    UNROLL(ROWS)
    for (int row = 0; row < rows; row++) {
        UNROLL(VECTORS)
        for (int v = 0; v < wide; v++) {
            const int is_part = v == wide - 1 && last < LANES;
            const T *const start = from == NULL ? NULL : from + row * from_row + v * LANES;
            NAME(vector) sum = scale * sums[row * VECTORS + v];
            if (start != NULL && is_part)
                sum += beta * NAME(load)(start, mask);
            else if (start != NULL)
                sum += beta * *(const NAME(memory) *)start;
            if (is_part)
                NAME(store)(c + row * c_row + v * LANES, sum, mask);
            else
                *(NAME(memory) *)(c + row * c_row + v * LANES) = sum;
        }
    }
}

/* A product of matrices of constant extents as straight code. */
static inline __attribute__((always_inline)) void NAME(unrolled)(const int m, const int n, const int depth,
        T scale, const T *a, ptrdiff_t a_row, ptrdiff_t a_step, const T *b, ptrdiff_t b_step, T beta,
        const T *from, ptrdiff_t from_row, T *c, ptrdiff_t c_row)
{
#pragma GCC unroll 64
    for (int j = 0; j < n; j += VECTORS * LANES) {
        const int left = n - j < VECTORS * LANES ? n - j : VECTORS * LANES, wide = (left + LANES - 1) / LANES;
#pragma GCC unroll 64
        for (int i = 0; i < m; i += ROWS)
            NAME(unrolled_block)(m - i < ROWS ? m - i : ROWS, wide, depth, left - (wide - 1) * LANES, scale,
                    a + i * a_row, a_row, a_step, b + j, b_step, beta,
                    from == NULL ? NULL : from + i * from_row + j, from_row, c + i * c_row + j, c_row);
    }
}
