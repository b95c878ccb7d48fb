"""Products whose vectors hold segments of columns: turned register blocks.

Where neighbours in B are segments of columns, and columns and steps of the depth are far apart, a copy of B
in the order of its columns has to be transposed.  `turned_text` gives the C functions for products of so few
rows that this costs a good part of the multiplications: the lanes of their vectors are neighbouring segments,
and what is transposed, in registers, are eight columns of three rows of the result.  B is copied as it lies,
eight columns of a few vectors at a time, by the register blocks themselves: each step of their depth copies a
vector of what is next and requests one of what comes after that.  Large results go past the caches in whole
lines; where these begin within the eight columns, a part of them waits for those to the right.
`polymat.product.turned` says when products are turned.
"""

from __future__ import annotations

from string import Template

from polymat.codegen.c.apart import prototypes
from polymat.codegen.c.lanes import SHUFFLES
from polymat.codegen.products.blockshape import Shape
from polymat.codegen.products.turnedblock import turned_blocks
from polymat.product.inequality import in_c
from polymat.product.turned import PAYS, ROWS, SETS

_TYPES = """\
/* A set of columns of B: eight from j on, the first ones after the last; of 8 * `vectors` segments. */
typedef struct {
    ptrdiff_t segment, vectors, j;
} _pm_set_$S;

/* A copy on its way: vectors from `from` to `to`, requested `ahead` bytes before; after `width` of them the
   next ones are `jump` and `back` bytes further on.  at: how many of these are done; left: of all. */
typedef struct {
    const char *from;
    char *to;
    ptrdiff_t at, width, jump, onto, back, ahead, left;
} _pm_copy_$S;

"""

_PRODUCT = """\
/* So many vectors of a copy. */
static void _pm_copied_$S(_pm_copy_$S *copy, ptrdiff_t count)
{
    for (; count > 0; count--) {
        __builtin_prefetch(copy->from + copy->ahead, 0, 2);
        *(_pm_vector_$S *)copy->to = *(const _pm_memory_$S *)copy->from;
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
static _pm_set_$S _pm_set_after_$S(_pm_set_$S set, ptrdiff_t n, int turn, ptrdiff_t most,
        ptrdiff_t column_count, const ptrdiff_t *columns)
{
    if (set.vectors > 0 && set.j + 8 < n + turn) {
        set.j += 8;
        return set;
    }
    _pm_set_$S next = {set.segment + 8 * set.vectors, 0, turn};
    next.segment = next.segment < column_count ? next.segment : 0;
    const ptrdiff_t run = _pm_neighbours_$S(columns, 3, next.segment, column_count);
    const ptrdiff_t vectors = run / 8, pieces = (vectors + most - 1) / most;
    next.segment -= vectors > 0 ? 0 : 8 - run;
    next.vectors = vectors > 0 ? (vectors + pieces - 1) / pieces : 1;
    return next;
}

/* The copy of column `at` of a set; after: the set behind it. */
static _pm_copy_$S _pm_copy_of_$S(const _pm_set_$S *set, ptrdiff_t at, const _pm_set_$S *after, ptrdiff_t n,
        ptrdiff_t k, const ptrdiff_t *columns, const $T *b, ptrdiff_t b_step, ptrdiff_t b_column, $T *to)
{
    const ptrdiff_t bytes = (int)sizeof($T), far = k * 8 * 64;
    const $T *const first = b + columns[3 * set->segment], *const then = b + columns[3 * after->segment];
    const $T *const from = first + (set->j + at) % n * b_column;
    const $T *const soon = at < 7 ? first + (set->j + at + 1) % n * b_column : then + after->j % n * b_column;
    const _pm_copy_$S copy = {(const char *)from, (char *)(to + at * 8), 0, set->vectors,
                              (b_step - set->vectors * 8) * bytes, far, 8 * 64 - set->vectors * far,
                              ((const char *)soon - (const char *)from) + 56, k * set->vectors};
    return copy;
}

/* Request the lines that rows share, to store into those that are not written at once. */
static void _pm_fetch_lines_$S(ptrdiff_t n, ptrdiff_t height, ptrdiff_t i, const ptrdiff_t *offsets,
        const $T *c, ptrdiff_t c_row)
{
    for (ptrdiff_t row = i; row < i + height; row++)
        for (int s = 0; s < 8; s++) {
            const $T *const to = c + offsets[3 * s + 1] + row * c_row;
            __builtin_prefetch(to, 1);
            __builtin_prefetch(to + n - 1, 1);
        }
}

/* The columns of a set that begins before the last whole line of a row: that line and the beginning of the
   row.  Rows that follow each other share lines, with the row below or with the next segment.  block: of each
   of `height` rows from i on eight segments; before: what this one follows; offsets: where the segments lie;
   first, last: whether the set has none before or after them. */
static void _pm_shared_lines_$S(ptrdiff_t m, ptrdiff_t n, const $T *block, $T *before, ptrdiff_t height,
        ptrdiff_t i, int first, int last, const ptrdiff_t *offsets, int turn, $T *c, ptrdiff_t c_row)
{
    typedef long long lanes __attribute__((vector_size(64)));
    const lanes order = (lanes){0, 1, 2, 3, 4, 5, 6, 7}, ends = order < 8 - turn;
    const int down = c_row == n;
    for (ptrdiff_t row = i; row < i + height; row++, block += 64)
        for (int s = 0; s < 8; s++) {
            const ptrdiff_t *const at = offsets + 3 * s + 1;
            const int follows = down ? row > 0 : (s > 0 || !first) && at[0] - at[-3] == n;
            const int goes_on = down ? row + 1 < m : (s < 7 || !last) && at[3] - at[0] == n;
            const $T *const other = !down && s > 0 ? block + (s - 1) * 8 : before + (down ? s : row) * 8;
            const _pm_vector_$S value = *(const _pm_vector_$S *)(block + s * 8);
            $T *const to = c + at[0] + row * c_row - (8 - turn);
            if (follows) {
                const lanes left = (lanes)*(const _pm_vector_$S *)other;
                __builtin_ia32_movntpd512(to, (_pm_vector_$S)((left & ends) | ((lanes)value & ~ends)));
            } else
                _pm_some_$S(to, value, 8 - turn, 8);
            if (!goes_on)
                _pm_some_$S(to + n, value, 0, 8 - turn);
            if (down || s == 7)
                *(_pm_vector_$S *)(before + (down ? s : row) * 8) = value;
        }
}

/* `height` rows of eight segments of a block, of which so many columns are filled. */
static void _pm_some_rows_$S(const $T *block, ptrdiff_t height, ptrdiff_t filled, const ptrdiff_t *offsets,
        $T *c, ptrdiff_t c_row)
{
    const _pm_mask_$S mask = _PM_MASK_$S((int)filled);
    for (ptrdiff_t row = 0; row < height; row++)
        for (ptrdiff_t s = 0; s < 8; s++)
            _pm_store_$S(c + offsets[3 * s + 1] + row * c_row,
                         *(const _pm_vector_$S *)(block + (row * 8 + s) * 8), mask);
}

/* Whether all rows of all segments of a result begin at the same place of a line and end there. */
static int _pm_is_even_$S(ptrdiff_t n, ptrdiff_t c_row, ptrdiff_t column_count, const ptrdiff_t *columns)
{
    ptrdiff_t all = n | c_row;
    for (ptrdiff_t segment = 0; segment < column_count; segment++)
        all |= columns[3 * segment + 1];
    return n > 8 && all % 8 == 0;
}

/* Whether all runs of neighbouring segments are long enough for a vector. */
static int _pm_runs_$S(ptrdiff_t column_count, const ptrdiff_t *columns)
{
    for (ptrdiff_t segment = 0, run; segment < column_count; segment += run) {
        run = _pm_neighbours_$S(columns, 3, segment, column_count);
        if (run < 8)
            return 0;
    }
    return 1;
}

/* A product by turned blocks.  groups: of rows of A, which lie behind each other in `packed`.  past: whether
   it goes past the caches, with sets that begin `turn` columns after a line does; before: the last lines of
   what rows share then. */
typedef struct {
    ptrdiff_t m, n, k, groups, column_count;
    const ptrdiff_t *columns;
    const $T *packed, *b;
    ptrdiff_t b_step, b_column;
    $T *c;
    ptrdiff_t c_row;
    $T scale, *before;
    int past, turn;
} _pm_turning_$S;

/* A set that is copied, and the one after it: how many of its columns have begun, what blocks owe of it that
   come before, and where it is copied to.  The copy itself is apart: what blocks are handed by its address
   stays in memory. */
typedef struct {
    ptrdiff_t begun, owed;
    _pm_set_$S set, after;
    $T *to;
} _pm_coming_$S;

/* End the copy of a column, and begin that of the next one. */
static inline __attribute__((always_inline)) void _pm_turned_column_$S(const _pm_turning_$S *all,
        _pm_coming_$S *coming, _pm_copy_$S *copy)
{
    const _pm_set_$S set = coming->set, after = coming->after; /* so that the rest stays in registers */
    _pm_copied_$S(copy, copy->left);
    *copy = _pm_copy_of_$S(&set, coming->begun++, &after, all->n, all->k, all->columns, all->b, all->b_step,
                           all->b_column, coming->to);
}

/* Copy what is left of a set. */
static inline __attribute__((always_inline)) void _pm_turned_rest_$S(const _pm_turning_$S *all,
        _pm_coming_$S *coming, _pm_copy_$S *copy)
{
    while (coming->begun < 8)
        _pm_turned_column_$S(all, coming, copy);
    _pm_copied_$S(copy, copy->left);
}

/* The blocks of all rows and one vector of segments of a set, whose copy is `b_part`; meanwhile they copy the
   next set. */
static inline __attribute__((always_inline)) void _pm_turned_vector_$S(const _pm_turning_$S *all,
        const _pm_set_$S *set, ptrdiff_t vector, const $T *b_part, _pm_coming_$S *coming,
        _pm_copy_$S *copy)
{
    $T block[$ROWS * 64] __attribute__((aligned(64))), *to[8];
    const ptrdiff_t *const offsets = all->columns + 3 * (set->segment + 8 * vector);
    const ptrdiff_t m = all->m, n = all->n, k = all->k, c_row = all->c_row;
    const ptrdiff_t shares = set->vectors * all->groups;
    const int whole = set->j + 8 <= n, shared = all->past && !whole;
    for (ptrdiff_t group = 0; group < all->groups; group++) {
        const ptrdiff_t i = group * $ROWS, height = m - i < $ROWS ? m - i : $ROWS;
        const int direct = whole && height == $ROWS;
        if (copy->left < k && coming->begun < 8)
            _pm_turned_column_$S(all, coming, copy);
        coming->owed += 8 * coming->set.vectors;
        const int copies = coming->owed >= shares && copy->left >= k;
        coming->owed -= copies ? shares : 0;
        for (int s = 0; s < 8; s++)
            to[s] = direct ? all->c + offsets[3 * s + 1] + i * c_row + set->j : block + s * 8;
        if (shared && c_row != n && offsets[4] - offsets[1] != n)
            _pm_fetch_lines_$S(n, height, i, offsets, all->c, c_row);
        _pm_turns_$S[copies](k, all->packed + i * k, b_part, all->scale, to, direct ? c_row : 64,
                             direct && all->past, copy);
        if (!direct && shared)
            _pm_shared_lines_$S(m, n, block, all->before, height, i, vector == 0, vector + 1 == set->vectors,
                                offsets, all->turn, all->c, c_row);
        else if (!direct)
            _pm_some_rows_$S(block, height, whole ? 8 : n - set->j, offsets, all->c + i * c_row + set->j,
                             c_row);
    }
}

/* Copy A as turned blocks read it: groups of rows, of which the last row stands for those that lack. */
static void _pm_turned_rows_$S(ptrdiff_t m, ptrdiff_t groups, ptrdiff_t k, const $T *a, ptrdiff_t a_row,
        ptrdiff_t a_step, $T *packed)
{
    for (ptrdiff_t row = 0; row < groups * $ROWS; row++)
        for (ptrdiff_t step = 0; step < k; step++)
            packed[row / $ROWS * $ROWS * k + step * $ROWS + row % $ROWS] =
                a[(row < m ? row : m - 1) * a_row + step * a_step];
}

/* The product by turned blocks, of one segment of rows and of depth: whether it was one for them. */
_PM_SHARED __attribute__((noinline)) int _pm_turned_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k,
        ptrdiff_t column_count, const ptrdiff_t *columns, $T scale, const $T *a, ptrdiff_t a_row,
        ptrdiff_t a_step, const $T *b, ptrdiff_t b_step, ptrdiff_t b_column, $T *c, ptrdiff_t c_row,
        ptrdiff_t small, int large, $T *scratch)
{
    const ptrdiff_t groups = (m + $ROWS - 1) / $ROWS, part = 8 * 8 * k, packed = groups * $ROWS * k;
    const ptrdiff_t segments = column_count, deepest = $DEEP;
    if (b_column == 1 || b_step == 1 || !($PAYS) || !_pm_runs_$S(column_count, columns))
        return 0;
    const ptrdiff_t most = small / $SETS / part;
    $T *const first = scratch + (packed + 7) / 8 * 8;
    $T *const sets[2] = {first, first + most * part};
    const int past = large && _pm_is_even_$S(n, c_row, column_count, columns);
    const int turn = past ? (int)(-(uintptr_t)c % 64 / sizeof($T)) : 0;
    const _pm_turning_$S all = {m, n, k, groups, column_count, columns, scratch, b, b_step, b_column, c,
                                c_row, scale, first + 2 * most * part, past, turn};
    _pm_turned_rows_$S(m, groups, k, a, a_row, a_step, scratch);
    const _pm_set_$S none = {0, 0, 0};
    _pm_set_$S set = _pm_set_after_$S(none, n, turn, most, column_count, columns);
    _pm_coming_$S coming = {0, 0, set, set, sets[0]};
    _pm_copy_$S copy = {0};
    _pm_turned_rest_$S(&all, &coming, &copy);
    for (int odd = 0, more = 1; more; odd ^= 1, set = coming.set) {
        more = set.j + 8 < n + turn || set.segment + 8 * set.vectors < column_count;
        const _pm_set_$S next = _pm_set_after_$S(set, n, turn, most, column_count, columns);
        const _pm_set_$S after = _pm_set_after_$S(next, n, turn, most, column_count, columns);
        coming = (_pm_coming_$S){more ? 0 : 8, 0, next, after, sets[odd ^ 1]};
        for (ptrdiff_t vector = 0; vector < set.vectors; vector++)
            _pm_turned_vector_$S(&all, &set, vector, sets[odd] + vector * part, &coming, &copy);
        _pm_turned_rest_$S(&all, &coming, &copy);
    }
    if (past)
        __builtin_ia32_sfence(); /* before other threads are told that it is there */
    return 1;
}

"""


def turned_head(shape: Shape) -> str:
    """The macro that says whether there are such products: the C compiler can write past the caches."""
    s = shape.suffix
    return f"""\
{SHUFFLES}
#if _PM_WHOLE_{s} && defined(_PM_SHUFFLES)
#define _PM_TURNS_{s} 1
{prototypes(turned_text(shape))}#endif
"""


def turned_text(shape: Shape) -> str:
    """The C functions."""
    numbers = {"S": shape.suffix, "T": shape.ctype, "ROWS": ROWS, "SETS": SETS, "DEEP": shape.turns}
    numbers |= {"PAYS": in_c(PAYS)}
    types, product = (Template(text).substitute(numbers) for text in (_TYPES, _PRODUCT))
    return f"#ifdef _PM_TURNS_{shape.suffix}\n{types}{turned_blocks(shape)}{product}#endif\n"
