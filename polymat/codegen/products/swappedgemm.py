"""Products of a few columns whose left operand is contiguous along its rows: computed as their transpose.

`SWAPPED` gives the C function that the product of `polymat.codegen.products.gemm` uses for them.  Vectors of
columns would be mostly empty, and a strip of a few rows reads a part of each line of A, or a copy of it.
Here the lanes of vectors are rows of the result, read where they are, and the elements of a few columns are
broadcast; the sums of a part of the rows are kept, and transposed last.  Measured (Zen 5, one thread, from
C): 300 x 4 x 300 took 0.24 of the time in float64 and 0.14 in float32, 1000 x 16 x 1000 in float32 0.35, and
a quarter of the time that OpenBLAS took of 1000 x 4 x 1000.
"""

from __future__ import annotations

from polymat.product.fewcolumns import BELOW_A_VECTOR, FAR
from polymat.product.fewcolumns import SWAPPED as FEW
from polymat.product.inequality import any_in_c, in_c

IS_SWAPPED = f"""\
/* Whether a product has so few columns that the lanes of vectors are rows. */
static inline int _pm_is_swapped_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t a_row, ptrdiff_t a_step,
        ptrdiff_t small)
{{
    const ptrdiff_t lanes = $L;
    return a_row == 1 && a_step != 1 && {in_c(FEW)} && ({any_in_c(BELOW_A_VECTOR, FAR)});
}}

"""
SWAPPED = """\
/* Rows of which sums are kept, and the depth that is run at a time where A is not in the second level. */
enum { _PM_SWAPPED_ROWS_$S = 512, _PM_SWAPPED_DEPTH_$S = 64 };

/* The sums of `m` rows and up to $R columns, one column after the other in `sums`. */
static void _pm_swapped_part_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t deep, $T scale, const $T *a,
        ptrdiff_t a_step, const $T *b, ptrdiff_t b_step, ptrdiff_t b_column, $T *sums)
{
    const ptrdiff_t vectors = (m + $L - 1) / $L, panels = (vectors + $V - 1) / $V;
    for (ptrdiff_t p = 0; p < k; p += deep) {
        const ptrdiff_t depth = k - p < deep ? k - p : deep;
        for (ptrdiff_t panel = 0, i = 0; panel < panels; panel++) {
            const ptrdiff_t wide = _pm_piece_$S(vectors, panels, panel);
            const ptrdiff_t filled = m - i < wide * $L ? m - i : wide * $L, next = i + filled;
            if (deep < k && next < m)
                _pm_request_$S(a + p * a_step + next, 1, a_step, m - next < $V * $L ? m - next : $V * $L,
                               depth, 0, 1);
            _pm_blocks_$S[wide - 1][n - 1](depth, b + p * b_step, b_column, b_step, a + p * a_step + i,
                    a_step, scale, 1, p > 0 ? sums + i : NULL, _PM_SWAPPED_ROWS_$S, sums + i,
                    _PM_SWAPPED_ROWS_$S, (int)(filled - (wide - 1) * $L)«, NULL»);
            i += filled;
        }
    }
}

_PM_SHARED __attribute__((noinline)) void _pm_swapped_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, $T scale,
        const $T *a, ptrdiff_t a_step, const $T *b, ptrdiff_t b_step, ptrdiff_t b_column, $T beta,
        const $T *from, ptrdiff_t from_row, $T *c, ptrdiff_t c_row, ptrdiff_t small)
{
    _Alignas(64) $T sums[$R * _PM_SWAPPED_ROWS_$S];
    const ptrdiff_t deep = (double)m * (double)k <= (double)small ? k : _PM_SWAPPED_DEPTH_$S;
    const ptrdiff_t strips = (n + $R - 1) / $R;
    for (ptrdiff_t i = 0; i < m; i += _PM_SWAPPED_ROWS_$S) {
        const ptrdiff_t height = m - i < _PM_SWAPPED_ROWS_$S ? m - i : _PM_SWAPPED_ROWS_$S;
        for (ptrdiff_t strip = 0, j = 0; strip < strips; strip++) {
            const ptrdiff_t width = _pm_piece_$S(n, strips, strip);
            _pm_swapped_part_$S(height, width, k, deep, scale, a + i, a_step, b + j * b_column, b_step,
                                b_column, sums);
            for (ptrdiff_t r = 0; r < height; r++)
                for (ptrdiff_t x = 0; x < width; x++) {
                    const $T sum = sums[x * _PM_SWAPPED_ROWS_$S + r];
                    $T *const target = c + (i + r) * c_row + j + x;
                    *target = from == NULL ? sum : sum + beta * from[(i + r) * from_row + j + x];
                }
            j += width;
        }
    }
}

"""
