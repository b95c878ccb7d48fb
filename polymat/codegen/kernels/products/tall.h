/* Products whose left operand passes a part of the right one that stays in the second-level cache.

   A part of B that fills much of the second level is packed, and strips of A follow each other with all of its
   columns: A is read and C is written in the order of memory, a strip of A stays in the first level for all
   panels, and while one is multiplied the next one is requested.  A whose depth is contiguous is read where it
   is, since a copy would cost as much as a few columns do; a triangle, or A that is contiguous along rows, is
   copied some rows at a time. */
#pragma once

#include "products/triangles.h"
#include "products/finishrows.h"

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

/* The product where B is one segment, and so is the depth.  packs: whether A is packed, some rows at a time:
   where elements along that are no neighbours, or it is a triangle.  deep: the most of the depth at a time;
   room: elements that a packed part of B has, one panel at least; most: of one of A. */
_PM_SHARED __attribute__((noinline)) void NAME(tall)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k,
        ptrdiff_t row_count, const ptrdiff_t *rows, T scale, const T *a, ptrdiff_t a_row, ptrdiff_t a_step,
        const T *b, ptrdiff_t b_step, ptrdiff_t b_column, T beta, const T *from, ptrdiff_t from_row, T *c,
        ptrdiff_t c_row, int packs, ptrdiff_t deep, ptrdiff_t room, ptrdiff_t most, const NAME(half) half,
        T *b_packed, NAME(finish) finish, void *const *around END(const NAME(end) *end))
{
    const ptrdiff_t panels = (n + VECTORS * LANES - 1) / (VECTORS * LANES), pieces = (k + deep - 1) / deep;
    const ptrdiff_t strips = (m + ROWS - 1) / ROWS, all_strips = strips * row_count;
    const ptrdiff_t deepest = (k + pieces - 1) / pieces, wide = room / (VECTORS * LANES * deepest);
    const ptrdiff_t share = NAME(share)(panels, wide > 1 ? wide : 1), parts = (panels + share - 1) / share;
    /* Where B has one part, that stays, and so does what is packed of A. */
    const int is_one = pieces * parts == 1;
    const ptrdiff_t held = (is_one ? room / 4 : most) / (ROWS * deepest);
    const ptrdiff_t tall = packs ? NAME(share)(all_strips, held > 1 ? held : 1) : all_strips;
    const ptrdiff_t few =
            room / 4 / (share * ROWS * VECTORS * LANES) + 1; /* strips that are handed over together */
    const NAME(depth) cut = {1, k, pieces, 1};
    T *const a_packed = b_packed + share * NAME(apart)(VECTORS * LANES, deepest);
    for (ptrdiff_t strip_0 = 0, step = 0; strip_0 < all_strips;
            step = (step + 1) % (pieces * parts), strip_0 += step == 0 ? tall : 0) {
        const ptrdiff_t strip_1 = strip_0 + tall < all_strips ? strip_0 + tall : all_strips;
        const ptrdiff_t piece = step / parts, panel_0 = step % parts * share;
        const ptrdiff_t panel_1 = panel_0 + share < panels ? panel_0 + share : panels;
        const NAME(chunk) now = NAME(chunk_of)(&cut, piece);
        const ptrdiff_t k_0 = now.begin, depth = now.length;
        const NAME(lines) left = {m, strips, 1, ROWS, piece, piece + 1, NAME(apart)(ROWS, depth), &cut,
                NAME(origin)};
        const NAME(lines) right = {n, panels, LANES, VECTORS * LANES, piece, piece + 1,
                NAME(apart)(VECTORS * LANES, depth), &cut, NAME(origin)};
        const NAME(range) used = NAME(panels)(&half, &right, 0, m, panel_0, panel_1);
        if (packs && panel_0 == 0)
            NAME(pack_left)(&left, &half, strip_0, strip_1, rows, k_0, k_0 + depth, a, a_row, a_step,
                    a_packed);
        if (used.first < used.last && (strip_0 == 0 || !is_one))
            NAME(pack_all)(&right, used.first, used.last, NAME(origin), b, b_column, b_step, b_packed);
        for (ptrdiff_t strip = strip_0, last = strip_0; strip < strip_1; strip++) {
            const ptrdiff_t *const at = rows + strip / strips * 3;
            const ptrdiff_t i = NAME(line)(&left, strip % strips);
            const ptrdiff_t height = NAME(width)(&left, strip % strips);
            const NAME(range) here = NAME(panels)(&half, &right, i, height, used.first, used.last);
            const T *const a_strip =
                    packs ? a_packed + (strip - strip_0) * left.apart : a + at[0] + i * a_row + k_0;
            const int far = packs && is_one && a_row == 1 && row_count == 1 && strip + tall < all_strips;
            const ptrdiff_t onward = packs        ? (strip + 1 < strip_1 ? left.apart : 0)
                    : strip % strips + 1 < strips ? height * a_row
                    : strip + 1 < all_strips      ? at[3] - at[0] - i * a_row
                                                  : 0;
            T *const target = c + at[1] + i * c_row;
            const T *const start = piece > 0 ? target : from == NULL ? NULL : from + at[2] + i * from_row;
            const NAME(result) part = NAME(result_of)(start, piece > 0 ? c_row : from_row, target,
                    c_row END(piece + 1 == pieces ? end : NULL));
            const NAME(passed) now_passed = {i, height, k_0, depth,
                    {a_strip, packs ? 1 : a_row, packs ? height : 1},
                    far ? a + i + tall * ROWS : a_strip + onward, far ? a_step : 0};
            if (here.first < here.last)
                NAME(strip_past)(&right, here, &half, &now_passed,
                        b_packed + (here.first - used.first) * right.apart, scale, piece > 0 ? 1 : beta,
                        &part);
            if (finish != NULL && piece + 1 == pieces && (strip + 1 - last == few || strip + 1 == strip_1)) {
                const ptrdiff_t j_end = panel_1 < panels ? NAME(line)(&right, panel_1) : n;
                NAME(finish_rows)(m, strips, last, strip + 1, 0, NAME(line)(&right, panel_0), j_end, finish,
                        around);
                last = strip + 1;
            }
        }
    }
}
