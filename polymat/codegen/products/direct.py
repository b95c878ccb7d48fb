"""Products of matrices that need no copy: register blocks on operands where they are.

`DIRECT` gives the C function of it, `COLUMN` sums along the rows for a product with one column, and `ROW`
sums of rows for a product with one row: 1 x 1000 x 1000 took 0.77 of the time of register blocks, 1 x 2000 x
2000, in memory, 0.55 (Zen 5, one thread, from C).
"""

from __future__ import annotations

COLUMN = """\
/* `rows` rows of A times one column: sums along the vectors, whose lanes are added up last. */
static inline __attribute__((always_inline)) void _pm_dots_$S(const int rows, ptrdiff_t depth, $T scale,
        const $T *a, ptrdiff_t a_row, const $T *b, $T beta, const $T *from, ptrdiff_t from_row, $T *c,
        ptrdiff_t c_row)
{
    const ptrdiff_t whole = depth / $L * $L;
    _pm_vector_$S sums[8] = {{0}};
    for (ptrdiff_t k = 0; k < whole; k += $L)
        for (int r = 0; r < rows; r++)
            sums[r] += *(const _pm_memory_$S *)(a + r * a_row + k) * *(const _pm_memory_$S *)(b + k);
    if (whole < depth) {
        const _pm_mask_$S mask = _PM_MASK_$S(depth - whole);
        for (int r = 0; r < rows; r++)
            sums[r] += _pm_load_$S(a + r * a_row + whole, mask) * _pm_load_$S(b + whole, mask);
    }
    for (int r = 0; r < rows; r++) {
        $T sum = 0;
        for (int lane = 0; lane < $L; lane++)
            sum += sums[r][lane];
        c[r * c_row] = from == NULL ? scale * sum : scale * sum + beta * from[r * from_row];
    }
}

/* The product with one column that is contiguous, as the rows of A are: vectors of columns would be empty. */
_PM_SHARED __attribute__((noinline)) void _pm_column_$S(ptrdiff_t m, ptrdiff_t depth, $T scale, const $T *a,
        ptrdiff_t a_row, const $T *b, $T beta, const $T *from, ptrdiff_t from_row, $T *c, ptrdiff_t c_row)
{
    const ptrdiff_t whole = m / 8 * 8;
    for (ptrdiff_t i = 0; i < whole; i += 8)
        _pm_dots_$S(8, depth, scale, a + i * a_row, a_row, b, beta,
                    from == NULL ? NULL : from + i * from_row, from_row, c + i * c_row, c_row);
    for (ptrdiff_t i = whole; i < m; i++)
        _pm_dots_$S(1, depth, scale, a + i * a_row, a_row, b, beta,
                    from == NULL ? NULL : from + i * from_row, from_row, c + i * c_row, c_row);
}

"""
ROW = """\
/* `rows` elements of A, each times a row of B, are added to sums that lie in the first level. */
static inline __attribute__((always_inline)) void _pm_add_rows_$S(const int rows, ptrdiff_t width,
        const $T *a, ptrdiff_t a_step, const $T *b, ptrdiff_t b_step, $T *sums)
{
    $T each[8];
    for (int r = 0; r < rows; r++)
        each[r] = a[r * a_step];
    ptrdiff_t j = 0;
    for (; j + $L <= width; j += $L) {
        _pm_vector_$S sum = *(const _pm_memory_$S *)(sums + j);
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++)
            sum += each[r] * *(const _pm_memory_$S *)(b + r * b_step + j);
        *(_pm_memory_$S *)(sums + j) = sum;
    }
    if (j < width) {
        const _pm_mask_$S mask = _PM_MASK_$S(width - j);
        _pm_vector_$S sum = _pm_load_$S(sums + j, mask);
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++)
            sum += each[r] * _pm_load_$S(b + r * b_step + j, mask);
        _pm_store_$S(sums + j, sum, mask);
    }
}

/* The product of one row, where rows of B are contiguous: eight of these at a time, in the order of memory.
   Nothing is used twice, so that a register block would only wait for parts of lines. */
_PM_SHARED __attribute__((noinline)) void _pm_one_row_$S(ptrdiff_t n, ptrdiff_t depth, $T scale, const $T *a,
        ptrdiff_t a_step, const $T *b, ptrdiff_t b_step, $T beta, const $T *from, $T *c)
{
    enum { most = 1024 };
    _Alignas(64) $T sums[most];
    for (ptrdiff_t j = 0; j < n; j += most) {
        const ptrdiff_t width = n - j < most ? n - j : most, whole = depth / 8 * 8;
        for (ptrdiff_t x = 0; x < width; x++)
            sums[x] = 0;
        for (ptrdiff_t k = 0; k < whole; k += 8)
            _pm_add_rows_$S(8, width, a + k * a_step, a_step, b + k * b_step + j, b_step, sums);
        for (ptrdiff_t k = whole; k < depth; k++)
            _pm_add_rows_$S(1, width, a + k * a_step, a_step, b + k * b_step + j, b_step, sums);
        for (ptrdiff_t x = 0; x < width; x++)
            c[j + x] = from == NULL ? scale * sums[x] : scale * sums[x] + beta * from[j + x];
    }
}

"""
DIRECT = """\
/* A product of matrices that are not packed, at most `deep` of the depth at a time: where that is not all of
   it, few rows use what is read of B, so that each panel asks for the next one. */
static __attribute__((noinline)) void _pm_direct_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t depth,
        ptrdiff_t deep, $T scale, const $T *a, ptrdiff_t a_row, ptrdiff_t a_step, const $T *b,
        ptrdiff_t b_step, $T beta, const $T *from, ptrdiff_t from_row, $T *c,
        ptrdiff_t c_row«, const _pm_end_$S *end»)
{
    if (n == 1 && a_step == 1 && b_step == 1 && depth >= $L« && end == NULL») {
        _pm_column_$S(m, depth, scale, a, a_row, b, beta, from, from_row, c, c_row);
        return;
    }
    const ptrdiff_t vectors = (n + $L - 1) / $L, panels = (vectors + $V - 1) / $V, strips = (m + $R - 1) / $R;
    if (strips == 1 && panels == 1 && depth <= deep) {
        _pm_blocks_$S[vectors - 1][m - 1](depth, a, a_row, a_step, b, b_step, scale, beta, from, from_row, c,
                                          c_row, (int)(n - (vectors - 1) * $L)«, end»);
        return;
    }
    const ptrdiff_t least = m / strips, higher = m - least * strips;
    for (ptrdiff_t k = 0; k < depth || k == 0; k += deep) {
        const ptrdiff_t length = depth - k < deep ? depth - k : deep;
        for (ptrdiff_t panel = 0, j = 0; panel < panels; panel++) {
            const ptrdiff_t wide = _pm_piece_$S(vectors, panels, panel);
            const ptrdiff_t left = n - j < wide * $L ? n - j : wide * $L;
            if (deep < depth && panel + 1 < panels)
                _pm_request_$S(b + k * b_step + j + left, 1, b_step,
                               n - j - left < $V * $L ? n - j - left : $V * $L, length, 0, 1);
            for (ptrdiff_t strip = 0, i = 0; strip < strips; strip++) {
                const ptrdiff_t rows = least + (strip < higher);
                $T *const target = c + i * c_row + j;
                const $T *const start = k > 0 ? target : from == NULL ? NULL : from + i * from_row + j;
                _pm_blocks_$S[wide - 1][rows - 1](length, a + i * a_row + k * a_step, a_row, a_step,
                        b + k * b_step + j, b_step, scale, k > 0 ? 1 : beta, start, k > 0 ? c_row : from_row,
                        target, c_row, (int)(left - (wide - 1) * $L)«,
                        k + deep >= depth ? end : NULL»);
                i += rows;
            }
            j += wide * $L;
        }
    }
}

"""
