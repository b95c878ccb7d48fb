"""Products whose left operand is read where it is, past a part of the right one in the second-level cache.

`TALL` gives the C function that the product of `polymat.codegen.gemm` uses where the depth of A is
contiguous.  A copy of A would cost as much as a few columns do.  Instead a part of B that fills much of the
second level is packed, and strips of A follow each other with all of its columns: A is read and C is written
in the order of memory, a strip of A stays in the first level for all panels, and while one is multiplied the
next one is requested.
"""

from __future__ import annotations

TALL = """\
/* One strip of A times panels panel_0..panel_1 - 1 of B; target, start: where its rows of C and From begin.
   Each panel requests a part of the next strip. */
static inline void _pm_strip_past_$S(const _pm_lines_$S *right, ptrdiff_t panel_0, ptrdiff_t panel_1,
        ptrdiff_t height, ptrdiff_t depth, const $T *a, ptrdiff_t a_row, const $T *next, const $T *b_panel,
        $T scale, $T beta, const $T *start, ptrdiff_t start_row, $T *target, ptrdiff_t c_row)
{
    const ptrdiff_t n = right->count, count = panel_1 - panel_0;
    const ptrdiff_t pace = ($R * (ptrdiff_t)sizeof($T) + count - 1) / count;
    const ptrdiff_t vectors = (n + $L - 1) / $L, least = vectors / right->each;
    ptrdiff_t j = _pm_line_$S(right, panel_0);
    for (ptrdiff_t panel = panel_0; panel < panel_1; panel++, b_panel += right->apart) {
        const ptrdiff_t wide = least + (panel < vectors - least * right->each);
        const ptrdiff_t filled = n - j < wide * $L ? n - j : wide * $L;
        const $T *const from = start == NULL ? NULL : start + j;
        const char *const asked = (const char *)next + (panel - panel_0) * (depth / $R) * pace;
        if (height == $R && filled == wide * $L)
            _pm_passing_$S[wide - 1](depth, a, a_row, b_panel, scale, beta, from, start_row, target + j,
                                     c_row, asked, pace);
        else
            _pm_blocks_$S[wide - 1][height - 1](depth, a, a_row, 1, b_panel, wide * $L, scale, beta, from,
                                                start_row, target + j, c_row,
                                                (int)(filled - (wide - 1) * $L));
        j += wide * $L;
    }
}

/* The product where B is one segment, and so is the depth, along which elements of A are neighbours.
   deep: the most of it at a time; room: elements that a packed part of B has, one panel at least. */
static __attribute__((noinline)) void _pm_tall_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t row_count,
        const ptrdiff_t *rows, $T scale, const $T *a, ptrdiff_t a_row, const $T *b, ptrdiff_t b_step,
        ptrdiff_t b_column, $T beta, const $T *from, ptrdiff_t from_row, $T *c, ptrdiff_t c_row,
        ptrdiff_t deep, ptrdiff_t room, $T *b_packed, _pm_finish_$S finish, void *const *around)
{
    const ptrdiff_t panels = (n + $V * $L - 1) / ($V * $L), pieces = (k + deep - 1) / deep;
    const ptrdiff_t strips = (m + $R - 1) / $R, all_strips = strips * row_count;
    const ptrdiff_t wide = room / ($V * $L) / ((k + pieces - 1) / pieces);
    const ptrdiff_t share = _pm_share_$S(panels, wide > 1 ? wide : 1);
    const ptrdiff_t few = room / 4 / (share * $R * $V * $L) + 1; /* strips that are handed over together */
    const _pm_depth_$S cut = {1, k, pieces, 1};
    for (ptrdiff_t step = 0; step < pieces * ((panels + share - 1) / share); step++) {
        const ptrdiff_t piece = step % pieces, panel_0 = step / pieces * share;
        const ptrdiff_t panel_1 = panel_0 + share < panels ? panel_0 + share : panels;
        const _pm_chunk_$S part = _pm_chunk_of_$S(&cut, piece);
        const ptrdiff_t apart = _pm_apart_$S($V * $L, part.length);
        const _pm_lines_$S right = {n, panels, $L, $V * $L, piece, piece + 1, apart, &cut,
                                    _pm_origin_$S};
        _pm_pack_all_$S(&right, panel_0, panel_1, _pm_origin_$S, b, b_column, b_step, b_packed);
        for (ptrdiff_t strip = 0, last = 0; strip < all_strips; strip++) {
            const ptrdiff_t *const at = rows + strip / strips * 3;
            const ptrdiff_t i = _pm_before_$S(m, strips, strip % strips);
            const ptrdiff_t height = _pm_piece_$S(m, strips, strip % strips);
            const $T *const a_strip = a + at[0] + i * a_row + part.begin;
            const ptrdiff_t onward = strip % strips + 1 < strips ? height * a_row
                                   : strip + 1 < all_strips ? at[3] - at[0] - i * a_row : 0;
            $T *const target = c + at[1] + i * c_row;
            const $T *const start = piece > 0 ? target : from == NULL ? NULL : from + at[2] + i * from_row;
            _pm_strip_past_$S(&right, panel_0, panel_1, height, part.length, a_strip, a_row, a_strip + onward,
                              b_packed, scale, piece > 0 ? 1 : beta, start, piece > 0 ? c_row : from_row,
                              target, c_row);
            if (finish != NULL && piece + 1 == pieces
                    && (strip + 1 - last == few || strip + 1 == all_strips)) {
                const ptrdiff_t end = panel_1 < panels ? _pm_line_$S(&right, panel_1) : n;
                _pm_finish_rows_$S(m, strips, last, strip + 1, 0, _pm_line_$S(&right, panel_0), end, finish,
                                   around);
                last = strip + 1;
            }
        }
    }
}

"""
