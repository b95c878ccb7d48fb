"""Products with a few columns only, whose left operand is contiguous along its depth.

`NARROW` gives the C function that the product of `polymat.codegen.gemm` uses for them.  Vectors of columns
would be mostly empty; here the lanes of a vector are steps of the depth.  The columns are copied to where
each is contiguous, a vector of A is loaded once for all of them, and lanes are added up at the end.  A
single column that is contiguous is not copied.
Measured (Zen 5, one thread, 256 x 2 x 256, float64): 0.32 of the time of register blocks.
"""

from __future__ import annotations

NARROW = """\
enum { _PM_NARROW_$S = $NARROW, _PM_NARROW_DEPTH_$S = 512 };

$ROW_SUMS
static inline __attribute__((always_inline)) void _pm_narrow_rows_$S(const int rows, const int n,
        ptrdiff_t k, $T scale, const $T *a, ptrdiff_t a_row, const $T *columns, $T beta, const $T *from,
        ptrdiff_t from_row, $T *c, ptrdiff_t c_row)
{
    _pm_vector_$S sums[4 * _PM_NARROW_$S] = {{0}};
    const ptrdiff_t whole = k / $L * $L;
    for (ptrdiff_t p = 0; p < whole; p += $L)
#pragma GCC unroll 4
        for (int row = 0; row < rows; row++) {
            const _pm_vector_$S left = *(const _pm_memory_$S *)(a + row * a_row + p);
#pragma GCC unroll 4
            for (int j = 0; j < n; j++)
                sums[row * n + j] += left * *(const _pm_memory_$S *)(columns + j * _PM_NARROW_DEPTH_$S + p);
        }
    if (whole < k) {
        const _pm_mask_$S mask = _PM_MASK_$S(k - whole);
#pragma GCC unroll 4
        for (int row = 0; row < rows; row++) {
            const _pm_vector_$S left = _pm_load_$S(a + row * a_row + whole, mask);
#pragma GCC unroll 4
            for (int j = 0; j < n; j++)
                sums[row * n + j] += left * _pm_load_$S(columns + j * _PM_NARROW_DEPTH_$S + whole, mask);
        }
    }
    $T totals[4 * _PM_NARROW_$S];
#pragma GCC unroll 4
    for (int j = 0; j < n; j++)
        _pm_row_sums_$S(sums[j], sums[n + j], sums[2 * n + j], sums[3 * n + j], totals + 4 * j);
#pragma GCC unroll 4
    for (int row = 0; row < rows; row++)
#pragma GCC unroll 4
        for (int j = 0; j < n; j++) {
            const $T sum = scale * totals[4 * j + row];
            c[row * c_row + j] = from == NULL ? sum : sum + beta * from[row * from_row + j];
        }
}

/* A part of the depth, for all rows. */
static inline __attribute__((always_inline)) void _pm_narrow_part_$S(ptrdiff_t m, const int n, ptrdiff_t k,
        $T scale, const $T *a, ptrdiff_t a_row, const $T *columns, $T beta, const $T *from,
        ptrdiff_t from_row, $T *c, ptrdiff_t c_row)
{
    ptrdiff_t i = 0;
    for (; i + 4 <= m; i += 4)
        _pm_narrow_rows_$S(4, n, k, scale, a + i * a_row, a_row, columns, beta,
                           from == NULL ? NULL : from + i * from_row, from_row, c + i * c_row, c_row);
    for (; i < m; i++)
        _pm_narrow_rows_$S(1, n, k, scale, a + i * a_row, a_row, columns, beta,
                           from == NULL ? NULL : from + i * from_row, from_row, c + i * c_row, c_row);
}

/* Whether B is a single contiguous column, which is read where it is, so that few rows pay as well. */
static inline int _pm_is_column_$S(ptrdiff_t n, ptrdiff_t b_step)
{
    return n == 1 && b_step == 1;
}

static __attribute__((noinline)) void _pm_narrow_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, $T scale,
        const $T *a, ptrdiff_t a_row, const $T *b, ptrdiff_t b_step, $T beta, const $T *from,
        ptrdiff_t from_row, $T *c, ptrdiff_t c_row)
{
    const int stays = _pm_is_column_$S(n, b_step);
    const ptrdiff_t most = stays ? 8 * _PM_NARROW_DEPTH_$S : _PM_NARROW_DEPTH_$S;
    _Alignas(64) $T copy[_PM_NARROW_$S * _PM_NARROW_DEPTH_$S];
    for (ptrdiff_t p = 0; p < k; p += most) {
        const ptrdiff_t depth = k - p < most ? k - p : most;
        const $T *const columns = stays ? b + p : copy;
        for (ptrdiff_t j = 0; j < n && !stays; j++)
            for (ptrdiff_t q = 0; q < depth; q++)
                copy[j * _PM_NARROW_DEPTH_$S + q] = b[(p + q) * b_step + j];
        switch (n) {
        case 1:
            _pm_narrow_part_$S(m, 1, depth, scale, a + p, a_row, columns, beta, from, from_row, c, c_row);
            break;
        case 2:
            _pm_narrow_part_$S(m, 2, depth, scale, a + p, a_row, columns, beta, from, from_row, c, c_row);
            break;
        case 3:
            _pm_narrow_part_$S(m, 3, depth, scale, a + p, a_row, columns, beta, from, from_row, c, c_row);
            break;
        default:
            _pm_narrow_part_$S(m, 4, depth, scale, a + p, a_row, columns, beta, from, from_row, c, c_row);
        }
        beta = 1;
        from = c;
        from_row = c_row;
    }
}

"""
