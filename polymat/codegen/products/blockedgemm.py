"""Products by packed blocks: of any segments of rows, columns and depth, beside triangles, and large ones.

`BLOCKED` gives the C function that the product of `polymat.codegen.products.gemm` uses for them: first it is
decided how large blocks are, in which order they follow each other and what is copied; then, part by part of
the depth, strips of A are multiplied by one panel of B after the other.
"""

from __future__ import annotations

from polymat.codegen.products.ways import packed
from polymat.product.packs import BLOCKED_LEFT, BLOCKED_RIGHT

_SCHEME = """\
/* How a product is cut. */
static inline __attribute__((always_inline)) _pm_scheme_$S _pm_scheme_of_$S(const _pm_product_$S *all)
{
    const ptrdiff_t m = all->m, n = all->n, k = all->k, row_count = all->row_count;
    const ptrdiff_t column_count = all->column_count, depth_count = all->depth_count;
    const ptrdiff_t *const columns = all->columns, *const depths = all->depths;
    const ptrdiff_t a_row = all->a_row, a_step = all->a_step, b_step = all->b_step, b_column = all->b_column;
    const $T *const c = all->c;
    const ptrdiff_t c_row = all->c_row, kc = all->kc, mc = all->mc, nc = all->nc, small = all->small;
    const int large = all->large;
    const _pm_half_$S half = all->half;
    const int place = $HALVES ? half.place : 0; /* known to the compiler where there are no triangles */
    const ptrdiff_t strips = (m + $R - 1) / $R, all_strips = strips * row_count;
    const ptrdiff_t vectors = (n + $L - 1) / $L, panels = (vectors + $V - 1) / $V;
    const ptrdiff_t all_panels = panels * column_count;
    const int gathers = depth_count >= $G
                     && ((a_row != 1 && a_step != 1 && _pm_neighbours_$S(depths, 2, 0, $G) == $G)
                         || (b_column != 1 && b_step != 1 && _pm_neighbours_$S(depths + 1, 2, 0, $G) == $G));
    const ptrdiff_t group = gathers ? $G : 1, most_deep = kc / group;
    const ptrdiff_t pieces = k <= 0 ? 1 : (k + most_deep - 1) / most_deep;
    const ptrdiff_t chunks = k <= 0 || depth_count <= 0 ? 0 : pieces * depth_count;
    const ptrdiff_t together = chunks == 0 ? 1 : kc / ((k + pieces - 1) / pieces) / group * group;
    const _pm_depth_$S cut = {depth_count, k, pieces, group};
    const ptrdiff_t most_chunks = chunks < together ? chunks : together;
    const ptrdiff_t deepest = chunks == 0 ? 1 : most_chunks * ((k + pieces - 1) / pieces);
    /* Where there is little depth the blocks are larger the other way; a small part of B is used at a
       time, so that its copy stays in the second level, where A is packed once or is small. */
    const ptrdiff_t tallest = mc * (kc / deepest) / $R;
    const int fits = all_strips <= tallest, near = mc < nc && fits && mc * (kc / deepest) >= 20 * ($V * $L);
    const int beside = b_column != 1 && b_step != 1 && column_count >= $G;
    /* B is packed a few panels at a time, before they are used; neighbouring segments have to be together.
       Where A is packed only once, no panel is used again: further ones only push the others out. */
    const ptrdiff_t few = small / 4 / ($V * $L * deepest) > 1 ? small / 4 / ($V * $L * deepest) : 1;
    const int once = place == 0 && !beside && fits && chunks <= together;
    /* Segments of rows of a result that does not stay are written in the order of memory: of a part of B all
       panels by a few strips of A, which is packed as a whole. */
    const int ordered = large && place == 0 && all->finish == NULL && row_count > 1 && chunks <= together
                     && (double)(all_strips * $R) * (double)deepest <= (double)nc * (double)kc;
    const ptrdiff_t widest = ordered ? 2 * few
                           : once ? few : (near ? mc / 4 : nc) * (kc / deepest) / ($V * $L);
    const ptrdiff_t batch = beside ? $G * panels : b_column == 1 ? few : 1;
    const ptrdiff_t wanted = (_pm_share_$S(all_panels, widest) + batch - 1) / batch * batch;
    const ptrdiff_t equal = widest < batch ? widest : wanted < widest ? wanted : widest / batch * batch;
    /* Where segments are gathered, long runs of them count, more than that their copy stays in the second
       level. */
    const int gathered = near && beside && place == 0;
    const ptrdiff_t most_panels = nc * (kc / deepest) / ($V * $L), packed_a = all_strips * $R * deepest;
    const ptrdiff_t most = small - packed_a > small / 4 ? (small - packed_a) * 4 / 3 : small / 3;
    const ptrdiff_t broad = gathered ? most_panels : equal;
    /* Where the packed B stays in the second level, a result that does not is walked along its rows. */
    const int walked = row_count == 1 && (double)m * (double)n > (double)small
                   && (gathered ? all_strips > 4 /* or nothing is gained */
                                : (broad < all_panels ? broad : all_panels) * ($V * $L) * deepest <= small);
    const ptrdiff_t tall = ordered && n == c_row && strips < tallest ? strips
                         : _pm_share_$S(all_strips, (walked || ordered) && tallest > 2 ? 2 : tallest);
    /* Whether A is packed once. */
    const int resident = once || ordered
                      || (place == 0 && (gathered || all_strips <= tall) && chunks <= together);
    const int cuts = place != 0 && half.mirror == NULL;
    /* What is copied, by the conditions that Python evaluates, too. */
    const ptrdiff_t depth_segments = depth_count, column_segments = column_count, height = m * row_count;
    const int along = a_step == 1, in_order = b_column == 1, mirrored = half.mirror != NULL;
    const int windows = $WALKS && along && depth_count > 1 && !gathers, is_large = k * n > 2 * small;
    const int stays = windows && _pm_stays_$S(&cut, depths, n, column_count, b_step, b_column, small);
    const int pack_a = $PACK_A;
    const int pack_b = $PACK_B;
    /* Past the caches where rows are long or begin with a line: their ends beside lines are stored slowly. */
    const int is_long = n >= 4 * ($V * $L) || (column_count > 1 && columns[4] - columns[1] == n)
                     || (size_t)c % (sizeof($T) * $L) == 0;
    const int streams = _PM_WHOLE_$S && large && place == 0 && all->finish == NULL && all->from == NULL
                     && chunks > 0 && chunks <= together && pack_a && pack_b && c_row % $L == 0;
    int turn = 0; /* columns that panels are rotated by, so that those begin with a line of the result */
#if _PM_WHOLE_$S
    const int segments = broad >= panels && (gathered || batch % panels == 0); /* are packed as wholes */
    if (streams && segments && all->end == NULL && m % $R == 0
            && _pm_rows_join_$S(n, c_row, row_count, all->rows, column_count, columns))
        turn = (int)(-(uintptr_t)c % 64 / sizeof($T));
#endif
    const int past = streams && (turn > 0 || is_long)
                  && (n % $L == 0 || n >= 5 * ($V * $L)); /* or many lines are written in two ways */
    const _pm_scheme_$S found = {strips, all_strips, vectors, panels, all_panels, pieces, group, chunks,
                                 together, deepest, broad, batch, most, tall, gathered, ordered, resident,
                                 cuts, pack_a, pack_b, past, turn};
    return found;
}

"""
WHOLE = """\
/* The product of `_pm_gemm_$S` by packed blocks. */
_PM_SHARED __attribute__((noinline)) void _pm_blocked_$S(const _pm_product_$S *all)
{
    const _pm_scheme_$S how = _pm_scheme_of_$S(all);
    _PM_PACKS(how.pack_a, how.pack_b);
    _pm_in_blocks_$S(all, &how);
}

"""
SCHEME = _SCHEME.replace("$PACK_A", packed(BLOCKED_LEFT)).replace("$PACK_B", packed(BLOCKED_RIGHT))
