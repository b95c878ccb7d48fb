"""Triangles in products of matrices around register blocks: of an operand, which is summed, or of the result.

`HALF_TYPE` gives the C type, `HALF` the functions that the product of `polymat.codegen.products.gemm` uses
for them. Nothing outside a triangle is read or multiplied: a NaN there, and an infinity that it would be
multiplied by, change nothing.  Where all rows of a register block have the same depth, the block is the usual
one; the rest of the triangle, less deep than a block is high or wide, is added row by row or column by
column.  A block on the diagonal of the result is computed whole, beside the result, and its triangle is
copied.
"""

from __future__ import annotations

HALF_TYPE = """\
/* A triangle of A (place 1), of B (2) or of C (3); 0: none.  Its lines are rows of A or C or columns of B;
   across a line, along k or the columns of C, it has the elements before the diagonal (those at positions
   < line + shift) or those from there on.  mirror: the operand's elements in its other part, `across` from
   line to line and `along` from one to the next in a line; NULL: none. */
typedef struct {
    int place, before;
    ptrdiff_t shift;
    const $T *mirror;
    ptrdiff_t across, along;
} _pm_half_$S;

static inline _pm_half_$S _pm_half_of_$S(int place, int before, ptrdiff_t shift, const $T *mirror,
        ptrdiff_t across, ptrdiff_t along)
{
    const _pm_half_$S half = {place, before, shift, mirror, across, along};
    return half;
}

"""
HALF = """\
/* Of the positions first..last - 1 those that all of `count` lines have, and those that some have. */
typedef struct {
    ptrdiff_t whole_0, whole_1, part_0, part_1;
} _pm_spans_$S;

static inline ptrdiff_t _pm_within_$S(ptrdiff_t value, ptrdiff_t first, ptrdiff_t last)
{
    return value < first ? first : value > last ? last : value;
}

static inline _pm_spans_$S _pm_spans_of_$S(const _pm_half_$S *half, ptrdiff_t line, ptrdiff_t count,
        ptrdiff_t first, ptrdiff_t last)
{
    const ptrdiff_t one = _pm_within_$S(line + half->shift, first, last);
    const ptrdiff_t all = _pm_within_$S(line + half->shift + count - 1, first, last);
    const _pm_spans_$S spans = {half->before ? first : all, half->before ? one : last, one, all};
    return spans;
}

static inline int _pm_is_empty_$S(_pm_spans_$S spans)
{
    return spans.whole_0 >= spans.whole_1 && spans.part_0 >= spans.part_1;
}

/* Pack positions first..last - 1 of a strip or panel of `width` lines from `line`; `from`: its position 0. */
static void _pm_pack_half_$S(const _pm_half_$S *half, ptrdiff_t line, ptrdiff_t width, ptrdiff_t first,
        ptrdiff_t last, const $T *from, ptrdiff_t across, ptrdiff_t along, $T *to, ptrdiff_t step)
{
    const _pm_spans_$S in = _pm_spans_of_$S(half, line, width, first, last);
    const $T *const other = half->mirror == NULL ? NULL : half->mirror + line * half->across;
    _pm_strip_$S(width, in.whole_1 - in.whole_0, from + in.whole_0 * along, across, along,
                 to + (in.whole_0 - first) * step, step, _PM_FAR_$S);
    for (ptrdiff_t k = in.part_0; k < in.part_1; k++)
        for (ptrdiff_t r = 0; r < width; r++) {
            if ((k < line + r + half->shift) == half->before)
                to[(k - first) * step + r] = from[k * along + r * across];
            else if (other != NULL)
                to[(k - first) * step + r] = other[k * half->along + r * half->across];
        }
    if (other != NULL) {
        const ptrdiff_t rest_0 = half->before ? in.part_1 : first, rest_1 = half->before ? last : in.part_0;
        _pm_strip_$S(width, rest_1 - rest_0, other + rest_0 * half->along, half->across, half->along,
                     to + (rest_0 - first) * step, step, _PM_FAR_$S);
    }
}

/* A register block of any size. */
static void _pm_block_of_$S(ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t depth, const $T *a, ptrdiff_t a_row,
        ptrdiff_t a_step, const $T *b, ptrdiff_t b_step, $T scale, $T beta, const $T *from,
        ptrdiff_t from_row, $T *c, ptrdiff_t c_row, const char *next, ptrdiff_t pace«, const _pm_end_$S *end»)
{
    const ptrdiff_t wide = (columns + $L - 1) / $L;
    if (rows == $R && columns == $V * $L && a_row == 1 && a_step == $R && b_step == $V * $L)
        _pm_full_$S(depth, a, b, scale, beta, from, from_row, c, c_row, next, pace«, end»);
    else
        _pm_blocks_$S[wide - 1][rows - 1](depth, a, a_row, a_step, b, b_step, scale, beta, from, from_row, c,
                                          c_row, (int)(columns - (wide - 1) * $L)«, end»);
}

/* A block of a product whose A or B is a triangle; a and b: at position `first` of the depth.  begins:
   whether these are the first positions, so that also a block without any is written. */
static void _pm_sum_half_$S(const _pm_half_$S *half, ptrdiff_t i, ptrdiff_t rows, ptrdiff_t j,
        ptrdiff_t columns, ptrdiff_t first, ptrdiff_t last, int begins, const $T *a, ptrdiff_t a_row,
        ptrdiff_t a_step, const $T *b, ptrdiff_t b_step, $T scale, $T beta, const $T *from,
        ptrdiff_t from_row, $T *c, ptrdiff_t c_row, const char *next, ptrdiff_t pace)
{
    const int is_left = half->place == 1;
    const _pm_spans_$S in = _pm_spans_of_$S(half, is_left ? i : j, is_left ? rows : columns, first, last);
    if (begins || in.whole_0 < in.whole_1) {
        const ptrdiff_t skipped = in.whole_0 - first, depth = in.whole_1 - in.whole_0;
        _pm_block_of_$S(rows, columns, depth, a + skipped * a_step, a_row, a_step, b + skipped * b_step,
                        b_step, scale, beta, from, from_row, c, c_row, next, pace«, NULL»);
    }
#if $HALVES
    if (is_left && rows == $R && in.part_1 - in.part_0 == $R - 1) {
        const ptrdiff_t wide = (columns + $L - 1) / $L, k_0 = in.part_0 - first;
        _pm_edges_$S[half->before][wide - 1](a + k_0 * a_step, a_row, a_step, b + k_0 * b_step, b_step, scale,
                                             c, c_row, (int)(columns - (wide - 1) * $L));
        return;
    }
#endif
    for (ptrdiff_t r = 0; is_left && r < rows; r++) {
        const ptrdiff_t diagonal = _pm_within_$S(i + r + half->shift, in.part_0, in.part_1);
        const ptrdiff_t k_0 = half->before ? in.part_0 : diagonal, k_1 = half->before ? diagonal : in.part_1;
        if (k_0 < k_1)
            _pm_block_of_$S(1, columns, k_1 - k_0, a + r * a_row + (k_0 - first) * a_step, a_row, a_step,
                            b + (k_0 - first) * b_step, b_step, scale, 1, c + r * c_row, c_row, c + r * c_row,
                            c_row, next, 0«, NULL»);
    }
    for (ptrdiff_t k = in.part_0; !is_left && k < in.part_1; k++) {
        const ptrdiff_t diagonal = k - j - half->shift + 1;
        const ptrdiff_t j_0 = half->before ? diagonal : 0, j_1 = half->before ? columns : diagonal;
        _pm_block_of_$S(rows, j_1 - j_0, 1, a + (k - first) * a_step, a_row, a_step,
                        b + (k - first) * b_step + j_0, b_step, scale, 1, c + j_0, c_row, c + j_0, c_row,
                        next, 0«, NULL»);
    }
}

/* A block of a triangle of C. */
static void _pm_cut_$S(const _pm_half_$S *half, ptrdiff_t i, ptrdiff_t rows, ptrdiff_t j, ptrdiff_t columns,
        ptrdiff_t depth, const $T *a, ptrdiff_t a_row, ptrdiff_t a_step, const $T *b, ptrdiff_t b_step,
        $T scale, $T beta, const $T *from, ptrdiff_t from_row, $T *c, ptrdiff_t c_row)
{
    const _pm_spans_$S in = _pm_spans_of_$S(half, i, rows, j, j + columns);
    if (_pm_is_empty_$S(in))
        return;
    if (in.whole_1 - in.whole_0 == columns) {
        _pm_block_of_$S(rows, columns, depth, a, a_row, a_step, b, b_step, scale, beta, from, from_row, c,
                        c_row, (const char *)b, 0«, NULL»);
        return;
    }
    $T block[$R * $V * $L];
    _pm_block_of_$S(rows, columns, depth, a, a_row, a_step, b, b_step, scale, 0, NULL, 0, block, $V * $L,
                    (const char *)b, 0«, NULL»);
    for (ptrdiff_t r = 0; r < rows; r++) {
        const ptrdiff_t diagonal = _pm_within_$S(i + r + half->shift - j, 0, columns);
        const ptrdiff_t j_0 = half->before ? 0 : diagonal, j_1 = half->before ? diagonal : columns;
        for (ptrdiff_t x = j_0; x < j_1; x += $L) {
            const _pm_mask_$S mask = _PM_MASK_$S(j_1 - x < $L ? (int)(j_1 - x) : $L);
            _pm_vector_$S sum = _pm_load_$S(block + r * ($V * $L) + x, mask);
            if (from != NULL)
                sum += beta * _pm_load_$S(from + r * from_row + x, mask);
            _pm_store_$S(c + r * c_row + x, sum, mask);
        }
    }
}

"""
