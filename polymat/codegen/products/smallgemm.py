"""Small products of matrices: of constant extents as straight code, others without asking how.

`UNROLLED`, `SMALL` and `COPIED` give the C functions that the product of `polymat.codegen.products.gemm` uses
for them.  Measured against packed blocks (Zen 5, one thread), `COPIED` took 0.7 to 0.97 of the time of
products with a transposed right operand, 0.34 to 0.77 of both transposed, 0.6 of a triangle of 30 x 30 and
depth 20.
"""

from __future__ import annotations

from polymat.product.inequality import in_c
from polymat.product.near import ELEMENTS, NEAR

UNROLLED = """\
/* Rows i..i + rows - 1 and vectors v..v + wide - 1 of a product of matrices, whose last vector has `last`
   lanes; everything known to the compiler, which unrolls all loops. */
static inline __attribute__((always_inline)) void _pm_unrolled_block_$S(const int rows, const int wide,
        const int depth, const int last, $T scale, const $T *a, ptrdiff_t a_row, ptrdiff_t a_step,
        const $T *b, ptrdiff_t b_step, $T beta, const $T *from, ptrdiff_t from_row, $T *c, ptrdiff_t c_row)
{
    const _pm_mask_$S mask = _PM_MASK_$S(last);
    _pm_vector_$S sums[$R * $V] = {{0}};
#pragma GCC unroll 64
    for (int k = 0; k < depth; k++)
#pragma GCC unroll $V
        for (int v = 0; v < wide; v++) {
            const $T *const at = b + k * b_step + v * $L;
            _pm_vector_$S columns;
            if (v == wide - 1 && last < $L)
                columns = _pm_load_$S(at, mask);
            else
                columns = *(const _pm_memory_$S *)at;
#pragma GCC unroll $R
            for (int row = 0; row < rows; row++)
                sums[row * $V + v] += a[row * a_row + k * a_step] * columns;
        }
#pragma GCC unroll $R
    for (int row = 0; row < rows; row++)
#pragma GCC unroll $V
        for (int v = 0; v < wide; v++) {
            const int is_part = v == wide - 1 && last < $L;
            const $T *const start = from == NULL ? NULL : from + row * from_row + v * $L;
            _pm_vector_$S sum = scale * sums[row * $V + v];
            if (start != NULL && is_part)
                sum += beta * _pm_load_$S(start, mask);
            else if (start != NULL)
                sum += beta * *(const _pm_memory_$S *)start;
            if (is_part)
                _pm_store_$S(c + row * c_row + v * $L, sum, mask);
            else
                *(_pm_memory_$S *)(c + row * c_row + v * $L) = sum;
        }
}

/* A product of matrices of constant extents as straight code. */
static inline __attribute__((always_inline)) void _pm_unrolled_$S(const int m, const int n, const int depth,
        $T scale, const $T *a, ptrdiff_t a_row, ptrdiff_t a_step, const $T *b, ptrdiff_t b_step, $T beta,
        const $T *from, ptrdiff_t from_row, $T *c, ptrdiff_t c_row)
{
#pragma GCC unroll 64
    for (int j = 0; j < n; j += $V * $L) {
        const int left = n - j < $V * $L ? n - j : $V * $L, wide = (left + $L - 1) / $L;
#pragma GCC unroll 64
        for (int i = 0; i < m; i += $R)
            _pm_unrolled_block_$S(m - i < $R ? m - i : $R, wide, depth, left - (wide - 1) * $L, scale,
                                  a + i * a_row, a_row, a_step, b + j, b_step, beta,
                                  from == NULL ? NULL : from + i * from_row + j, from_row, c + i * c_row + j,
                                  c_row);
    }
}

"""
SMALL = """\
/* A product of matrices about which nothing is asked, because of what the caches hold. */
static __attribute__((noinline)) void _pm_small_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t depth, $T scale,
        const $T *a, ptrdiff_t a_row, ptrdiff_t a_step, const $T *b, ptrdiff_t b_step, $T beta,
        const $T *from, ptrdiff_t from_row, $T *c, ptrdiff_t c_row)
{
    const unsigned vectors = ((unsigned)n + $L - 1) / $L, panels = (vectors + $V - 1) / $V;
    const unsigned strips = ((unsigned)m + $R - 1) / $R;
    const unsigned least = (unsigned)m / strips, higher = (unsigned)m % strips;
#pragma GCC unroll 1
    for (unsigned panel = 0, j = 0; panel < panels; panel++) {
        const unsigned wide = panels == 1 ? vectors : vectors / panels + (panel < vectors % panels);
        const unsigned left = (unsigned)n - j < wide * $L ? (unsigned)n - j : wide * $L;
#pragma GCC unroll 1
        for (unsigned strip = 0, i = 0; strip < strips; strip++) {
            const unsigned rows = least + (strip < higher);
            _pm_blocks_$S[wide - 1][rows - 1](depth, a + i * a_row, a_row, a_step, b + j, b_step, scale, beta,
                    from == NULL ? NULL : from + i * from_row + j, from_row, c + i * c_row + j, c_row,
                    (int)(left - (wide - 1) * $L)«, NULL»);
            i += rows;
        }
        j += wide * $L;
    }
}

"""
IS_UNASKED = """\
/* Whether register blocks on matrices where they are need not be asked for: of little depth, with a result
   and operands that the second level holds.  Of 12 x 96 x 12 asking took a tenth of the time. */
static inline int _pm_is_unasked_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t small)
{
    enum { least = 8 * 64 * 64 };
    return (size_t)((m - 1) | (n - 1)) < 512 && (size_t)(k - 1) < 64 && m * n <= least && (m > 1 || n <= 64)
        && small >= least;
}

"""
IS_NEAR = f"""\
enum {{ _PM_NEAR_$S = {ELEMENTS} }};

/* Whether B is copied as a whole, to where it stays near; extents below a power of two first, so that
   products of two do not overflow. */
static inline int _pm_is_near_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t small)
{{
    const ptrdiff_t width = (n + $L - 1) / $L * $L;
    return (size_t)((m - 1) | (n - 1) | (k - 1)) < 1 << 14 && {in_c(NEAR)};
}}

"""
COPIED = """\
/* A product beside whose strips all of B stays near, copied as a whole where it is not contiguous along its
   rows.  Of a triangle of the result each strip has the panels that reach its diagonal, and no others. */
_PM_SHARED __attribute__((noinline)) void _pm_small_copied_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t depth,
        $T scale, const $T *a, ptrdiff_t a_row, ptrdiff_t a_step, const $T *b, ptrdiff_t b_step,
        ptrdiff_t b_column, $T beta, const $T *from, ptrdiff_t from_row, $T *c, ptrdiff_t c_row,
        const _pm_half_$S *half«, const _pm_end_$S *end»)
{
    _Alignas(64) $T copy[_PM_NEAR_$S];
    const int is_half = $HALVES && half->place == 3;
    if (b_column != 1) {
        const ptrdiff_t room = ((unsigned)n + $L - 1) / $L * $L;
        _pm_strip_$S(n, depth, b, b_column, b_step, copy, room, 0);
        b = copy;
        b_step = room;
    }
    const unsigned strips = ((unsigned)m + $R - 1) / $R;
    const unsigned least = (unsigned)m / strips, higher = (unsigned)m % strips;
#pragma GCC unroll 1
    for (unsigned strip = 0, i = 0, rows; strip < strips; strip++, i += rows) {
        rows = least + (strip < higher);
        _pm_spans_$S in = {0, n, 0, n};
        if (is_half)
            in = _pm_spans_of_$S(half, i, rows, 0, n);
        const unsigned first = is_half && !half->before ? (unsigned)in.part_0 / $L * $L : 0;
        const unsigned last = is_half && half->before ? (unsigned)in.part_1 : (unsigned)n;
        const unsigned vectors = (last - first + $L - 1) / $L, panels = (vectors + $V - 1) / $V;
#pragma GCC unroll 1
        for (unsigned panel = 0, j = first, wide; panel < panels; panel++, j += wide * $L) {
            wide = panels == 1 ? vectors : vectors / panels + (panel < vectors % panels);
            const unsigned filled = last - j < wide * $L ? last - j : wide * $L;
            if (is_half && ((ptrdiff_t)j < in.whole_0 || (ptrdiff_t)(j + filled) > in.whole_1))
                _pm_cut_$S(half, i, rows, j, filled, depth, a + i * a_row, a_row, a_step, b + j, b_step,
                           scale, beta, from == NULL ? NULL : from + i * from_row + j, from_row,
                           c + i * c_row + j, c_row);
            else
                _pm_blocks_$S[wide - 1][rows - 1](depth, a + i * a_row, a_row, a_step, b + j, b_step, scale,
                        beta, from == NULL ? NULL : from + i * from_row + j, from_row, c + i * c_row + j,
                        c_row, (int)(filled - (wide - 1) * $L)«, end»);
        }
    }
}

"""
