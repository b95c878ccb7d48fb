/* Products whose vectors hold segments of columns: turned register blocks.

   Where neighbours in B are segments of columns, and columns and steps of the depth are far apart, a copy of B
   in the order of its columns has to be transposed.  Here are the functions for products of so few rows that
   this costs a good part of the multiplications: the lanes of their vectors are neighbouring segments, and
   what is transposed, in registers, are eight columns of a few rows of the result.  B is copied as it lies,
   eight columns of a few vectors at a time, by the register blocks themselves: each step of their depth copies
   a vector of what is next and requests one of what comes after that.  Large results go past the caches in
   whole lines; where these begin within the eight columns, a part of them waits for those to the right.

   takes CUT_TURNED=const ptrdiff_t set_vectors = small  declares what formulas compute */
#pragma once

#include "products/product.h"
#include "products/turneddeclared.h"
#include "products/turnedlines.h"

#if CONST(TURNS)
/* A product by turned blocks.  groups: of rows of A, which lie behind each other in `packed`.  past: whether
   it goes past the caches, with sets that begin `turn` columns after a line does; before: the last lines of
   what rows share then. */
typedef struct {
    ptrdiff_t m, n, k, groups, column_count;
    const ptrdiff_t *columns;
    const T *packed, *b;
    ptrdiff_t b_step, b_column;
    T *c;
    ptrdiff_t c_row;
    T scale, *before;
    int past, turn;
} NAME(turning);

/* A set that is copied, and the one after it: how many of its columns have begun, what blocks owe of it that
   come before, and where it is copied to.  The copy itself is apart: what blocks are handed by its address
   stays in memory. */
typedef struct {
    ptrdiff_t begun, owed;
    NAME(set) set, after;
    T *to;
} NAME(coming);

/* End the copy of a column, and begin that of the next one. */
static inline __attribute__((always_inline)) void NAME(turned_column)(const NAME(turning) *all,
        NAME(coming) *coming, NAME(copy) *copy)
{
    const NAME(set) set = coming->set, after = coming->after; /* so that the rest stays in registers */
    NAME(copied)(copy, copy->left);
    *copy = NAME(copy_of)(&set, coming->begun++, &after, all->n, all->k, all->columns, all->b, all->b_step,
            all->b_column, coming->to);
}

/* Copy what is left of a set. */
static inline __attribute__((always_inline)) void NAME(turned_rest)(const NAME(turning) *all,
        NAME(coming) *coming, NAME(copy) *copy)
{
    while (coming->begun < 8)
        NAME(turned_column)(all, coming, copy);
    NAME(copied)(copy, copy->left);
}

/* The blocks of all rows and one vector of segments of a set, whose copy is `b_part`; meanwhile they copy the
   next set. */
static inline __attribute__((always_inline)) void NAME(turned_vector)(const NAME(turning) *all,
        const NAME(set) *set, ptrdiff_t vector, const T *b_part, NAME(coming) *coming, NAME(copy) *copy)
{
    T block[TURNED_ROWS * 64] __attribute__((aligned(64))), *to[8];
    const ptrdiff_t *const offsets = all->columns + 3 * (set->segment + 8 * vector);
    const ptrdiff_t m = all->m, n = all->n, k = all->k, c_row = all->c_row;
    const ptrdiff_t shares = set->vectors * all->groups;
    const int whole = set->j + 8 <= n, shared = all->past && !whole;
    for (ptrdiff_t group = 0; group < all->groups; group++) {
        const ptrdiff_t i = group * TURNED_ROWS, height = m - i < TURNED_ROWS ? m - i : TURNED_ROWS;
        const int direct = whole && height == TURNED_ROWS;
        if (copy->left < k && coming->begun < 8)
            NAME(turned_column)(all, coming, copy);
        coming->owed += 8 * coming->set.vectors;
        const int copies = coming->owed >= shares && copy->left >= k;
        coming->owed -= copies ? shares : 0;
        for (int s = 0; s < 8; s++)
            to[s] = direct ? all->c + offsets[3 * s + 1] + i * c_row + set->j : block + s * 8;
        if (shared && c_row != n && offsets[4] - offsets[1] != n)
            NAME(fetch_lines)(n, height, i, offsets, all->c, c_row);
        NAME(turns)[copies](k, all->packed + i * k, b_part, all->scale, to, direct ? c_row : 64,
                direct && all->past, copy);
        if (!direct && shared)
            NAME(shared_lines)(m, n, block, all->before, height, i, vector == 0, vector + 1 == set->vectors,
                    offsets, all->turn, all->c, c_row);
        else if (!direct)
            NAME(some_rows)(block, height, whole ? 8 : n - set->j, offsets, all->c + i * c_row + set->j,
                    c_row);
    }
}

/* Copy A as turned blocks read it: groups of rows, of which the last row stands for those that lack. */
static void NAME(turned_rows)(ptrdiff_t m, ptrdiff_t groups, ptrdiff_t k, const T *a, ptrdiff_t a_row,
        ptrdiff_t a_step, T *packed)
{
    for (ptrdiff_t row = 0; row < groups * TURNED_ROWS; row++)
        for (ptrdiff_t step = 0; step < k; step++)
            packed[row / TURNED_ROWS * TURNED_ROWS * k + step * TURNED_ROWS + row % TURNED_ROWS] =
                    a[(row < m ? row : m - 1) * a_row + step * a_step];
}

/* The product by turned blocks, of one segment of rows and of depth. */
_PM_SHARED __attribute__((noinline)) void NAME(turned)(const NAME(product) *all)
{
    const ptrdiff_t m = all->m, n = all->n, k = all->k, column_count = all->column_count, a_row = all->a_row,
                    a_step = all->a_step, b_step = all->b_step, b_column = all->b_column, c_row = all->c_row,
                    small = all->small;
    const ptrdiff_t *const columns = all->columns;
    const T scale = all->scale;
    const T *const a = all->a;
    const T *const b = all->b;
    T *const c = all->c;
    T *const scratch = all->scratch;
    const int large = all->large;
    const ptrdiff_t groups = (m + TURNED_ROWS - 1) / TURNED_ROWS, part = 8 * 8 * k,
                    packed = groups * TURNED_ROWS * k;
    CUT_TURNED;
    T *const first = scratch + (packed + 7) / 8 * 8;
    T *const sets[2] = {first, first + set_vectors * part};
    const int past = large && NAME(is_even)(n, c_row, column_count, columns);
    const int turn = past ? (int)(-(uintptr_t)c % 64 / sizeof(T)) : 0;
    const NAME(turning) turning = {m, n, k, groups, column_count, columns, scratch, b, b_step, b_column, c,
            c_row, scale, first + 2 * set_vectors * part, past, turn};
    NAME(turned_rows)(m, groups, k, a, a_row, a_step, scratch);
    const NAME(set) none = {0, 0, 0};
    NAME(set) set = NAME(set_after)(none, n, turn, set_vectors, column_count, columns);
    NAME(coming) coming = {0, 0, set, set, sets[0]};
    NAME(copy) copy = {0};
    NAME(turned_rest)(&turning, &coming, &copy);
    for (int odd = 0, more = 1; more; odd ^= 1, set = coming.set) {
        more = set.j + 8 < n + turn || set.segment + 8 * set.vectors < column_count;
        const NAME(set) next = NAME(set_after)(set, n, turn, set_vectors, column_count, columns);
        const NAME(set) after = NAME(set_after)(next, n, turn, set_vectors, column_count, columns);
        coming = (NAME(coming)){more ? 0 : 8, 0, next, after, sets[odd ^ 1]};
        for (ptrdiff_t vector = 0; vector < set.vectors; vector++)
            NAME(turned_vector)(&turning, &set, vector, sets[odd] + vector * part, &coming, &copy);
        NAME(turned_rest)(&turning, &coming, &copy);
    }
    if (past)
        __builtin_ia32_sfence(); /* before other threads are told that it is there */
}
#endif
