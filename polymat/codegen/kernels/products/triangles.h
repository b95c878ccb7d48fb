/* Register blocks beside a triangle, and copies of it.

   Where all rows of a register block have the same depth, the block is the usual one; the rest of the
   triangle, less deep than a block is high or wide, is added row by row or column by column.  A block on the
   diagonal of the result is computed whole, beside the result, and its triangle is copied. */
#pragma once

#include "products/half.h"
#include "products/packing.h"

/* Of the positions first..last - 1 those that all of `count` lines have, and those that some have. */
typedef struct {
    ptrdiff_t whole_0, whole_1, part_0, part_1;
} NAME(spans);

static inline ptrdiff_t NAME(within)(ptrdiff_t value, ptrdiff_t first, ptrdiff_t last)
{
    return value < first ? first : value > last ? last : value;
}

static inline NAME(spans) NAME(spans_of)(const NAME(half) *half, ptrdiff_t line, ptrdiff_t count,
        ptrdiff_t first, ptrdiff_t last)
{
    const ptrdiff_t one = NAME(within)(line + half->shift, first, last);
    const ptrdiff_t all = NAME(within)(line + half->shift + count - 1, first, last);
    const NAME(spans) spans = {half->before ? first : all, half->before ? one : last, one, all};
    return spans;
}

static inline int NAME(is_empty)(NAME(spans) spans)
{
    return spans.whole_0 >= spans.whole_1 && spans.part_0 >= spans.part_1;
}

/* Pack positions first..last - 1 of a strip or panel of `width` lines from `line`; `from`: its position 0. */
static void NAME(pack_half)(const NAME(half) *half, ptrdiff_t line, ptrdiff_t width, ptrdiff_t first,
        ptrdiff_t last, const T *from, ptrdiff_t across, ptrdiff_t along, T *to, ptrdiff_t step)
{
    const NAME(spans) in = NAME(spans_of)(half, line, width, first, last);
    const T *const other = half->mirror == NULL ? NULL : half->mirror + line * half->across;
    NAME(strip)(width, in.whole_1 - in.whole_0, from + in.whole_0 * along, across, along,
            to + (in.whole_0 - first) * step, step, CONST(FAR));
    for (ptrdiff_t k = in.part_0; k < in.part_1; k++)
        for (ptrdiff_t r = 0; r < width; r++) {
            if ((k < line + r + half->shift) == half->before)
                to[(k - first) * step + r] = from[k * along + r * across];
            else if (other != NULL)
                to[(k - first) * step + r] = other[k * half->along + r * half->across];
        }
    if (other != NULL) {
        const ptrdiff_t rest_0 = half->before ? in.part_1 : first, rest_1 = half->before ? last : in.part_0;
        NAME(strip)(width, rest_1 - rest_0, other + rest_0 * half->along, half->across, half->along,
                to + (rest_0 - first) * step, step, CONST(FAR));
    }
}

/* A register block of any size. */
static void NAME(block_of)(ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t depth, const T *a, ptrdiff_t a_row,
        ptrdiff_t a_step, const T *b, ptrdiff_t b_step, T scale, T beta, const T *from, ptrdiff_t from_row,
        T *c, ptrdiff_t c_row, const char *next, ptrdiff_t pace END(const NAME(end) *end))
{
    const ptrdiff_t wide = (columns + LANES - 1) / LANES;
    if (rows == ROWS && columns == VECTORS * LANES && a_row == 1 && a_step == ROWS
            && b_step == VECTORS * LANES)
        NAME(full)(depth, a, b, scale, beta, from, from_row, c, c_row, next, pace END(end));
    else
        NAME(blocks)[wide - 1][rows - 1](depth, a, a_row, a_step, b, b_step, scale, beta, from, from_row, c,
                c_row, (int)(columns - (wide - 1) * LANES) END(end));
}

/* A block of a product whose A or B is a triangle; a and b: at position `first` of the depth.  begins:
   whether these are the first positions, so that also a block without any is written. */
static void NAME(sum_half)(const NAME(half) *half, ptrdiff_t i, ptrdiff_t rows, ptrdiff_t j,
        ptrdiff_t columns, ptrdiff_t first, ptrdiff_t last, int begins, const T *a, ptrdiff_t a_row,
        ptrdiff_t a_step, const T *b, ptrdiff_t b_step, T scale, T beta, const T *from, ptrdiff_t from_row,
        T *c, ptrdiff_t c_row, const char *next, ptrdiff_t pace)
{
    const int is_left = half->place == 1;
    const NAME(spans) in = NAME(spans_of)(half, is_left ? i : j, is_left ? rows : columns, first, last);
    if (begins || in.whole_0 < in.whole_1) {
        const ptrdiff_t skipped = in.whole_0 - first, depth = in.whole_1 - in.whole_0;
        NAME(block_of)(rows, columns, depth, a + skipped * a_step, a_row, a_step, b + skipped * b_step,
                b_step, scale, beta, from, from_row, c, c_row, next, pace END(NULL));
    }
#if HALVES
    if (is_left && rows == ROWS && in.part_1 - in.part_0 == ROWS - 1) {
        const ptrdiff_t wide = (columns + LANES - 1) / LANES, k_0 = in.part_0 - first;
        NAME(edges)[half->before][wide - 1](a + k_0 * a_step, a_row, a_step, b + k_0 * b_step, b_step, scale,
                c, c_row, (int)(columns - (wide - 1) * LANES));
        return;
    }
#endif
    for (ptrdiff_t r = 0; is_left && r < rows; r++) {
        const ptrdiff_t diagonal = NAME(within)(i + r + half->shift, in.part_0, in.part_1);
        const ptrdiff_t k_0 = half->before ? in.part_0 : diagonal, k_1 = half->before ? diagonal : in.part_1;
        if (k_0 < k_1)
            NAME(block_of)(1, columns, k_1 - k_0, a + r * a_row + (k_0 - first) * a_step, a_row, a_step,
                    b + (k_0 - first) * b_step, b_step, scale, 1, c + r * c_row, c_row, c + r * c_row, c_row,
                    next, 0 END(NULL));
    }
    for (ptrdiff_t k = in.part_0; !is_left && k < in.part_1; k++) {
        const ptrdiff_t diagonal = k - j - half->shift + 1;
        const ptrdiff_t j_0 = half->before ? diagonal : 0, j_1 = half->before ? columns : diagonal;
        NAME(block_of)(rows, j_1 - j_0, 1, a + (k - first) * a_step, a_row, a_step,
                b + (k - first) * b_step + j_0, b_step, scale, 1, c + j_0, c_row, c + j_0, c_row, next,
                0 END(NULL));
    }
}

/* A block of a triangle of C. */
static void NAME(cut)(const NAME(half) *half, ptrdiff_t i, ptrdiff_t rows, ptrdiff_t j, ptrdiff_t columns,
        ptrdiff_t depth, const T *a, ptrdiff_t a_row, ptrdiff_t a_step, const T *b, ptrdiff_t b_step, T scale,
        T beta, const T *from, ptrdiff_t from_row, T *c, ptrdiff_t c_row)
{
    const NAME(spans) in = NAME(spans_of)(half, i, rows, j, j + columns);
    if (NAME(is_empty)(in))
        return;
    if (in.whole_1 - in.whole_0 == columns) {
        NAME(block_of)(rows, columns, depth, a, a_row, a_step, b, b_step, scale, beta, from, from_row, c,
                c_row, (const char *)b, 0 END(NULL));
        return;
    }
    T block[ROWS * VECTORS * LANES];
    NAME(block_of)(rows, columns, depth, a, a_row, a_step, b, b_step, scale, 0, NULL, 0, block,
            VECTORS * LANES, (const char *)b, 0 END(NULL));
    for (ptrdiff_t r = 0; r < rows; r++) {
        const ptrdiff_t diagonal = NAME(within)(i + r + half->shift - j, 0, columns);
        const ptrdiff_t j_0 = half->before ? 0 : diagonal, j_1 = half->before ? diagonal : columns;
        for (ptrdiff_t x = j_0; x < j_1; x += LANES) {
            const NAME(mask) mask = MASK(j_1 - x < LANES ? (int)(j_1 - x) : LANES);
            NAME(vector) sum = NAME(load)(block + r * (VECTORS * LANES) + x, mask);
            if (from != NULL)
                sum += beta * NAME(load)(from + r * from_row + x, mask);
            NAME(store)(c + r * c_row + x, sum, mask);
        }
    }
}
