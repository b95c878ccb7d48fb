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
static void NAME(block_of)(ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t depth, const NAME(operand) *a,
        const T *b, ptrdiff_t b_step, T scale, T beta, const NAME(result) *to, const char *next,
        ptrdiff_t pace)
{
    const ptrdiff_t wide = (columns + LANES - 1) / LANES;
    if (rows == ROWS && columns == VECTORS * LANES && a->row == 1 && a->step == ROWS
            && b_step == VECTORS * LANES)
        NAME(full)(depth, a->first, b, scale, beta, to, next, pace);
    else
        NAME(blocks)[wide - 1][rows - 1](depth, a->first, a->row, a->step, b, b_step, scale, beta, to,
                (int)(columns - (wide - 1) * LANES));
}

/* What the part of a triangle of A at the diagonal adds to a block; a and b: at position `first` of the depth. */
static void NAME(sum_beside_rows)(const NAME(half) *half, const NAME(area) *block, ptrdiff_t first,
        NAME(spans) in, const NAME(operand) *a, const T *b, ptrdiff_t b_step, T scale, const NAME(result) *to,
        const char *next)
{
#if HALVES
    if (block->rows == ROWS && in.part_1 - in.part_0 == ROWS - 1) {
        const ptrdiff_t wide = (block->columns + LANES - 1) / LANES, k_0 = in.part_0 - first;
        NAME(edges)[half->before][wide - 1](a->first + k_0 * a->step, a->row, a->step, b + k_0 * b_step,
                b_step, scale, to->c, to->c_row, (int)(block->columns - (wide - 1) * LANES));
        return;
    }
#endif
    for (ptrdiff_t r = 0; r < block->rows; r++) {
        const ptrdiff_t diagonal = NAME(within)(block->i + r + half->shift, in.part_0, in.part_1);
        const ptrdiff_t k_0 = half->before ? in.part_0 : diagonal, k_1 = half->before ? diagonal : in.part_1;
        const NAME(operand) row = {a->first + r * a->row + (k_0 - first) * a->step, a->row, a->step};
        const NAME(result) here = NAME(result_at)(to, r, 0), added = NAME(result_added)(&here);
        if (k_0 < k_1)
            NAME(block_of)(1, block->columns, k_1 - k_0, &row, b + (k_0 - first) * b_step, b_step, scale, 1,
                    &added, next, 0);
    }
}

/* The same of a triangle of B. */
static void NAME(sum_beside_columns)(const NAME(half) *half, const NAME(area) *block, ptrdiff_t first,
        NAME(spans) in, const NAME(operand) *a, const T *b, ptrdiff_t b_step, T scale, const NAME(result) *to,
        const char *next)
{
    for (ptrdiff_t k = in.part_0; k < in.part_1; k++) {
        const ptrdiff_t diagonal = k - block->j - half->shift + 1;
        const ptrdiff_t j_0 = half->before ? diagonal : 0, j_1 = half->before ? block->columns : diagonal;
        const NAME(operand) step = {a->first + (k - first) * a->step, a->row, a->step};
        const NAME(result) here = NAME(result_at)(to, 0, j_0), added = NAME(result_added)(&here);
        NAME(block_of)(block->rows, j_1 - j_0, 1, &step, b + (k - first) * b_step + j_0, b_step, scale, 1,
                &added, next, 0);
    }
}

/* A block of a product whose A or B is a triangle; a and b: at position `first` of the depth.  At the first of
   all also a block without any is written. */
static void NAME(sum_half)(const NAME(half) *half, const NAME(area) *block, ptrdiff_t first, ptrdiff_t last,
        const NAME(operand) *a, const T *b, ptrdiff_t b_step, T scale, T beta, const NAME(result) *to,
        const char *next, ptrdiff_t pace)
{
    const int is_left = half->place == 1;
    const NAME(spans) in = is_left ? NAME(spans_of)(half, block->i, block->rows, first, last)
                                   : NAME(spans_of)(half, block->j, block->columns, first, last);
    const NAME(result) plain = NAME(unended)(to);
    if (first == 0 || in.whole_0 < in.whole_1) {
        const ptrdiff_t skipped = in.whole_0 - first, depth = in.whole_1 - in.whole_0;
        const NAME(operand) rows = {a->first + skipped * a->step, a->row, a->step};
        NAME(block_of)(block->rows, block->columns, depth, &rows, b + skipped * b_step, b_step, scale, beta,
                &plain, next, pace);
    }
    if (is_left)
        NAME(sum_beside_rows)(half, block, first, in, a, b, b_step, scale, &plain, next);
    else
        NAME(sum_beside_columns)(half, block, first, in, a, b, b_step, scale, &plain, next);
}

/* Of a block beside the result, `block`, those columns of each row that a triangle has. */
static void NAME(copy_cut)(const NAME(half) *half, const NAME(area) *area, const T *block, T beta,
        const NAME(result) *to)
{
    for (ptrdiff_t r = 0; r < area->rows; r++) {
        const ptrdiff_t diagonal = NAME(within)(area->i + r + half->shift - area->j, 0, area->columns);
        const ptrdiff_t j_0 = half->before ? 0 : diagonal, j_1 = half->before ? diagonal : area->columns;
        for (ptrdiff_t x = j_0; x < j_1; x += LANES) {
            const NAME(mask) mask = MASK(j_1 - x < LANES ? (int)(j_1 - x) : LANES);
            NAME(vector) sum = NAME(load)(block + r * (VECTORS * LANES) + x, mask);
            if (to->from != NULL)
                sum += beta * NAME(load)(to->from + r * to->from_row + x, mask);
            NAME(store)(to->c + r * to->c_row + x, sum, mask);
        }
    }
}

/* A block of a triangle of C. */
static void NAME(cut)(const NAME(half) *half, const NAME(area) *area, ptrdiff_t depth, const NAME(operand) *a,
        const T *b, ptrdiff_t b_step, T scale, T beta, const NAME(result) *to)
{
    const NAME(spans) in = NAME(spans_of)(half, area->i, area->rows, area->j, area->j + area->columns);
    if (NAME(is_empty)(in))
        return;
    if (in.whole_1 - in.whole_0 == area->columns) {
        const NAME(result) plain = NAME(unended)(to);
        NAME(block_of)(area->rows, area->columns, depth, a, b, b_step, scale, beta, &plain, (const char *)b,
                0);
        return;
    }
    T block[ROWS * VECTORS * LANES];
    const NAME(result) beside = NAME(result_of)(NULL, 0, block, VECTORS * LANES END(NULL));
    NAME(block_of)(area->rows, area->columns, depth, a, b, b_step, scale, 0, &beside, (const char *)b, 0);
    NAME(copy_cut)(half, area, block, beta, to);
}
