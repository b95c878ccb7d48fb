/* Parts of turned products: what is copied next, and rows written beside each other. */
#pragma once

#include "products/packing.h"
#include "products/turnedcopies.h"

#if CONST(TURNS)
/* So many vectors of a copy. */
static void NAME(copied)(NAME(copy) *copy, ptrdiff_t count)
{
    for (; count > 0; count--) {
        __builtin_prefetch(copy->from + copy->ahead, 0, 2);
        *(NAME(vector) *)copy->to = *(const NAME(memory) *)copy->from;
        copy->from += 64;
        copy->to += copy->onto;
        copy->left--;
        if (++copy->at == copy->width) {
            copy->at = 0;
            copy->from += copy->jump;
            copy->to += copy->back;
            __builtin_prefetch(copy->from + copy->ahead - 56, 0, 2);
        }
    }
}

/* The set after one: further columns of the same segments, then the first ones of the next.  Segments that
   are neighbours are shared out evenly, `most` vectors at a time; the last of these may be in two vectors. */
static NAME(set) NAME(set_after)(NAME(set) set, ptrdiff_t n, int turn, ptrdiff_t most, ptrdiff_t column_count,
        const ptrdiff_t *columns)
{
    if (set.vectors > 0 && set.j + 8 < n + turn) {
        set.j += 8;
        return set;
    }
    NAME(set) next = {set.segment + 8 * set.vectors, 0, turn};
    next.segment = next.segment < column_count ? next.segment : 0;
    const ptrdiff_t run = NAME(neighbours)(columns, 3, next.segment, column_count);
    const ptrdiff_t vectors = run / 8, pieces = (vectors + most - 1) / most;
    next.segment -= vectors > 0 ? 0 : 8 - run;
    next.vectors = vectors > 0 ? (vectors + pieces - 1) / pieces : 1;
    return next;
}

/* The copy of column `at` of a set; after: the set behind it. */
static NAME(copy) NAME(copy_of)(const NAME(set) *set, ptrdiff_t at, const NAME(set) *after, ptrdiff_t n,
        ptrdiff_t k, const ptrdiff_t *columns, const T *b, ptrdiff_t b_step, ptrdiff_t b_column, T *to)
{
    const ptrdiff_t bytes = (int)sizeof(T), far = k * 8 * 64;
    const T *const first = b + columns[3 * set->segment], *const then = b + columns[3 * after->segment];
    const T *const from = first + (set->j + at) % n * b_column;
    const T *const soon = at < 7 ? first + (set->j + at + 1) % n * b_column : then + after->j % n * b_column;
    const NAME(copy) copy = {(const char *)from, (char *)(to + at * 8), 0, set->vectors,
            (b_step - set->vectors * 8) * bytes, far, 8 * 64 - set->vectors * far,
            ((const char *)soon - (const char *)from) + 56, k * set->vectors};
    return copy;
}

/* Request the lines that rows share, to store into those that are not written at once. */
static void NAME(fetch_lines)(ptrdiff_t n, ptrdiff_t height, ptrdiff_t i, const ptrdiff_t *offsets,
        const T *c, ptrdiff_t c_row)
{
    for (ptrdiff_t row = i; row < i + height; row++)
        for (int s = 0; s < 8; s++) {
            const T *const to = c + offsets[3 * s + 1] + row * c_row;
            __builtin_prefetch(to, 1);
            __builtin_prefetch(to + n - 1, 1);
        }
}

/* The columns of a set that begins before the last whole line of a row: that line and the beginning of the
   row.  Rows that follow each other share lines, with the row below or with the next segment.  block: of each
   of `height` rows from i on eight segments; before: what this one follows; offsets: where the segments lie;
   first, last: whether the set has none before or after them. */
static void NAME(shared_lines)(ptrdiff_t m, ptrdiff_t n, const T *block, T *before, ptrdiff_t height,
        ptrdiff_t i, int first, int last, const ptrdiff_t *offsets, int turn, T *c, ptrdiff_t c_row)
{
    typedef long long lanes __attribute__((vector_size(64)));
    const lanes order = (lanes){0, 1, 2, 3, 4, 5, 6, 7}, ends = order < 8 - turn;
    const int down = c_row == n;
    for (ptrdiff_t row = i; row < i + height; row++, block += 64)
        for (int s = 0; s < 8; s++) {
            const ptrdiff_t *const at = offsets + 3 * s + 1;
            const int follows = down ? row > 0 : (s > 0 || !first) && at[0] - at[-3] == n;
            const int goes_on = down ? row + 1 < m : (s < 7 || !last) && at[3] - at[0] == n;
            const T *const other = !down && s > 0 ? block + (s - 1) * 8 : before + (down ? s : row) * 8;
            const NAME(vector) value = *(const NAME(vector) *)(block + s * 8);
            T *const to = c + at[0] + row * c_row - (8 - turn);
            if (follows) {
                const lanes left = (lanes) * (const NAME(vector) *)other;
                __builtin_ia32_movntpd512(to, (NAME(vector))((left & ends) | ((lanes)value & ~ends)));
            } else
                NAME(some)(to, value, 8 - turn, 8);
            if (!goes_on)
                NAME(some)(to + n, value, 0, 8 - turn);
            if (down || s == 7)
                *(NAME(vector) *)(before + (down ? s : row) * 8) = value;
        }
}

/* `height` rows of eight segments of a block, of which so many columns are filled. */
static void NAME(some_rows)(const T *block, ptrdiff_t height, ptrdiff_t filled, const ptrdiff_t *offsets,
        T *c, ptrdiff_t c_row)
{
    const NAME(mask) mask = MASK((int)filled);
    for (ptrdiff_t row = 0; row < height; row++)
        for (ptrdiff_t s = 0; s < 8; s++)
            NAME(store)(c + offsets[3 * s + 1] + row * c_row,
                    *(const NAME(vector) *)(block + (row * 8 + s) * 8), mask);
}

/* Whether all rows of all segments of a result begin at the same place of a line and end there. */
static int NAME(is_even)(ptrdiff_t n, ptrdiff_t c_row, ptrdiff_t column_count, const ptrdiff_t *columns)
{
    ptrdiff_t all = n | c_row;
    for (ptrdiff_t segment = 0; segment < column_count; segment++)
        all |= columns[3 * segment + 1];
    return n > 8 && all % 8 == 0;
}

/* Whether all runs of neighbouring segments are long enough for a vector. */
_PM_SHARED int NAME(runs)(ptrdiff_t column_count, const ptrdiff_t *columns)
{
    for (ptrdiff_t segment = 0, run; segment < column_count; segment += run) {
        run = NAME(neighbours)(columns, 3, segment, column_count);
        if (run < 8)
            return 0;
    }
    return 1;
}
#endif
