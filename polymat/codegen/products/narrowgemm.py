"""Products with a few columns only, whose left operand is contiguous along its depth.

`NARROW` gives the C function that the product of `polymat.codegen.products.gemm` uses for them, and
`IS_NARROW` tells them from others.  Vectors of columns would be mostly empty; here the lanes of a vector are
steps of depth. Columns that are not contiguous are copied, a vector of A is loaded once for up to four of
them, and lanes are added up at the end.  Measured (Zen 5, one thread, 300 x 4 x 300, float64): 0.8 of the
time of OpenBLAS.
"""

from __future__ import annotations

from polymat.product.fewcolumns import ALWAYS, DEEP, TALL
from polymat.product.fewcolumns import NARROW as FEW
from polymat.product.inequality import any_in_c, in_c

GROUP = 4  # columns whose sums stay in registers together, beside as many rows

_ROWS = """\
enum { _PM_NARROW_DEPTH_$S = 512, _PM_NARROW_ROWS_$S = 32 };

$ROW_SUMS
/* Loads are volatile, or gcc repeats them: it takes memory that nobody writes for as good as a register. */
static inline __attribute__((always_inline)) void _pm_narrow_rows_$S(const int rows, const int n,
        ptrdiff_t k, $T scale, const $T *a, ptrdiff_t a_row, const $T *columns, ptrdiff_t apart, $T beta,
        const $T *from, ptrdiff_t from_row, $T *c, ptrdiff_t c_row)
{
    _pm_vector_$S sums[4 * 4] = {{0}}, right[4];
    const ptrdiff_t whole = k / $L * $L;
    for (ptrdiff_t p = 0; p < whole; p += $L) {
#pragma GCC unroll 4
        for (int j = 0; j < n; j++)
            right[j] = *(const volatile _pm_memory_$S *)(columns + j * apart + p);
#pragma GCC unroll 4
        for (int row = 0; row < rows; row++) {
            const _pm_vector_$S left = *(const volatile _pm_memory_$S *)(a + row * a_row + p);
#pragma GCC unroll 4
            for (int j = 0; j < n; j++)
                sums[row * n + j] += left * right[j];
        }
    }
    if (whole < k) {
        const _pm_mask_$S mask = _PM_MASK_$S(k - whole);
#pragma GCC unroll 4
        for (int row = 0; row < rows; row++) {
            const _pm_vector_$S left = _pm_load_$S(a + row * a_row + whole, mask);
#pragma GCC unroll 4
            for (int j = 0; j < n; j++)
                sums[row * n + j] += left * _pm_load_$S(columns + j * apart + whole, mask);
        }
    }
    $T totals[4 * 4];
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

"""
_PART = """\
/* A part of the depth of $COLUMNS columns, for all rows. */
static void _pm_narrow_${COLUMNS}_$S(ptrdiff_t m, ptrdiff_t k, $T scale, const $T *a, ptrdiff_t a_row,
        const $T *columns, ptrdiff_t apart, $T beta, const $T *from, ptrdiff_t from_row, $T *c,
        ptrdiff_t c_row)
{
    ptrdiff_t i = 0;
    for (; i + 4 <= m; i += 4)
        _pm_narrow_rows_$S(4, $COLUMNS, k, scale, a + i * a_row, a_row, columns, apart, beta,
                           from == NULL ? NULL : from + i * from_row, from_row, c + i * c_row, c_row);
    for (; i < m; i++)
        _pm_narrow_rows_$S(1, $COLUMNS, k, scale, a + i * a_row, a_row, columns, apart, beta,
                           from == NULL ? NULL : from + i * from_row, from_row, c + i * c_row, c_row);
}

"""
IS_NARROW = f"""\
enum {{ _PM_NARROW_$S = $L / 2 > {ALWAYS} ? $L / 2 : {ALWAYS} }}; /* the most columns */

/* Whether a product has so few columns that the lanes of vectors are steps of the depth. */
static inline int _pm_is_narrow_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t a_step, ptrdiff_t b_step,
        ptrdiff_t b_column)
{{
    const ptrdiff_t lanes = $L;
    const int pays = b_step == 1 || ((b_column == 1 || n == 1) && {in_c(TALL)});
    return pays && ({any_in_c(*((one,) for one in FEW))}) && {in_c(DEEP)} && a_step == 1;
}}

"""
_WHOLE = """\
static void (*const _pm_narrow_parts_$S[])(ptrdiff_t, ptrdiff_t, $T, const $T *, ptrdiff_t, const $T *,
        ptrdiff_t, $T, const $T *, ptrdiff_t, $T *, ptrdiff_t) = {$PARTS};

/* Contiguous columns are read where they are, so that few rows pay as well.  Of more than four columns, rows
   that the first level holds are read again for the next ones. */
_PM_SHARED __attribute__((noinline)) void _pm_narrow_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, $T scale,
        const $T *a, ptrdiff_t a_row, const $T *b, ptrdiff_t b_step, ptrdiff_t b_column, $T beta,
        const $T *from, ptrdiff_t from_row, $T *c, ptrdiff_t c_row)
{
    const int stays = b_step == 1;
    const ptrdiff_t most = stays && n == 1 ? 8 * _PM_NARROW_DEPTH_$S : _PM_NARROW_DEPTH_$S;
    const ptrdiff_t height = n > 4 ? _PM_NARROW_ROWS_$S : m, apart = stays ? b_column : _PM_NARROW_DEPTH_$S;
    _Alignas(64) $T copy[_PM_NARROW_$S * _PM_NARROW_DEPTH_$S];
    for (ptrdiff_t p = 0; p < k; p += most) {
        const ptrdiff_t depth = k - p < most ? k - p : most;
        const $T *const columns = stays ? b + p : copy;
        for (ptrdiff_t j = 0; j < n && !stays; j++)
            for (ptrdiff_t q = 0; q < depth; q++)
                copy[j * _PM_NARROW_DEPTH_$S + q] = b[(p + q) * b_step + j * b_column];
        for (ptrdiff_t i = 0; i < m; i += height)
            for (ptrdiff_t j = 0; j < n; j += 4)
                _pm_narrow_parts_$S[n - j < 4 ? n - j - 1 : 3](
                        m - i < height ? m - i : height, depth, scale, a + i * a_row + p, a_row,
                        columns + j * apart, apart, beta, from == NULL ? NULL : from + i * from_row + j,
                        from_row, c + i * c_row + j, c_row);
        beta = 1;
        from = c;
        from_row = c_row;
    }
}

"""
_COLUMNS = range(1, GROUP + 1)
_PARTS = (_PART.replace("${COLUMNS}", str(n)).replace("$COLUMNS", str(n)) for n in _COLUMNS)
_NAMES = ", ".join(f"_pm_narrow_{n}_$S" for n in _COLUMNS)
NARROW = _ROWS + "".join(_PARTS) + _WHOLE.replace("$PARTS", _NAMES)
