/* Products of few rows or few columns, whose large operand is read where it is.

   A copy of the large operand costs about as much as a few strips or panels of the other one need for their
   multiplications, and while it is made memory is waited for.  Here the small operand is copied to where the
   second level holds it; register blocks read the large one in place, and each requests lines of what comes
   after the part in use.  Beside few rows a few of its rows at a time are read from one end to the other, as many
   as processors run ahead of by themselves, in pieces as long as the second level allows, since lines far apart
   are read slowly one by one.

   takes CUT_READ=const ptrdiff_t segment_strips = m + rows, strips = row_segments, wide = n + lanes, panels = vectors, read_depth = k + right_power, groups = k + small, at_once = groups  declares what formulas compute */
#pragma once

#include "products/ahead.h"
#include "products/finishrows.h"
#include "products/product.h"

/* The requests of a block that makes none itself. */
static void NAME(ask)(ptrdiff_t depth, const NAME(requests) *asked)
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

/* A strip of packed rows times a panel that is read where it is. */
static inline void NAME(read_block)(ptrdiff_t k, const T *a_strip, ptrdiff_t height, ptrdiff_t wide,
        ptrdiff_t filled, const T *b_panel, ptrdiff_t b_step, T scale, T beta, const NAME(result) *to,
        const NAME(requests) *asked)
{
    if (height == ROWS && filled == wide * LANES) {
        NAME(readings)[wide - 1](k, a_strip, ROWS, b_panel, b_step, scale, beta, to, asked);
        return;
    }
    NAME(ask)(k, asked);
    NAME(blocks)[wide - 1][height - 1](k, a_strip, 1, height, b_panel, b_step, scale, beta, to,
            (int)(filled - (wide - 1) * LANES));
}

/* A panel of columns from j on that few rows are multiplied by: its depth from `at` on, its vectors and the
   columns that are there, and where what is requested meanwhile begins, by so many blocks; what ends the sums,
   where these are complete then. */
typedef struct {
    ptrdiff_t at, deep, j, wide, filled, onward, blocks;
    const void *end;
} NAME(read_panel);

/* All strips by a panel; block: the number of the first of them.  Pieces of the depth are added to what those
   before them left. */
static inline void NAME(read_strips)(const NAME(product) *all, const NAME(lines) *left,
        const NAME(read_panel) *panel, const ptrdiff_t *across, ptrdiff_t block, NAME(requests) *asked)
{
    const ptrdiff_t at = panel->at, deep = panel->deep, j = panel->j, strips = left->each * all->row_count;
    const int is_first = at == 0, place = is_first ? 2 : 1;
    const T beta = is_first ? all->beta : 1;
    const T *const from = is_first ? all->from : all->c;
    const T *const a_packed = all->scratch;
    const ptrdiff_t from_row = is_first ? all->from_row : all->c_row;
    for (ptrdiff_t strip = 0; strip < strips; strip++, block++) {
        const ptrdiff_t *const down = all->rows + strip / left->each * 3;
        const ptrdiff_t i = NAME(line)(left, strip % left->each);
        const ptrdiff_t height = NAME(width)(left, strip % left->each);
        const NAME(result) part =
                NAME(result_of)(from == NULL ? NULL : from + down[place] + i * from_row + across[place] + j,
                        from_row, all->c + down[1] + i * all->c_row + across[1] + j,
                        all->c_row END(panel->end));
        const T *const a_strip = a_packed + strip * left->apart;
        const ptrdiff_t ahead = panel->onward + (at + deep * block / panel->blocks) * all->b_step;
        asked->next = (const char *)(all->b + ahead + CONST(LINE) - 1);
        NAME(read_block)(deep, a_strip, height, panel->wide, panel->filled,
                all->b + at * all->b_step + across[0] + j, all->b_step, all->scale, beta, &part, asked);
    }
}

/* How the columns of a segment are cut beside few rows: its vectors into panels, these into groups whose lines
   are requested together. */
typedef struct {
    ptrdiff_t wide, panels, groups;
} NAME(read_cut);

/* The first panel of a group, and the first column of a panel, in their segment. */
static inline ptrdiff_t NAME(group_panel)(const NAME(read_cut) *cut, ptrdiff_t group)
{
    return NAME(before)(cut->panels, cut->groups, group);
}

static inline ptrdiff_t NAME(panel_column)(const NAME(read_cut) *cut, ptrdiff_t panel)
{
    return NAME(before)(cut->wide, cut->panels, panel) * LANES;
}

/* Where a group of all segments begins in B. */
static inline ptrdiff_t NAME(group_at)(const NAME(product) *all, const NAME(read_cut) *cut, ptrdiff_t group)
{
    return all->columns[group / cut->groups * 3]
            + NAME(panel_column)(cut, NAME(group_panel)(cut, group % cut->groups));
}

/* All strips by a group of columns: `deep` steps of the depth from `at` on, of which A is packed; onward: where
   what is requested meanwhile begins. */
static inline void NAME(read_group)(const NAME(product) *all, const NAME(lines) *left,
        const NAME(read_cut) *cut, ptrdiff_t group, ptrdiff_t at, ptrdiff_t deep, ptrdiff_t onward)
{
    const ptrdiff_t n = all->n, strips = left->each * all->row_count, within = group % cut->groups;
    const ptrdiff_t *const across = all->columns + group / cut->groups * 3;
    const ptrdiff_t first = NAME(group_panel)(cut, within);
    const ptrdiff_t last = first + NAME(piece)(cut->panels, cut->groups, within);
    const ptrdiff_t j_0 = NAME(panel_column)(cut, first), blocks = (last - first) * strips;
    const ptrdiff_t j_1 = last < cut->panels ? NAME(panel_column)(cut, last) : n;
    const ptrdiff_t width = (j_1 - j_0) * (ptrdiff_t)sizeof(T), pace = (width + blocks - 1) / blocks;
    const int is_last = at + deep == all->k;
    NAME(requests) asked = {NULL, pace, pace / 3, width, all->b_step * (ptrdiff_t)sizeof(T) - width};
    ptrdiff_t block = 0, j = j_0;
    for (ptrdiff_t one = first; one < last; one++, block += strips) {
        const ptrdiff_t here = NAME(piece)(cut->wide, cut->panels, one);
        const ptrdiff_t filled = n - j < here * LANES ? n - j : here * LANES;
        const NAME(read_panel) mine = {at, deep, j, here, filled, onward, blocks, is_last ? all->end : NULL};
        NAME(read_strips)(all, left, &mine, across, block, &asked);
        j += filled;
    }
    if (all->finish != NULL && is_last)
        NAME(finish_rows)(all->m, left->each, 0, strips, group / cut->groups, j_0, j_1, all->finish,
                all->around);
}

/* The product of a few rows.  A is packed and B read a few rows at a time, as many as processors run ahead of,
   for as many groups of columns as have results that the second level holds until all of the depth is added. */
_PM_SHARED __attribute__((noinline)) void NAME(few_rows)(const NAME(product) *all)
{
    enum { rows = ROWS, vectors = VECTORS, lanes = LANES };
    const ptrdiff_t m = all->m, n = all->n, k = all->k, row_segments = all->row_count,
                    column_segments = all->column_count, b_step = all->b_step, small = all->small,
                    right_power = b_step & -b_step;
    CUT_READ;
    const NAME(read_cut) cut = {wide, panels, groups};
    const ptrdiff_t all_groups = groups * column_segments;
    for (ptrdiff_t begin = 0, end; begin < all_groups; begin = end) {
        end = begin + at_once < all_groups ? begin + at_once : all_groups;
        for (ptrdiff_t at = 0, deep; at < k; at += deep) {
            deep = k - at < read_depth ? k - at : read_depth;
            const NAME(depth) whole = {1, deep, 1, 1};
            const NAME(lines) left = {m, segment_strips, 1, ROWS, 0, 1, NAME(apart)(ROWS, deep), &whole,
                    NAME(origin)};
            NAME(pack_all)(&left, 0, strips, all->rows, all->a + at * all->a_step, all->a_row, all->a_step,
                    all->scratch);
            for (ptrdiff_t group = begin; group < end; group++) {
                const ptrdiff_t onward = group + 1 < end ? NAME(group_at)(all, &cut, group + 1)
                        : at + deep < k                  ? NAME(group_at)(all, &cut, begin) + deep * b_step
                        : end < all_groups               ? NAME(group_at)(all, &cut, end) - at * b_step
                                                         : NAME(group_at)(all, &cut, group);
                NAME(read_group)(all, &left, &cut, group, at, deep, onward);
            }
        }
    }
}

/* The product of a few columns, where elements along the rows of A are neighbours; b_packed: room for B. */
_PM_SHARED __attribute__((noinline)) void NAME(few_columns)(const NAME(product) *all)
{
    const ptrdiff_t m = all->m, n = all->n, k = all->k, row_count = all->row_count, a_step = all->a_step,
                    b_step = all->b_step, b_column = all->b_column, from_row = all->from_row,
                    c_row = all->c_row;
    const ptrdiff_t *const rows = all->rows;
    const T scale = all->scale;
    const T *const a = all->a;
    const T *const b = all->b;
    const T beta = all->beta;
    const T *const from = all->from;
    T *const c = all->c;
    T *const b_packed = all->scratch;
    const ptrdiff_t strips = (m + ROWS - 1) / ROWS, all_strips = strips * row_count;
    const ptrdiff_t vectors = (n + LANES - 1) / LANES, panels = (vectors + VECTORS - 1) / VECTORS;
    const NAME(depth) cut = {1, k, 1, 1};
    const NAME(lines) left = {m, strips, 1, ROWS, 0, 1, 0, &cut, NAME(origin)};
    const NAME(lines) right = {n, panels, LANES, VECTORS * LANES, 0, 1, NAME(apart)(VECTORS * LANES, k), &cut,
            NAME(origin)};
    const ptrdiff_t step = a_step * (ptrdiff_t)sizeof(T);
    NAME(pack_all)(&right, 0, panels, NAME(origin), b, b_column, b_step, b_packed);
    for (ptrdiff_t strip = 0; strip < all_strips; strip++) {
        const ptrdiff_t *const at = rows + strip / strips * 3;
        const ptrdiff_t i = NAME(line)(&left, strip % strips), height = NAME(width)(&left, strip % strips);
        const ptrdiff_t onward = strip % strips + 1 < strips ? at[0] + i + height
                : strip + 1 < all_strips                     ? at[3]
                                                             : at[0] + i;
        NAME(requests) asked = {(const char *)(a + onward + ROWS - 1), step, 0, step * k + 1, 0};
        for (ptrdiff_t panel = 0; panel < panels; panel++) {
            const ptrdiff_t j = NAME(line)(&right, panel), width = NAME(width)(&right, panel);
            const ptrdiff_t filled = NAME(filled)(&right, panel);
            const T *const a_strip = a + at[0] + i, *const b_panel = b_packed + panel * right.apart;
            const NAME(result) part = NAME(result_of)(from == NULL ? NULL : from + at[2] + i * from_row + j,
                    from_row, c + at[1] + i * c_row + j, c_row END(all->end));
            if (height == ROWS && filled == width)
                NAME(readings)[width / LANES - 1](k, a_strip, a_step, b_panel, width, scale, beta, &part,
                        &asked);
            else {
                NAME(ask)(k, &asked);
                NAME(blocks)[width / LANES - 1][height - 1](k, a_strip, 1, a_step, b_panel, width, scale,
                        beta, &part, (int)(filled - width + LANES));
            }
            asked.pace = 0; /* once is enough */
        }
    }
}
