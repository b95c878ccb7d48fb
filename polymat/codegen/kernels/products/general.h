/* Products about which something is asked: which way they take, and where each way begins.

   takes DIRECT_DEPTH=128  the most depth at a time of a long product that is not packed
   takes TURNED_DEPTH=256  the most depth of turned blocks
   takes IS_LARGE=k * n > small  whether B is large */
#pragma once

#include "products/blocked.h"
#include "products/choices.h"
#include "products/column.h"
#include "products/copiednear.h"
#include "products/declared.h"
#include "products/direct.h"
#include "products/lanesoverdepth.h"
#include "products/read.h"
#include "products/resulttransposed.h"
#include "products/row.h"
#include "products/turned.h"
#include "products/ways.h"

/* Whether segments of columns are neighbours as turned blocks want them. */
static inline int NAME(has_runs)(const NAME(product) *all)
{
#if CONST(TURNS)
    return all->column_count >= 8 && all->b_step != 1 && all->b_column != 1
            && NAME(runs)(all->column_count, all->columns);
#else
    (void)all;
    return 0;
#endif
}

/* What is asked of a product. */
static inline _pm_asked NAME(asked_of)(const NAME(product) *all)
{
    const _pm_asked asked = {.m = (double)all->m,
            .n = (double)all->n,
            .k = (double)all->k,
            .row_segments = (double)all->row_count,
            .column_segments = (double)all->column_count,
            .depth_segments = (double)all->depth_count,
            .left_power = _pm_power(all->a_step),
            .right_power = _pm_power(all->b_step),
            .place = HALVES ? all->half.place : 0,
            .along = all->a_step == 1,
            .rowwise = all->a_row == 1,
            .in_order = all->b_column == 1,
            .down = all->b_step == 1,
            .mirrored = HALVES && all->half.mirror != NULL,
            .runs = NAME(has_runs)(all),
            .handed = all->finish != NULL,
            .ended = ENDS && all->end != NULL,
            .added = all->from != NULL,
            .past = all->large,
            .rows = ROWS,
            .vectors = VECTORS,
            .lanes = LANES,
            .kc = (double)all->kc,
            .nc = (double)all->nc,
            .small = (double)all->small,
            .turned_depth = TURNED_DEPTH};
    return asked;
}

/* Whether B is larger than what is read where it is by many rows. */
static inline int NAME(is_large)(double n, double k, double small)
{
    return IS_LARGE;
}

/* A product of operands that are read where they are: segments of rows, some of them at a time where they are
   handed over. */
static inline void NAME(in_place)(const NAME(product) *all, int is_column)
{
    const ptrdiff_t m = all->m, n = all->n, k = all->k;
    const int is_large = NAME(is_large)((double)n, (double)k, (double)all->small);
    const ptrdiff_t most = all->finish == NULL ? m : (all->small / 4 / n / ROWS + 1) * ROWS;
    NAME(product) part = *all;
    for (ptrdiff_t segment = 0; segment < all->row_count; segment++) {
        const ptrdiff_t *const at = all->rows + 3 * segment;
        for (ptrdiff_t i = 0; i < m; i += most) {
            part.m = m - i < most ? m - i : most;
            part.a = all->a + at[0] + i * all->a_row;
            part.from = all->from == NULL ? NULL : all->from + at[2] + i * all->from_row;
            part.c = all->c + at[1] + i * all->c_row;
            if (is_column)
                NAME(column)(&part);
            else
                NAME(direct)(&part, is_large || k <= 0 ? DIRECT_DEPTH : k);
            if (all->finish != NULL)
                all->finish(all->around, segment, i, i + part.m, 0, 0, n);
        }
    }
}

#if HALVES
/* A product without the rows of a triangle of C that have nothing in its columns, register blocks of them at
   least, nor the columns that have nothing in the other rows: of parts of it that threads share. */
static NAME(product) NAME(reached)(const NAME(product) *all)
{
    NAME(product) part = *all;
    const ptrdiff_t shift = all->half.shift, rest = all->n - shift;
    const ptrdiff_t first = all->half.before && shift < 0 ? (1 - shift < all->m ? 1 - shift : all->m) : 0;
    const ptrdiff_t last = !all->half.before && rest < all->m ? (rest > 0 ? rest : 0) : all->m;
    if (all->half.place != 3 || all->finish != NULL || first + all->m - last < ROWS)
        return part;
    part.m = last - first;
    part.half.shift += first;
    part.a += first * all->a_row;
    part.c += first * all->c_row;
    part.from = all->from == NULL ? NULL : all->from + first * all->from_row;
    if (all->half.before) {
        const ptrdiff_t reach = part.m - 1 + part.half.shift;
        part.n = reach < all->n ? reach : all->n;
    } else if (shift > 0 && shift < all->n) {
        part.n -= shift;
        part.half.shift = 0;
        part.b += shift * all->b_column;
        part.c += shift;
        part.from = part.from == NULL ? NULL : part.from + shift;
    }
    return part;
}
#endif

/* The product of `gemm` where nothing is known to be small: in a function of its own, so that a small
   product is not held up by what only this one needs. */
_PM_SHARED __attribute__((noinline)) void NAME(general)(const NAME(product) *all)
{
#if HALVES
    const NAME(product) part = NAME(reached)(all);
    all = &part;
    if (part.m <= 0 || part.n <= 0)
        return;
#endif
    const int place = HALVES ? all->half.place : 0;
    if (all->row_count == 1 && all->column_count == 1 && all->depth_count == 1 && place == 0
            && all->finish == NULL && all->end == NULL
            && NAME(is_over_depth)(all->m, all->n, all->k, all->a_step, all->b_step, all->b_column)) {
        _PM_TAKES(LANES_OVER_DEPTH);
        NAME(lanes_over_depth)(all);
        return;
    }
    const _pm_asked asked = NAME(asked_of)(all);
    const int way = _pm_way(&asked);
    if (way == _PM_WAY_FEW_ROWS) {
        _PM_TAKES(FEW_ROWS);
        NAME(few_rows)(all);
    } else if (way == _PM_WAY_FEW_COLUMNS) {
        _PM_TAKES(FEW_COLUMNS);
        NAME(few_columns)(all);
    } else if (way == _PM_WAY_RESULT_TRANSPOSED) {
        _PM_TAKES(RESULT_TRANSPOSED);
        NAME(result_transposed)(all);
#if CONST(TURNS)
    } else if (way == _PM_WAY_LANES_OVER_SEGMENTS) {
        _PM_TAKES(LANES_OVER_SEGMENTS);
        NAME(turned)(all);
#endif
    } else if (way == _PM_WAY_RIGHT_IN_PARTS) {
        _PM_COUNTS(RIGHT_IN_PARTS); /* what is copied is decided there */
        NAME(right_in_parts)(all);
    } else if (way == _PM_WAY_BLOCKED || way == _PM_WAY_COPIED_NEAR) { /* the latter never comes here */
        _PM_COUNTS(BLOCKED); /* and so it is here */
        NAME(blocked)(all);
    } else if (way == _PM_WAY_ROW) {
        _PM_TAKES(ROW);
        NAME(one_row)(all);
    } else if (way == _PM_WAY_COLUMN) {
        _PM_TAKES(COLUMN);
        NAME(in_place)(all, 1);
    } else {
        _PM_TAKES(DIRECT);
        NAME(in_place)(all, 0);
    }
}
