/* Strips of rows of several segments, where these follow each other in the result.

   Strips that end with each segment are not full where segments have few rows, as the rows of a small image
   have few pixels.  Only the copy of A has to know that they are several: it is made of single rows, wherever
   they lie.

   takes CUT_JOINED=const int joined = joinable && along && m + n + row_segments + column_segments + rows + vectors + lanes > 0  declares what formulas compute */
#pragma once

#include "products/packing.h"
#include "products/product.h"

/* Whether segments of rows follow each other in the result, and in what that is added to. */
static int NAME(is_joinable)(const NAME(product) *all)
{
    const int place = HALVES ? all->half.place : 0;
    int joinable = all->row_count > 1 && place == 0 && all->finish == NULL;
    for (ptrdiff_t s = 0; joinable && s < all->row_count; s++)
        joinable = all->rows[3 * s + 1] == s * all->m * all->c_row
                && (all->from == NULL || all->rows[3 * s + 2] == s * all->m * all->from_row);
    return joinable;
}

/* The same product; of one segment of rows where they are joined, the segments of A set aside. */
static NAME(product) NAME(rows_joined)(const NAME(product) *all)
{
    enum { rows = ROWS, vectors = VECTORS, lanes = LANES };
    const ptrdiff_t m = all->m, n = all->n, row_segments = all->row_count;
    const ptrdiff_t column_segments = all->column_count;
    const int along = all->a_step == 1, joinable = NAME(is_joinable)(all);
    CUT_JOINED;
    NAME(product) made = *all;
    if (joined) {
        made.left_rows = all->rows;
        made.left_each = m;
        made.rows = NAME(origin);
        made.row_count = 1;
        made.m = m * row_segments;
    }
    return made;
}

/* A part of the depth of some rows, at `lines`, whose elements are neighbours, so that those of equal depth
   are. */
static void NAME(pack_rows)(ptrdiff_t width, ptrdiff_t depth, const T *const *lines, ptrdiff_t from, T *to)
{
    ptrdiff_t k = 0;
    if (width >= 4)
        /* What a line has too much is in the place of the next one, which comes after it. */
        for (; k + 8 < depth; k += 8)
            for (ptrdiff_t r = 0; r < width; r += 8) {
                const ptrdiff_t line = r + 8 <= width || width < 8 ? r : width - 8;
                NAME(transpose_lines)(lines + line, from + k, to + k * width + line, width);
            }
    for (; k < depth; k++)
        for (ptrdiff_t line = 0; line < width; line++)
            to[k * width + line] = lines[line][from + k];
}

/* Pack strips of A whose rows are those of several segments. */
static void NAME(pack_joined)(const NAME(product) *all, const NAME(lines) *left, ptrdiff_t strip_0,
        ptrdiff_t strip_1, T *to)
{
    const T *lines[ROWS + 8];
    for (ptrdiff_t strip = strip_0; strip < strip_1; strip++, to += left->apart) {
        const ptrdiff_t first = NAME(line)(left, strip), width = NAME(width)(left, strip);
        for (ptrdiff_t line = 0; line < ROWS + 8; line++) {
            const ptrdiff_t row = first + (line < width ? line : width - 1);
            const ptrdiff_t segment = row / all->left_each;
            lines[line] =
                    all->a + all->left_rows[3 * segment] + (row - segment * all->left_each) * all->a_row;
        }
        T *target = to;
        for (ptrdiff_t chunk = left->first; chunk < left->last; chunk++) {
            const NAME(chunk) now = NAME(chunk_of)(left->cut, chunk);
            NAME(pack_rows)(width, now.length, lines, left->at[2 * now.segment] + now.begin, target);
            target += now.length * width;
        }
    }
}
