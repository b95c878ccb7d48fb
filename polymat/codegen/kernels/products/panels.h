/* Products of some rows at a time, of a right operand that is packed before all of them.

   Stages that share tiles of rows compute a few rows of a product in each tile: what all of these are multiplied
   by is packed once, in pieces of the depth of at most `kc`, so that a panel of one stays in the first level
   while all strips of the rows pass it.  All of them together need not fit any cache: each whole strip requests
   its part of the panel that follows.  Nobody requests the parts of lower strips, of those whose rows are not
   contiguous, and of all strips beside a panel that is not filled. */
#pragma once

#include "products/blocks.h"
#include "products/packing.h"
#include "products/product.h"

/* How B is cut: vectors and panels of columns, pieces of the depth, and elements from one packed panel to the
   next. */
typedef struct {
    ptrdiff_t vectors, panels, pieces, apart;
} NAME(panels_cut);

static inline NAME(panels_cut) NAME(panels_of)(ptrdiff_t n, ptrdiff_t k, ptrdiff_t kc)
{
    const ptrdiff_t vectors = n > 0 ? (n + LANES - 1) / LANES : 0, pieces = k > kc ? (k + kc - 1) / kc : 1;
    const ptrdiff_t longest = k > 0 ? (k + pieces - 1) / pieces : 0;
    const NAME(panels_cut) cut = {vectors, (vectors + VECTORS - 1) / VECTORS, pieces,
            NAME(apart)(VECTORS * LANES, longest)};
    return cut;
}

/* Pack part `part` of `parts` of B, of n columns and depth k. */
_PM_SHARED void NAME(pack_panels)(ptrdiff_t n, ptrdiff_t k, const T *b, ptrdiff_t b_step, ptrdiff_t b_column,
        ptrdiff_t kc, T *to, ptrdiff_t part, ptrdiff_t parts)
{
    const NAME(panels_cut) cut = NAME(panels_of)(n, k, kc);
    const NAME(depth) depth = {1, k, cut.pieces, 1};
    const ptrdiff_t all = k > 0 ? cut.pieces * cut.panels : 0, first = all * part / parts,
                    last = all * (part + 1) / parts;
    for (ptrdiff_t panel = first, next; panel < last; panel = next) {
        const ptrdiff_t piece = panel / cut.panels, end = (piece + 1) * cut.panels;
        next = end < last ? end : last;
        const NAME(lines) right = {n, cut.panels, LANES, VECTORS * LANES, piece, piece + 1, cut.apart, &depth,
                NAME(origin)};
        NAME(pack_all)(&right, panel - piece * cut.panels, next - piece * cut.panels, NAME(origin), b,
                b_column, b_step, to + panel * cut.apart);
    }
}

/* The height of the strip that begins at row i of m: whole ones, and the last two alike. */
static inline ptrdiff_t NAME(strip_height)(ptrdiff_t i, ptrdiff_t m)
{
    const ptrdiff_t left = m - i;
    return left >= 2 * ROWS ? ROWS : left > ROWS ? (left + 1) / 2 : left;
}

/* Rows by a packed panel of `filled` columns. */
static inline void NAME(rows_by_panel)(const NAME(product) *all, const T *a, ptrdiff_t depth, const T *b,
        ptrdiff_t apart, ptrdiff_t wide, ptrdiff_t filled, T beta, const NAME(result) *result)
{
    const ptrdiff_t m = all->m, a_row = all->a_row, strips = (m + ROWS - 1) / ROWS;
    const ptrdiff_t pace = (wide * LANES * (ptrdiff_t)sizeof(T) + strips - 1) / strips;
    const char *next = (const char *)(b + apart);
    for (ptrdiff_t i = 0, height; i < m; i += height, next += pace * depth) {
        height = NAME(strip_height)(i, m);
        const NAME(result) to = NAME(result_at)(result, i, 0);
        if (all->a_step == 1 && height == ROWS && filled == wide * LANES)
            NAME(strips)[wide - 1](depth, a + i * a_row, a_row, b, all->scale, beta, &to, next, pace);
        else
            NAME(blocks)[wide - 1][height - 1](depth, a + i * a_row, a_row, all->a_step, b, wide * LANES,
                    all->scale, beta, &to, (int)(filled - (wide - 1) * LANES));
    }
}

/* A segment of rows by the panels that are packed in `scratch`. */
static void NAME(rows_by_panels)(const NAME(product) *all)
{
    const ptrdiff_t n = all->n, k = all->k;
    const NAME(panels_cut) cut = NAME(panels_of)(n, k, all->kc);
    const NAME(result) first = NAME(result_of)(all->from, all->from_row, all->c, all->c_row END(all->end));
    const NAME(result) added = NAME(result_added)(&first);
    const T *b = all->scratch;
    for (ptrdiff_t piece = 0; piece < cut.pieces; piece++) {
        const T *const a = all->a + NAME(before)(k, cut.pieces, piece) * all->a_step;
        const ptrdiff_t depth = NAME(piece)(k, cut.pieces, piece);
        for (ptrdiff_t panel = 0, j = 0; panel < cut.panels; panel++, b += cut.apart) {
            const ptrdiff_t wide = NAME(piece)(cut.vectors, cut.panels, panel);
            const ptrdiff_t filled = n - j < wide * LANES ? n - j : wide * LANES;
            const NAME(result) to = NAME(result_at)(piece > 0 ? &added : &first, 0, j);
            NAME(rows_by_panel)(all, a, depth, b, cut.apart, wide, filled, piece > 0 ? 1 : all->beta, &to);
            j += wide * LANES;
        }
    }
}

/* The product of B in panels, by segments of rows. */
_PM_SHARED __attribute__((noinline)) void NAME(by_panels)(const NAME(product) *all)
{
    NAME(product) part = *all;
    for (ptrdiff_t segment = 0; segment < all->row_count; segment++) {
        const ptrdiff_t *const at = all->rows + 3 * segment;
        part.a = all->a + at[0];
        part.c = all->c + at[1];
        part.from = all->from == NULL ? NULL : all->from + at[2];
        NAME(rows_by_panels)(&part);
    }
}
