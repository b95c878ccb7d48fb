/* Small products of constant extents, as straight code. */
#pragma once

#include "products/blocks.h"

/* Rows i..i + rows - 1 and vectors v..v + wide - 1 of a product of matrices, whose last vector has `last`
   lanes; everything known to the compiler, which unrolls all loops. */
static inline __attribute__((always_inline)) void NAME(unrolled_block)(const int rows, const int wide,
        const int depth, const int last, T scale, const NAME(operand) *a, const T *b, ptrdiff_t b_step,
        T beta, const NAME(result) *to)
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
                sums[row * VECTORS + v] += a->first[row * a->row + k * a->step] * columns;
        }
    }
    UNROLL(ROWS)
    for (int row = 0; row < rows; row++) {
        UNROLL(VECTORS)
        for (int v = 0; v < wide; v++) {
            const int is_part = v == wide - 1 && last < LANES;
            const T *const start = to->from == NULL ? NULL : to->from + row * to->from_row + v * LANES;
            NAME(vector) sum = scale * sums[row * VECTORS + v];
            if (start != NULL && is_part)
                sum += beta * NAME(load)(start, mask);
            else if (start != NULL)
                sum += beta * *(const NAME(memory) *)start;
            if (is_part)
                NAME(store)(to->c + row * to->c_row + v * LANES, sum, mask);
            else
                *(NAME(memory) *)(to->c + row * to->c_row + v * LANES) = sum;
        }
    }
}

/* A product of matrices of constant extents as straight code. */
static inline __attribute__((always_inline)) void NAME(unrolled)(const int m, const int n, const int depth,
        T scale, const NAME(operand) *a, const T *b, ptrdiff_t b_step, T beta, const NAME(result) *to)
{
#pragma GCC unroll 64
    for (int j = 0; j < n; j += VECTORS * LANES) {
        const int left = n - j < VECTORS * LANES ? n - j : VECTORS * LANES, wide = (left + LANES - 1) / LANES;
#pragma GCC unroll 64
        for (int i = 0; i < m; i += ROWS) {
            const NAME(operand) rows = {a->first + i * a->row, a->row, a->step};
            const NAME(result) part = NAME(result_at)(to, i, j);
            NAME(unrolled_block)(m - i < ROWS ? m - i : ROWS, wide, depth, left - (wide - 1) * LANES, scale,
                    &rows, b + j, b_step, beta, &part);
        }
    }
}
