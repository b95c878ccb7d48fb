"""Products of few rows or few columns, whose large operand is read where it is.

A copy of the large operand costs about as much as a few strips or panels of the other one need for their
multiplications, and while it is made memory is waited for.  `READ` gives the C functions for products whose
small operand fits the second-level cache, and is copied: register blocks read the large one in place, and
each requests lines of what comes after the part in use.  Of columns these are pieces of their rows, as long
as the second level allows, since lines far apart are read slowly one by one.  `polymat.product.reading` says
when.
"""

from __future__ import annotations

from polymat.codegen.products.reading import WHICH_IS_READ
from polymat.product.reading import GROUP

_READ = """\
enum { _PM_GROUP_$S = $GROUP }; /* panels that are requested together */

/* The requests of a block that makes none itself. */
static void _pm_ask_$S(ptrdiff_t depth, const _pm_requests_$S *asked)
{
    const char *next = asked->next;
    ptrdiff_t at = 0;
    for (ptrdiff_t step = 0; step < depth; step++) {
        __builtin_prefetch(next, 0, 2);
        __builtin_prefetch(next + asked->apart, 0, 2);
        __builtin_prefetch(next + 2 * asked->apart, 0, 2);
        at += asked->pace;
        next += at < asked->width ? asked->pace : asked->pace + asked->jump;
        at -= at < asked->width ? 0 : asked->width;
    }
}

/* The product of a few rows; a_packed: room for a copy of A. */
static __attribute__((noinline)) void _pm_few_rows_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k,
        ptrdiff_t row_count, const ptrdiff_t *rows, ptrdiff_t column_count, const ptrdiff_t *columns,
        $T scale, const $T *a, ptrdiff_t a_row, ptrdiff_t a_step, const $T *b, ptrdiff_t b_step, $T beta,
        const $T *from, ptrdiff_t from_row, $T *c, ptrdiff_t c_row, ptrdiff_t small, $T *a_packed,
        _pm_finish_$S finish, void *const *around«, const _pm_end_$S *end»)
{
    const ptrdiff_t strips = (m + $R - 1) / $R, all_strips = strips * row_count;
    const ptrdiff_t vectors = (n + $L - 1) / $L, panels = (vectors + $V - 1) / $V;
    const ptrdiff_t fit = small / 4 / (k * $V * $L) > 3 ? small / 4 / (k * $V * $L) : 3;
    const ptrdiff_t most = fit < _PM_GROUP_$S ? fit : _PM_GROUP_$S, groups = (panels + most - 1) / most;
    const _pm_depth_$S cut = {1, k, 1, 1};
    const _pm_lines_$S left = {m, strips, 1, $R, 0, 1, _pm_apart_$S($R, k), &cut, _pm_origin_$S};
    _pm_pack_all_$S(&left, 0, all_strips, rows, a, a_row, a_step, a_packed);
    for (ptrdiff_t group = 0; group < groups * column_count; group++) {
        const ptrdiff_t *const across = columns + group / groups * 3;
        const ptrdiff_t first = _pm_before_$S(panels, groups, group % groups);
        const ptrdiff_t last = first + _pm_piece_$S(panels, groups, group % groups);
        const ptrdiff_t j_0 = _pm_before_$S(vectors, panels, first) * $L;
        const ptrdiff_t beyond = _pm_before_$S(vectors, panels, last) * $L, j_1 = beyond < n ? beyond : n;
        const ptrdiff_t onward = last < panels ? across[0] + j_1
                               : group / groups + 1 < column_count ? across[3] : across[0] + j_0;
        const ptrdiff_t width = (j_1 - j_0) * (ptrdiff_t)sizeof($T), blocks = (last - first) * all_strips;
        const ptrdiff_t pace = (width + blocks - 1) / blocks;
        _pm_requests_$S asked = {NULL, pace, pace / 3, width, b_step * (ptrdiff_t)sizeof($T) - width};
        ptrdiff_t block = 0, j = j_0;
        for (ptrdiff_t panel = first; panel < last; panel++) {
            const ptrdiff_t wide = _pm_piece_$S(vectors, panels, panel);
            const ptrdiff_t filled = n - j < wide * $L ? n - j : wide * $L;
            const $T *const b_panel = b + across[0] + j;
            for (ptrdiff_t strip = 0; strip < all_strips; strip++, block++) {
                const ptrdiff_t *const down = rows + strip / strips * 3;
                const ptrdiff_t i = _pm_line_$S(&left, strip % strips);
                const ptrdiff_t height = _pm_width_$S(&left, strip % strips);
                $T *const target = c + down[1] + i * c_row + across[1] + j;
                const $T *const start = from == NULL ? NULL : from + down[2] + i * from_row + across[2] + j;
                const $T *const a_strip = a_packed + strip * left.apart;
                asked.next = (const char *)(b + onward + k * block / blocks * b_step + _PM_LINE_$S - 1);
                if (height == $R && filled == wide * $L)
                    _pm_readings_$S[wide - 1](k, a_strip, $R, b_panel, b_step, scale, beta, start, from_row,
                                              target, c_row, &asked«, end»);
                else {
                    _pm_ask_$S(k, &asked);
                    _pm_blocks_$S[wide - 1][height - 1](k, a_strip, 1, height, b_panel, b_step, scale, beta,
                                                        start, from_row, target, c_row,
                                                        (int)(filled - (wide - 1) * $L)«, end»);
                }
            }
            j += filled;
        }
        if (finish != NULL)
            _pm_finish_rows_$S(m, strips, 0, all_strips, group / groups, j_0, j_1, finish, around);
    }
}

/* The product of a few columns, where elements along the rows of A are neighbours; b_packed: room for B. */
static __attribute__((noinline)) void _pm_few_columns_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k,
        ptrdiff_t row_count, const ptrdiff_t *rows, $T scale, const $T *a, ptrdiff_t a_step, const $T *b,
        ptrdiff_t b_step, ptrdiff_t b_column, $T beta, const $T *from, ptrdiff_t from_row, $T *c,
        ptrdiff_t c_row, $T *b_packed«, const _pm_end_$S *end»)
{
    const ptrdiff_t strips = (m + $R - 1) / $R, all_strips = strips * row_count;
    const ptrdiff_t vectors = (n + $L - 1) / $L, panels = (vectors + $V - 1) / $V;
    const _pm_depth_$S cut = {1, k, 1, 1};
    const _pm_lines_$S left = {m, strips, 1, $R, 0, 1, 0, &cut, _pm_origin_$S};
    const _pm_lines_$S right = {n, panels, $L, $V * $L, 0, 1, _pm_apart_$S($V * $L, k), &cut, _pm_origin_$S};
    const ptrdiff_t step = a_step * (ptrdiff_t)sizeof($T);
    _pm_pack_all_$S(&right, 0, panels, _pm_origin_$S, b, b_column, b_step, b_packed);
    for (ptrdiff_t strip = 0; strip < all_strips; strip++) {
        const ptrdiff_t *const at = rows + strip / strips * 3;
        const ptrdiff_t i = _pm_line_$S(&left, strip % strips), height = _pm_width_$S(&left, strip % strips);
        const ptrdiff_t onward = strip % strips + 1 < strips ? at[0] + i + height
                               : strip + 1 < all_strips ? at[3] : at[0] + i;
        _pm_requests_$S asked = {(const char *)(a + onward + $R - 1), step, 0, step * k + 1, 0};
        for (ptrdiff_t panel = 0; panel < panels; panel++) {
            const ptrdiff_t j = _pm_line_$S(&right, panel), width = _pm_width_$S(&right, panel);
            const ptrdiff_t filled = _pm_filled_$S(&right, panel);
            const $T *const a_strip = a + at[0] + i, *const b_panel = b_packed + panel * right.apart;
            $T *const target = c + at[1] + i * c_row + j;
            const $T *const start = from == NULL ? NULL : from + at[2] + i * from_row + j;
            if (height == $R && filled == width)
                _pm_readings_$S[width / $L - 1](k, a_strip, a_step, b_panel, width, scale, beta, start,
                                                from_row, target, c_row, &asked«, end»);
            else {
                _pm_ask_$S(k, &asked);
                _pm_blocks_$S[width / $L - 1][height - 1](k, a_strip, 1, a_step, b_panel, width, scale, beta,
                                                          start, from_row, target, c_row,
                                                          (int)(filled - width + $L)«, end»);
            }
            asked.pace = 0; /* once is enough */
        }
    }
}

/* The product by one of these, where the depth is one segment: whether it was one for them. */
_PM_SHARED __attribute__((noinline)) int _pm_read_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k,
        ptrdiff_t row_count, const ptrdiff_t *rows, ptrdiff_t column_count, const ptrdiff_t *columns,
        $T scale, const $T *a, ptrdiff_t a_row, ptrdiff_t a_step, const $T *b, ptrdiff_t b_step,
        ptrdiff_t b_column, $T beta, const $T *from, ptrdiff_t from_row, $T *c, ptrdiff_t c_row,
        ptrdiff_t kc, ptrdiff_t small, $T *scratch, _pm_finish_$S finish, void *const *around«,
        const _pm_end_$S *end»)
{
    const ptrdiff_t strips = (m + $R - 1) / $R * row_count, panels = (n + $V * $L - 1) / ($V * $L);
    const int few_columns = column_count == 1 && a_row == 1 && a_step != 1 && finish == NULL;
    const double all_m = (double)m * (double)row_count, all_n = (double)n * (double)column_count;
    const int found = _pm_reading(b_column == 1, few_columns, all_m, all_n, (double)n, (double)k,
                                  (double)strips, (double)panels, $R, $V * $L, $L, (double)kc, (double)small,
                                  b_step, a_step);
    if (found == 2)
        _pm_few_rows_$S(m, n, k, row_count, rows, column_count, columns, scale, a, a_row, a_step, b, b_step,
                        beta, from, from_row, c, c_row, small, scratch, finish, around«, end»);
    if (found == 1)
        _pm_few_columns_$S(m, n, k, row_count, rows, scale, a, a_step, b, b_step, b_column, beta, from,
                           from_row, c, c_row, scratch«, end»);
    return found != 0;
}

""".replace("$GROUP", str(GROUP))
READ = WHICH_IS_READ + _READ
