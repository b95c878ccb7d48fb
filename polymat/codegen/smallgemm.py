"""Products of matrices that the first level holds: of constant extents as straight code, others unasked.

`UNROLLED` and `SMALL` give the C functions that the product of `polymat.codegen.gemm` uses for them.
"""

from __future__ import annotations

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
/* A product of matrices whose extents are 1 to 64: nothing is asked about them, because
   the first level holds what there is. */
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
