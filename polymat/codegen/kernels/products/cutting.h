/* How products by packed blocks are cut: how large parts are, in which order they follow each other, and what
   is copied.

   takes COPIES_A=windows && along && place && mirrored && all_panels && depth_segments && height && k && small  whether A is
   takes COPIES_B=stays && place && is_large && column_segments && depth_segments && in_order  whether B is */
#pragma once

#include "products/rotated.h"
#include "products/scheme.h"
#include "products/transposed.h"
#include "products/windows.h"

/* Strips of A that the caches hold, and panels of B that are packed before they are used.  fits: whether
   the former are all; near: whether a small part of B is used at a time; beside: whether neighbouring
   segments of columns are packed together; once: whether no panel is used again. */
typedef struct {
    ptrdiff_t tallest, few;
    int fits, near, beside, once;
} NAME(limits);

/* Whether neighbouring segments of the depth are packed together. */
static inline int NAME(gathers)(const NAME(product) *all)
{
    return all->depth_count >= GATHERED
            && ((all->a_row != 1 && all->a_step != 1
                        && NAME(neighbours)(all->depths, 2, 0, GATHERED) == GATHERED)
                    || (all->b_column != 1 && all->b_step != 1
                            && NAME(neighbours)(all->depths + 1, 2, 0, GATHERED) == GATHERED));
}

/* Strips, panels and chunks. */
static inline
        __attribute__((always_inline)) void NAME(cut_extents)(const NAME(product) *all, NAME(scheme) *how)
{
    const ptrdiff_t k = all->k, kc = all->kc;
    how->strips = (all->m + ROWS - 1) / ROWS;
    how->all_strips = how->strips * all->row_count;
    how->vectors = (all->n + LANES - 1) / LANES;
    how->panels = (how->vectors + VECTORS - 1) / VECTORS;
    how->all_panels = how->panels * all->column_count;
    how->group = NAME(gathers)(all) ? GATHERED : 1;
    const ptrdiff_t most_deep = kc / how->group;
    how->pieces = k <= 0 ? 1 : (k + most_deep - 1) / most_deep;
    how->chunks = k <= 0 || all->depth_count <= 0 ? 0 : how->pieces * all->depth_count;
    const ptrdiff_t deep = (k + how->pieces - 1) / how->pieces;
    how->together = how->chunks == 0 ? 1 : kc / deep / how->group * how->group;
    how->deepest = how->chunks == 0 ? 1 : (how->chunks < how->together ? how->chunks : how->together) * deep;
}

/* Where there is little depth the blocks are larger the other way; a small part of B is used at a time, so
   that its copy stays in the second level, where A is packed once or is small.  B is packed a few panels at
   a time, before they are used; neighbouring segments have to be together.  Where A is packed only once, no
   panel is used again: further ones only push the others out. */
static inline __attribute__((always_inline)) NAME(limits)
        NAME(limits_of)(const NAME(product) *all, const NAME(scheme) *how, int place)
{
    const ptrdiff_t mc = all->mc, deeper = all->kc / how->deepest;
    const ptrdiff_t few = all->small / 4 / (VECTORS * LANES * how->deepest);
    NAME(limits) found;
    found.tallest = mc * deeper / ROWS;
    found.few = few > 1 ? few : 1;
    found.fits = how->all_strips <= found.tallest;
    found.near = mc < all->nc && found.fits && mc * deeper >= 20 * (VECTORS * LANES);
    found.beside = all->b_column != 1 && all->b_step != 1 && all->column_count >= GATHERED;
    found.once = place == 0 && !found.beside && found.fits && how->chunks <= how->together;
    return found;
}

/* The panels of B that are used, and that are packed, at a time.  Segments of rows of a result that does
   not stay are written in the order of memory: of a part of B all panels by a few strips of A, which is
   packed as a whole. Where segments are gathered, long runs of them count, more than that their copy stays
   in the second level. */
static inline __attribute__((always_inline)) void NAME(cut_columns)(const NAME(product) *all,
        const NAME(limits) *within, int place, NAME(scheme) *how)
{
    const ptrdiff_t small = all->small, deepest = how->deepest, deeper = all->kc / deepest;
    how->ordered = all->large && place == 0 && all->finish == NULL && all->row_count > 1
            && how->chunks <= how->together
            && (double)(how->all_strips * ROWS) * (double)deepest <= (double)all->nc * (double)all->kc;
    const ptrdiff_t held = (within->near ? all->mc / 4 : all->nc) * deeper / (VECTORS * LANES);
    const ptrdiff_t widest = how->ordered ? 2 * within->few : within->once ? within->few : held;
    how->batch = within->beside ? GATHERED * how->panels : all->b_column == 1 ? within->few : 1;
    const ptrdiff_t batches = (NAME(share)(how->all_panels, widest) + how->batch - 1) / how->batch;
    const ptrdiff_t wanted = batches * how->batch;
    const ptrdiff_t equal = widest < how->batch ? widest
            : wanted < widest                   ? wanted
                                                : widest / how->batch * how->batch;
    how->gathered = within->near && within->beside && place == 0;
    const ptrdiff_t packed_a = how->all_strips * ROWS * deepest;
    how->most = small - packed_a > small / 4 ? (small - packed_a) * 4 / 3 : small / 3;
    how->broad = how->gathered ? all->nc * deeper / (VECTORS * LANES) : equal;
}

/* The strips of A at a time, and whether it is packed once.  Where the packed B stays in the second level,
   a result that does not is walked along its rows. */
static inline __attribute__((always_inline)) void NAME(cut_rows)(const NAME(product) *all,
        const NAME(limits) *within, int place, NAME(scheme) *how)
{
    const ptrdiff_t tallest = within->tallest;
    const ptrdiff_t broad = how->broad < how->all_panels ? how->broad : how->all_panels;
    const int stays = how->gathered ? how->all_strips > 4 /* or nothing is gained */
                                    : broad * (VECTORS * LANES) * how->deepest <= all->small;
    const int walked = all->row_count == 1 && (double)all->m * (double)all->n > (double)all->small && stays;
    const ptrdiff_t most = (walked || how->ordered) && tallest > 2 ? 2 : tallest;
    how->tall = how->ordered && all->n == all->c_row && how->strips < tallest
            ? how->strips
            : NAME(share)(how->all_strips, most);
    how->resident = within->once || how->ordered
            || (place == 0 && (how->gathered || how->all_strips <= how->tall)
                    && how->chunks <= how->together);
}

/* What is copied, by the conditions that Python evaluates, too. */
static inline __attribute__((always_inline)) void NAME(choose_copies)(const NAME(product) *all, int place,
        NAME(scheme) *how)
{
    const NAME(depth) cut = {all->depth_count, all->k, how->pieces, how->group};
    const ptrdiff_t n = all->n, k = all->k, small = all->small, all_panels = how->all_panels;
    const ptrdiff_t depth_segments = all->depth_count, column_segments = all->column_count;
    const ptrdiff_t height = all->m * all->row_count;
    const int along = all->a_step == 1, in_order = all->b_column == 1, mirrored = all->half.mirror != NULL;
    const int windows = WALKS && along && depth_segments > 1 && how->group == 1, is_large = k * n > 2 * small;
    const int stays =
            windows && NAME(stays)(&cut, all->depths, n, column_segments, all->b_step, all->b_column, small);
    how->cuts = place != 0 && !mirrored;
    how->pack_a = COPIES_A;
    how->pack_b = COPIES_B;
}

/* Whether the result is written past the caches: where rows are long or begin with a line, since their ends
   beside lines are stored slowly; and by how many columns panels are rotated, so that those begin with a
   line of it. */
static inline __attribute__((always_inline)) void NAME(choose_stores)(const NAME(product) *all, int place,
        NAME(scheme) *how)
{
    const ptrdiff_t n = all->n, *const columns = all->columns;
    const int is_long = n >= 4 * (VECTORS * LANES) || (all->column_count > 1 && columns[4] - columns[1] == n)
            || (size_t)all->c % (sizeof(T) * LANES) == 0;
    const int streams = CONST(WHOLE) && all->large && place == 0 && all->finish == NULL && all->from == NULL
            && how->chunks > 0 && how->chunks <= how->together && how->pack_a && how->pack_b
            && all->c_row % LANES == 0;
    how->turn = 0;
#if CONST(WHOLE)
    const int wholes = how->broad >= how->panels && (how->gathered || how->batch % how->panels == 0);
    if (streams && wholes && all->end == NULL && all->m % ROWS == 0
            && NAME(rows_join)(n, all->c_row, all->row_count, all->rows, all->column_count, columns))
        how->turn = (int)(-(uintptr_t)all->c % 64 / sizeof(T));
#endif
    how->past = streams && (how->turn > 0 || is_long)
            && (n % LANES == 0 || n >= 5 * (VECTORS * LANES)); /* or many lines are written in two ways */
}

/* How a product is cut. */
static inline __attribute__((always_inline)) NAME(scheme) NAME(scheme_of)(const NAME(product) *all)
{
    const int place = HALVES ? all->half.place : 0; /* known to the compiler where there are no triangles */
    NAME(scheme) how;
    NAME(cut_extents)(all, &how);
    const NAME(limits) within = NAME(limits_of)(all, &how, place);
    NAME(cut_columns)(all, &within, place, &how);
    NAME(cut_rows)(all, &within, place, &how);
    NAME(choose_copies)(all, place, &how);
    NAME(choose_stores)(all, place, &how);
    return how;
}
