/* Products by packed blocks: of any segments of rows, columns and depth, beside triangles, and large ones.

   Part by part of the depth, strips of A are multiplied by one panel of B after the other. */
#pragma once

#include "products/cutting.h"
#include "products/finishrows.h"
#include "products/panel.h"
#include "products/rotated.h"
#include "products/rightinparts.h"
#include "products/rowsjoined.h"

/* Some panels of B and some of the depth: how their lines are packed, how many steps that is and from which on,
   where B has them in its first segment of columns, and where the next ones, if there are `further` ones; where
   they are packed, and how many panels are by now;
   whether the result is complete then, to be handed over, and whether a triangle has nothing there. */
typedef struct {
    const NAME(product) *all;
    const NAME(scheme) *how;
    NAME(lines) left, right;
    ptrdiff_t panel_0, panel_1, k_0, depth, b_0, b_1;
    T *a_packed, *b_packed, *carry;
    ptrdiff_t packed;
    int complete, idle, further;
    NAME(ahead) upcoming;
    NAME(rows_ahead) rows_next;
    NAME(lines_ahead) lines_next;
    const void *end;
} NAME(blocking);

/* The panel after those that are packed at a time with one. */
static ptrdiff_t NAME(panels_until)(const NAME(product) *all, const NAME(scheme) *how, ptrdiff_t panel_0)
{
    ptrdiff_t panel_1 = panel_0 + how->broad < how->all_panels ? panel_0 + how->broad : how->all_panels;
    if (how->gathered) {
        const ptrdiff_t until =
                NAME(batch)(panel_0, how->all_panels, how->panels, (VECTORS * LANES) * how->deepest,
                        how->most, all->columns, all->b, all->b_column, all->b_step);
        panel_1 = until < panel_1 ? until : panel_1;
    }
    if (how->turn > 0) {
        const ptrdiff_t whole = (panel_1 - panel_0) / how->panels;
        panel_1 = panel_0 + (whole > 1 ? whole : 1) * how->panels;
    }
    return panel_1;
}

/* Some panels of B, and so many chunks of the depth from one of them on. */
static __attribute__((noinline)) NAME(blocking)
        NAME(blocking_of)(const NAME(product) *all, const NAME(scheme) *how, const NAME(depth) *cut,
                ptrdiff_t panel_0, ptrdiff_t panel_1, ptrdiff_t chunk_0)
{
    const int place = HALVES ? all->half.place : 0;
    const ptrdiff_t chunks = how->chunks, all_panels = how->all_panels;
    const ptrdiff_t chunk_1 = chunk_0 + how->together < chunks ? chunk_0 + how->together : chunks;
    ptrdiff_t depth = 0;
    for (ptrdiff_t chunk = chunk_0; chunk < chunk_1; chunk++)
        depth += NAME(chunk_of)(cut, chunk).length;
    const NAME(chunk) begin = chunks == 0 ? (NAME(chunk)){0} : NAME(chunk_of)(cut, chunk_0);
    const ptrdiff_t k_0 = begin.begin;
    const ptrdiff_t b_0 = chunks == 0 ? 0 : all->depths[2 * begin.segment + 1] + k_0 * all->b_step;
    const int further = chunk_1 < chunks;
    const NAME(chunk) next = further ? NAME(chunk_of)(cut, chunk_1) : begin;
    const ptrdiff_t b_1 = further ? all->depths[2 * next.segment + 1] + next.begin * all->b_step : b_0;
    const ptrdiff_t a_apart = NAME(apart)(ROWS, depth), b_apart = NAME(apart)(VECTORS * LANES, depth);
    T *const a_packed = all->scratch + (how->broad < all_panels ? how->broad : all_panels) * b_apart;
    const ptrdiff_t kept = how->resident || how->all_strips < how->tall ? how->all_strips : how->tall;
    NAME(blocking) found = {.all = all,
            .how = how,
            .left = {all->m, how->strips, 1, ROWS, chunk_0, chunk_1, a_apart, cut, all->depths},
            .right = {all->n, how->panels, LANES, VECTORS * LANES, chunk_0, chunk_1, b_apart, cut,
                    all->depths + 1},
            .panel_0 = panel_0,
            .panel_1 = panel_1,
            .k_0 = k_0,
            .depth = depth,
            .b_0 = b_0,
            .b_1 = b_1,
            .further = further,
            .a_packed = a_packed,
            .b_packed = all->scratch,
            .carry = a_packed + kept * a_apart,
            .packed = panel_0,
            .end = chunk_0 + how->together >= chunks ? all->end : NULL,
            .complete = all->finish != NULL && chunk_0 + how->together >= chunks,
            .idle = how->cuts && place == 1
                    && NAME(is_empty)(NAME(spans_of)(&all->half, 0, all->m, k_0, k_0 + depth))};
    const ptrdiff_t panel_2 = panel_1 + how->broad < all_panels ? panel_1 + how->broad : all_panels;
    if (place == 0 && how->pack_b && all->b_column == 1 && !how->gathered && how->whole_depth
            && panel_1 < panel_2)
        found.rows_next = NAME(rows_ahead_of)(&found.right, panel_1, panel_2, depth,
                (panel_1 - panel_0) * how->all_strips, all->columns, all->b + b_0, all->b_step);
    return found;
}

/* Pack a panel where it is used for the first time, with those that are packed together with it; what of A
   multiplies it then may be requested. */
static __attribute__((noinline)) void NAME(pack_right)(NAME(blocking) *now, ptrdiff_t panel,
        const NAME(panel) *at, int empty, T *copied)
{
    const NAME(product) *const all = now->all;
    const NAME(scheme) *const how = now->how;
    const int place = HALVES ? all->half.place : 0;
    if (place == 2)
        NAME(pack_half)(&all->half, at->j, at->filled, now->k_0, now->k_0 + now->depth,
                all->b + at->j * all->b_column, all->b_column, all->b_step, copied, at->wide * LANES);
    else if (how->pack_b && !empty && (place == 3 || panel == now->packed)) {
        now->packed = place == 3 ? panel + 1
                : how->gathered  ? now->panel_1
                                 : (panel / how->batch + 1) * how->batch;
        now->packed = now->packed < now->panel_1 ? now->packed : now->panel_1;
        NAME(pack_all)(&now->right, panel, now->packed, all->columns, all->b, all->b_column, all->b_step,
                copied);
#if CONST(WHOLE)
        if (how->turn > 0)
            NAME(rotate)(&now->right, panel, now->packed, now->depth, how->turn, copied);
#endif
    }
    if (how->gathered && panel == now->panel_0 && how->whole_depth) {
        const ptrdiff_t panel_2 =
                NAME(batch)(now->panel_1, how->all_panels, how->panels, (VECTORS * LANES) * how->deepest,
                        how->most, all->columns, all->b, all->b_column, all->b_step);
        now->upcoming = NAME(ahead_of)(&now->right, now->panel_1, panel_2,
                (now->panel_1 - now->panel_0) * how->all_strips, all->columns, all->b, all->b_column,
                all->b_step);
    }
}

/* What of B is packed after the panels that are now: of the same depth, or, where these are used by all strips
   and no others, of the next one.  Nothing where something else is requested. */
static NAME(lines_ahead) NAME(lines_after)(const NAME(blocking) *now, int is_last)
{
    const NAME(product) *const all = now->all;
    const NAME(scheme) *const how = now->how;
    const int place = HALVES ? all->half.place : 0, here = now->packed < now->panel_1;
    const int others = now->rows_next.each > 0 || now->upcoming.calls > 0;
    if (!how->pack_b || all->b_column != 1 || all->b_step <= 0 || how->gathered || place != 0 || others
            || !(here || (is_last && now->further)))
        return (NAME(lines_ahead)){0};
    const ptrdiff_t vectors = how->vectors, panels = how->panels;
    const ptrdiff_t first = here ? now->packed : now->panel_0, within = first % panels;
    const ptrdiff_t last = within + how->batch < panels ? within + how->batch : panels;
    const ptrdiff_t j = NAME(before)(vectors, panels, within) * LANES;
    const ptrdiff_t j_1 = last == panels ? all->n : NAME(before)(vectors, panels, last) * LANES;
    const T *const from = all->b + (here ? now->b_0 : now->b_1) + all->columns[first / panels * 3] + j;
    return NAME(lines_ahead_of)(from, j_1 - j, all->b_step);
}

/* Pack strips of A, unless they are. */
static inline void NAME(pack_strips)(const NAME(blocking) *now, ptrdiff_t strip_0, ptrdiff_t strip_1,
        T *a_strips)
{
    const NAME(product) *const all = now->all;
    const NAME(scheme) *const how = now->how;
    const ptrdiff_t end = how->ordered ? how->all_strips : strip_1;
    if (!how->pack_a || (how->resident && now->panel_0 > 0) || (how->ordered && strip_0 > 0))
        return;
    if (all->left_rows != NULL)
        NAME(pack_joined)(all, &now->left, strip_0, end, a_strips);
    else
        NAME(pack_left)(&now->left, &all->half, strip_0, end, all->rows, now->k_0, now->k_0 + now->depth,
                all->a, all->a_row, all->a_step, a_strips);
}

/* Strips strip_0..strip_1 - 1 of A times all of the panels. */
static __attribute__((noinline)) void NAME(strips_by_panels)(NAME(blocking) *now, ptrdiff_t strip_0,
        ptrdiff_t strip_1)
{
    const NAME(product) *const all = now->all;
    const NAME(scheme) *const how = now->how;
    const int place = HALVES ? all->half.place : 0;
    const ptrdiff_t vectors = how->vectors, panels = how->panels, n = all->n, panel_0 = now->panel_0;
    T *const a_strips = now->a_packed + (how->resident ? strip_0 : 0) * now->left.apart;
    const NAME(part) part = {all, how, &now->left, now->k_0, now->depth, strip_0, strip_1, a_strips,
            now->carry, &now->upcoming, &now->rows_next, &now->lines_next, now->end};
    NAME(pack_strips)(now, strip_0, strip_1, a_strips);
    const ptrdiff_t most = all->small / 4 / ((strip_1 - strip_0) * ROWS); /* columns handed over */
    now->lines_next = (NAME(lines_ahead)){0};
    /* Panels that all of A passes at once are not used again: the next ones take their place. */
    const int passes = strip_1 - strip_0 == how->all_strips && how->batch <= how->broad && place == 0
            && !how->gathered && how->turn == 0;
    ptrdiff_t here = panel_0 % panels, column = NAME(before)(vectors, panels, here) * LANES;
    const ptrdiff_t highest = (all->m + how->strips - 1) / how->strips;
    NAME(panel) at = {.across = all->columns + panel_0 / panels * 3, .j = column};
    for (ptrdiff_t panel = panel_0; panel < now->panel_1; panel++, here++, at.j += at.wide * LANES) {
        if (here == panels) {
            at.across += 3;
            here = at.j = 0;
        }
        at.wide = vectors / panels + (here < vectors - vectors / panels * panels);
        at.filled = n - at.j < at.wide * LANES ? n - at.j : at.wide * LANES;
        T *const copied = now->b_packed + (passes ? panel % how->batch : panel - panel_0) * now->right.apart;
        at.elements = how->pack_b ? copied : all->b + at.across[0] + now->b_0 + at.j;
        at.step = how->pack_b ? at.wide * LANES : all->b_step;
        at.follows = at.goes_on;
        at.goes_on = how->past && how->turn == 0 && at.filled == at.wide * LANES && panel + 1 < now->panel_1
                && NAME(goes_on)(n, vectors, panels, panel, all->columns);
        at.is_last = here + 1 == panels;
        const int empty = now->idle
                || (place == 3
                        && NAME(is_empty)(NAME(spans_of)(&all->half, 0, all->m, at.j, at.j + at.filled)));
        const ptrdiff_t packed = now->packed;
        at.copied = how->copies && strip_0 == 0 && panel == packed && NAME(is_copying)(at.wide, highest)
                ? copied
                : NULL;
        at.from = all->b + at.across[0] + at.j;
        if (at.copied != NULL)
            now->packed = panel + 1;
        else if (strip_0 == 0)
            NAME(pack_right)(now, panel, &at, empty, copied);
        if (now->packed != packed)
            now->lines_next = NAME(lines_after)(now, strip_1 == how->all_strips);
        /* Each of the strips asks for its part of the next panel, where that is packed. */
        const int ahead = how->pack_b && strip_0 > 0 && panel + 1 < now->panel_1;
        at.next = (const char *)(ahead ? at.elements + now->right.apart : at.elements);
        at.pace = ahead ? (VECTORS * LANES) * (int)sizeof(T) / (strip_1 - strip_0) : 0;
        NAME(strips_by_panel)(&part, &at);
        const ptrdiff_t j_end = at.j + at.filled;
        if (now->complete && (j_end == n || panel + 1 == now->panel_1 || j_end - column >= most)) {
            NAME(finish_rows)(all->m, how->strips, strip_0, strip_1, panel / panels, column, j_end,
                    all->finish, all->around);
            column = j_end == n ? 0 : j_end;
        }
    }
}

/* The product, cut like that. */
static void NAME(in_blocks)(const NAME(product) *all, const NAME(scheme) *how)
{
    const NAME(depth) cut = {all->depth_count, all->k, how->pieces, how->group};
    for (ptrdiff_t panel_0 = 0, panel_1; panel_0 < how->all_panels; panel_0 = panel_1) {
        panel_1 = NAME(panels_until)(all, how, panel_0);
        ptrdiff_t chunk_0 = 0;
        do {
            NAME(blocking) now = NAME(blocking_of)(all, how, &cut, panel_0, panel_1, chunk_0);
            for (ptrdiff_t strip_0 = 0; strip_0 < how->all_strips; strip_0 += how->tall)
                NAME(strips_by_panels)(&now, strip_0,
                        strip_0 + how->tall < how->all_strips ? strip_0 + how->tall : how->all_strips);
            chunk_0 += how->together;
        } while (chunk_0 < how->chunks);
    }
#if CONST(WHOLE)
    if (how->past)
        __builtin_ia32_sfence(); /* before other threads are told that it is there */
#endif
}

/* The product by packed blocks. */
_PM_SHARED __attribute__((noinline)) void NAME(blocked)(const NAME(product) *all)
{
    const NAME(product) joined = NAME(rows_joined)(all);
    const NAME(scheme) how = NAME(scheme_of)(&joined);
    _PM_PACKS(how.pack_a, how.pack_b);
    NAME(in_blocks)(&joined, &how);
}
