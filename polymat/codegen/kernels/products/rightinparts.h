/* Products whose left operand passes a part of the right one that stays in the second-level cache.

   A part of B that fills much of the second level is packed, and strips of A follow each other with all of its
   columns: A is read and C is written in the order of memory, a strip of A stays in the first level for all
   panels, and while one is multiplied the next one is requested.  A whose depth is contiguous is read where it
   is, since a copy would cost as much as a few columns do; a triangle, or A that is contiguous along rows, is
   copied some rows at a time.

   takes CUT_PASSED=const ptrdiff_t segment_strips = m, strips = row_segments, panels = n + vectors + lanes, passed_pieces = k, passed_depth = kc, room = small, part = nc, parts = rows, passing = strips; const int is_one = parts == 1  declares what formulas compute
   takes COPIES_STRIPS=along && place  whether strips of A are copied */
#pragma once

#include "products/triangles.h"
#include "products/finishrows.h"
#include "products/product.h"

/* Panels first..last - 1. */
typedef struct {
    ptrdiff_t first, last;
} NAME(range);

/* Of some panels those that have something of a triangle of C in `count` rows; all, where there is none. */
static inline NAME(range) NAME(panels)(const NAME(half) *half, const NAME(lines) *right, ptrdiff_t row,
        ptrdiff_t count, ptrdiff_t first, ptrdiff_t last)
{
    if (HALVES && half->place == 3) {
        const NAME(spans) in = NAME(spans_of)(half, row, count, 0, right->count);
        const ptrdiff_t low = half->before ? 0 : in.part_0, high = half->before ? in.part_1 : right->count;
        while (first < last && NAME(line)(right, first) + NAME(filled)(right, first) <= low)
            first++;
        while (first < last && NAME(line)(right, last - 1) >= high)
            last--;
    }
    const NAME(range) found = {first, last};
    return found;
}

/* Pack strips of A, whose lines may be those of a triangle. */
static void NAME(pack_left)(const NAME(lines) *left, const NAME(half) *half, ptrdiff_t strip_0,
        ptrdiff_t strip_1, const ptrdiff_t *rows, ptrdiff_t k_0, ptrdiff_t k_1, const T *a, ptrdiff_t a_row,
        ptrdiff_t a_step, T *a_packed)
{
    if (!HALVES || half->place != 1) {
        NAME(pack_all)(left, strip_0, strip_1, rows, a, a_row, a_step, a_packed);
        return;
    }
    for (ptrdiff_t strip = strip_0; strip < strip_1; strip++, a_packed += left->apart) {
        const ptrdiff_t i = NAME(line)(left, strip), height = NAME(width)(left, strip);
        NAME(pack_half)(half, i, height, k_0, k_1, a + i * a_row, a_row, a_step, a_packed, height);
    }
}

/* A strip of A: its first row and its height, where its depth begins and how much that is, and its elements,
   whose steps along the depth are 1, or it is packed; next: of what each panel requests a part, or the first one
   all of it: of one whose steps are `next_step` apart. */
typedef struct {
    ptrdiff_t i, height, k_0, depth;
    NAME(operand) a;
    const T *next;
    ptrdiff_t next_step;
} NAME(passed);

/* A strip of A times panels of B, into its rows of C.  half: a triangle of A or C, or none. */
static inline void NAME(strip_past)(const NAME(lines) *right, NAME(range) panels, const NAME(half) *half,
        const NAME(passed) *strip, const T *b_panel, T scale, T beta, const NAME(result) *to)
{
    const int place = HALVES && half->mirror == NULL ? half->place : 0;
    const ptrdiff_t n = right->count, count = panels.last - panels.first;
    const ptrdiff_t k_0 = strip->k_0, depth = strip->depth, next_step = strip->next_step;
    const NAME(spans) in = place == 1 ? NAME(spans_of)(half, strip->i, strip->height, k_0, k_0 + depth)
                                      : NAME(spans_of)(half, strip->i, strip->height, 0, n);
    const ptrdiff_t steps = place == 1 ? in.whole_1 - in.whole_0 : depth;
    const ptrdiff_t even = (ROWS * (ptrdiff_t)sizeof(T) + count - 1) / count;
    ptrdiff_t pace = next_step > 0 ? next_step * (ptrdiff_t)sizeof(T) : even;
    const ptrdiff_t vectors = (n + LANES - 1) / LANES, least = vectors / right->each;
    const char *asked =
            (const char *)(place == 1 ? strip->next + (in.whole_0 - k_0) * strip->a.step : strip->next);
    ptrdiff_t j = NAME(line)(right, panels.first);
    for (ptrdiff_t panel = panels.first; panel < panels.last; panel++, b_panel += right->apart) {
        const ptrdiff_t wide = least + (panel < vectors - least * right->each);
        const ptrdiff_t filled = n - j < wide * LANES ? n - j : wide * LANES;
        const NAME(result) part = NAME(result_at)(to, 0, j);
        const NAME(area) area = {strip->i, strip->height, j, filled};
        if (place == 1)
            NAME(sum_half)(half, &area, k_0, k_0 + depth, &strip->a, b_panel, wide * LANES, scale, beta,
                    &part, asked, pace);
        else if (place == 3 && (j < in.whole_0 || j + filled > in.whole_1))
            NAME(cut)(half, &area, depth, &strip->a, b_panel, wide * LANES, scale, beta, &part);
        else if (strip->a.step == 1 && strip->height == ROWS && filled == wide * LANES)
            NAME(passing)[wide - 1](depth, strip->a.first, strip->a.row, b_panel, scale, beta, &part, asked,
                    pace);
        else
            NAME(block_of)(strip->height, filled, depth, &strip->a, b_panel, wide * LANES, scale, beta, &part,
                    asked, pace);
        asked += next_step > 0 ? 0 : (strip->a.step == 1 ? steps / ROWS : steps) * pace;
        pace = next_step > 0 ? 0 : pace;
        j += wide * LANES;
    }
}

/* Of a product a part of B, panels panel_0..panel_1 - 1 of a piece of the depth, those `used` packed, and strips
   of A, packed or where they are; tall: strips that are packed at a time; few: strips that are handed over
   together; far: whether what is packed next is requested, and no panel else.  is_last: whether the result is
   complete then. */
typedef struct {
    const NAME(product) *all;
    NAME(lines) left, right;
    NAME(range) used;
    ptrdiff_t panel_0, panel_1, k_0, depth, strip_0, strip_1, all_strips, tall, few;
    const T *a_packed, *b_packed;
    int packs, far, is_last;
} NAME(passing_part);

/* One of the strips times these panels. */
static inline void NAME(passing_strip)(const NAME(passing_part) *now, ptrdiff_t strip)
{
    const NAME(product) *const all = now->all;
    const NAME(lines) *const left = &now->left;
    const ptrdiff_t strips = left->each, a_row = all->a_row;
    const ptrdiff_t *const at = all->rows + strip / strips * 3;
    const ptrdiff_t i = NAME(line)(left, strip % strips), height = NAME(width)(left, strip % strips);
    const NAME(range) here =
            NAME(panels)(&all->half, &now->right, i, height, now->used.first, now->used.last);
    const T *const a_strip = now->packs ? now->a_packed + (strip - now->strip_0) * left->apart
                                        : all->a + at[0] + i * a_row + now->k_0;
    const int far = now->far && strip + now->tall < now->all_strips;
    const ptrdiff_t onward = now->packs   ? (strip + 1 < now->strip_1 ? left->apart : 0)
            : strip % strips + 1 < strips ? height * a_row
            : strip + 1 < now->all_strips ? at[3] - at[0] - i * a_row
                                          : 0;
    const T *const from = all->from == NULL ? NULL : all->from + at[2] + i * all->from_row;
    const NAME(result) first = NAME(result_of)(from, all->from_row, all->c + at[1] + i * all->c_row,
            all->c_row END(now->is_last ? all->end : NULL));
    const NAME(result) part = now->k_0 > 0 ? NAME(result_added)(&first) : first;
    const NAME(passed) passed = {i, height, now->k_0, now->depth,
            {a_strip, now->packs ? 1 : a_row, now->packs ? height : 1},
            far ? all->a + i + now->tall * ROWS : a_strip + onward, far ? all->a_step : 0};
    if (here.first < here.last)
        NAME(strip_past)(&now->right, here, &all->half, &passed,
                now->b_packed + (here.first - now->used.first) * now->right.apart, all->scale,
                now->k_0 > 0 ? 1 : all->beta, &part);
}

/* The strips times these panels, handed over where they are complete. */
static inline void NAME(passing_strips)(const NAME(passing_part) *now)
{
    const NAME(product) *const all = now->all;
    for (ptrdiff_t strip = now->strip_0, last = now->strip_0; strip < now->strip_1; strip++) {
        NAME(passing_strip)(now, strip);
        if (all->finish != NULL && now->is_last
                && (strip + 1 - last == now->few || strip + 1 == now->strip_1)) {
            const ptrdiff_t j_end =
                    now->panel_1 < now->right.each ? NAME(line)(&now->right, now->panel_1) : all->n;
            NAME(finish_rows)(all->m, now->left.each, last, strip + 1, 0,
                    NAME(line)(&now->right, now->panel_0), j_end, all->finish, all->around);
            last = strip + 1;
        }
    }
}

/* The product where B is one segment, and so is the depth.  A is packed, some rows at a time, where elements
   along the depth are no neighbours, or it is a triangle.  The formulas are those that Python evaluates. */
_PM_SHARED __attribute__((noinline)) void NAME(right_in_parts)(const NAME(product) *all)
{
    enum { rows = ROWS, vectors = VECTORS, lanes = LANES };
    const ptrdiff_t m = all->m, n = all->n, k = all->k, row_segments = all->row_count;
    const ptrdiff_t kc = all->kc, nc = all->nc, small = all->small;
    const int along = all->a_step == 1, place = HALVES ? all->half.place : 0, packs = COPIES_STRIPS;
    _PM_PACKS(packs, 1);
    CUT_PASSED;
    const NAME(depth) cut = {1, k, passed_pieces, 1};
    T *const b_packed = all->scratch,
             *const a_packed = b_packed + part * NAME(apart)(VECTORS * LANES, passed_depth);
    for (ptrdiff_t strip_0 = 0, step = 0; strip_0 < strips;
            step = (step + 1) % (passed_pieces * parts), strip_0 += step == 0 ? passing : 0) {
        const ptrdiff_t piece = step / parts, panel_0 = step % parts * part;
        const NAME(chunk) chunk = NAME(chunk_of)(&cut, piece);
        const ptrdiff_t k_0 = chunk.begin, depth = chunk.length;
        NAME(passing_part) now = {.all = all,
                .left = {m, segment_strips, 1, ROWS, piece, piece + 1, NAME(apart)(ROWS, depth), &cut,
                        NAME(origin)},
                .right = {n, panels, LANES, VECTORS * LANES, piece, piece + 1,
                        NAME(apart)(VECTORS * LANES, depth), &cut, NAME(origin)},
                .panel_0 = panel_0,
                .panel_1 = panel_0 + part < panels ? panel_0 + part : panels,
                .k_0 = k_0,
                .depth = depth,
                .strip_0 = strip_0,
                .strip_1 = strip_0 + passing < strips ? strip_0 + passing : strips,
                .all_strips = strips,
                .tall = passing,
                .few = room / 4 / (part * ROWS * VECTORS * LANES) + 1,
                .a_packed = a_packed,
                .b_packed = b_packed,
                .packs = packs,
                .far = packs && is_one && all->a_row == 1 && row_segments == 1,
                .is_last = piece + 1 == passed_pieces};
        now.used = NAME(panels)(&all->half, &now.right, 0, m, panel_0, now.panel_1);
        if (packs && panel_0 == 0)
            NAME(pack_left)(&now.left, &all->half, strip_0, now.strip_1, all->rows, k_0, k_0 + depth, all->a,
                    all->a_row, all->a_step, a_packed);
        if (now.used.first < now.used.last && (strip_0 == 0 || !is_one))
            NAME(pack_all)(&now.right, now.used.first, now.used.last, NAME(origin), all->b, all->b_column,
                    all->b_step, b_packed);
        NAME(passing_strips)(&now);
    }
}
