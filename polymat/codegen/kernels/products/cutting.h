/* How products by packed blocks are cut: how large parts are, in which order they follow each other, and what
   is copied.  The formulas are those that Python evaluates.

   takes CUT_BLOCKS=const ptrdiff_t high = m + mc + kc, all_panels = n + nc + vectors + lanes + row_segments; const int windows = slides && along, large = past && handed, may_stay = down && follows; how.chunks = rows; how.batch = how.panels = how.broad = 1; how.gathered = how.whole_depth = 0  declares what formulas compute, and keeps it
   takes COPIES_A=windows && along && place && mirrored && all_panels && depth_segments && high && k && small  whether A is
   takes COPIES_B=stays && place && large && column_segments && depth_segments && in_order  whether B is */
#pragma once

#include "products/rotated.h"
#include "products/scheme.h"
#include "products/transposed.h"
#include "products/windows.h"

/* Whether neighbouring segments of the depth are packed together. */
static inline int NAME(gathers)(const NAME(product) *all)
{
    return all->depth_count >= GATHERED
            && ((all->a_row != 1 && all->a_step != 1
                        && NAME(neighbours)(all->depths, 2, 0, GATHERED) == GATHERED)
                    || (all->b_column != 1 && all->b_step != 1
                            && NAME(neighbours)(all->depths + 1, 2, 0, GATHERED) == GATHERED));
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
            && how->chunks > 0 && how->whole_depth && how->pack_a && how->pack_b && all->c_row % LANES == 0;
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
static __attribute__((noinline)) NAME(scheme) NAME(scheme_of)(const NAME(product) *all)
{
    enum { rows = ROWS, vectors = VECTORS, lanes = LANES };
    const int place = HALVES ? all->half.place : 0; /* known to the compiler where there are no triangles */
    const ptrdiff_t m = all->m, n = all->n, k = all->k, row_segments = all->row_count;
    const ptrdiff_t column_segments = all->column_count, depth_segments = all->depth_count;
    const ptrdiff_t kc = all->kc, mc = all->mc, nc = all->nc, small = all->small;
    const int along = all->a_step == 1, in_order = all->b_column == 1, down = all->b_step == 1;
    const int past = all->large, handed = all->finish != NULL, follows = n == all->c_row;
    const int gathers = NAME(gathers)(all), slides = WALKS && !gathers, mirrored = all->half.mirror != NULL;
    NAME(scheme) how;
    CUT_BLOCKS;
    const int stays = may_stay && NAME(follow)(all->depths, depth_segments, k * all->b_step);
    how.pack_a = all->left_rows != NULL || (COPIES_A);
    how.pack_b = COPIES_B;
    how.copies = WALKS && !how.pack_a && how.pack_b && in_order && depth_segments > 1 && how.chunks > 0
            && place == 0;
    NAME(choose_stores)(all, place, &how);
    return how;
}
