"""Products by packed blocks: of any segments of rows, columns and depth, beside triangles, and large ones.

`BLOCKED` gives the C function that the product of `polymat.codegen.products.gemm` uses for them: first it is
decided how large blocks are, in which order they follow each other and what is copied; then, part by part of
the depth, strips of A are multiplied by one panel of B after the other.
"""

from __future__ import annotations

_SCHEME = """\
/* Whether the next panel has whole vectors, too, and to the right of this one in the result. */
static __attribute__((noinline)) int _pm_goes_on_$S(ptrdiff_t n, ptrdiff_t vectors, ptrdiff_t panels,
        ptrdiff_t panel, const ptrdiff_t *columns)
{
    const ptrdiff_t next = panel + 1, j = _pm_before_$S(vectors, panels, next % panels) * $L;
    const ptrdiff_t here = _pm_before_$S(vectors, panels, panel % panels) * $L;
    const ptrdiff_t apart = columns[next / panels * 3 + 1] + j - columns[panel / panels * 3 + 1] - here;
    const ptrdiff_t wide = _pm_piece_$S(vectors, panels, next % panels) * $L;
    return apart == _pm_piece_$S(vectors, panels, panel % panels) * $L && n - j >= wide;
}

/* How a product is cut, and what is copied.  Of rows: strips of a segment and of all; of columns: vectors
   and panels of a segment, and panels of all.  Of the depth: pieces of a segment, groups of segments that
   follow each other, chunks, and how many of them, at most `deepest` steps, are packed together.  Of B
   `broad` panels at a time, `batch` packed together; of gathered segments about `most` elements.  Of A
   `tall` strips at a time.  resident: A is packed once.  ordered: the result is written in the order of
   memory.  cuts: blocks are those of a triangle.  past: the result is written past the caches,
   by panels that are rotated by `turn` columns. */
typedef struct {
    ptrdiff_t strips, all_strips, vectors, panels, all_panels, pieces, group, chunks, together, deepest;
    ptrdiff_t broad, batch, most, tall;
    int gathered, ordered, resident, cuts, pack_a, pack_b, past, turn;
} _pm_scheme_$S;

static inline __attribute__((always_inline)) _pm_scheme_$S _pm_scheme_of_$S(ptrdiff_t m, ptrdiff_t n,
        ptrdiff_t k, ptrdiff_t row_count, const ptrdiff_t *rows, ptrdiff_t column_count,
        const ptrdiff_t *columns, ptrdiff_t depth_count, const ptrdiff_t *depths, ptrdiff_t a_row,
        ptrdiff_t a_step, ptrdiff_t b_step, ptrdiff_t b_column, const $T *from, const $T *c, ptrdiff_t c_row,
        ptrdiff_t kc, ptrdiff_t mc, ptrdiff_t nc, ptrdiff_t small, int large, const _pm_half_$S half,
        _pm_finish_$S finish«,
        const _pm_end_$S *end»)
{
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
    const int ordered = large && place == 0 && finish == NULL && row_count > 1 && chunks <= together
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
    const int along = row_count == 1 && (double)m * (double)n > (double)small
                   && (gathered ? all_strips > 4 /* or nothing is gained */
                                : (broad < all_panels ? broad : all_panels) * ($V * $L) * deepest <= small);
    const ptrdiff_t tall = ordered && n == c_row && strips < tallest ? strips
                         : _pm_share_$S(all_strips, (along || ordered) && tallest > 2 ? 2 : tallest);
    /* Whether A is packed once. */
    const int resident = once || ordered
                      || (place == 0 && (gathered || all_strips <= tall) && chunks <= together);
    const int cuts = place != 0 && half.mirror == NULL;
    /* Few panels do not pay for a copy of A: where its depth is contiguous, one segment follows the other.
       Windows that overlap are never copied, since a copy has what they share several times. */
    const int walks = $WALKS && a_step == 1 && depth_count > 1 && !gathers;
    const int as_it_is = walks || (place == 0 && a_step == 1 && all_panels <= 2 && k >= 64);
    const int pack_a = (depth_count > 1 && !as_it_is) || (place == 1 && !cuts)
                    || (!walks && all_panels >= 16)
                    || (!walks && (all_panels > 2 || a_step != 1) && m * row_count * k > small / 2);
    /* Beside a triangle of A or C, rows of B that the second level holds are read where they are. */
    const int one = column_count == 1 && depth_count == 1 && b_column == 1;
    const int stays = walks && _pm_stays_$S(&cut, depths, n, column_count, b_step, b_column, small);
    const int pack_b = !stays && (!one || place == 0 || place == 2
                                  || (double)k * (double)n > 2.0 * (double)small);
    /* Past the caches where rows are long or begin with a line: their ends beside lines are stored slowly. */
    const int is_long = n >= 4 * ($V * $L) || (column_count > 1 && columns[4] - columns[1] == n)
                     || (size_t)c % (sizeof($T) * $L) == 0;
    const int streams = _PM_WHOLE_$S && large && place == 0 && finish == NULL && from == NULL && chunks > 0
                     && chunks <= together && pack_a && pack_b && c_row % $L == 0;
    int turn = 0; /* columns that panels are rotated by, so that those begin with a line of the result */
#if _PM_WHOLE_$S
    const int segments = broad >= panels && (gathered || batch % panels == 0); /* are packed as wholes */
    if (streams && segments« && end == NULL» && m % $R == 0
            && _pm_rows_join_$S(n, c_row, row_count, rows, column_count, columns))
        turn = (int)(-(uintptr_t)c % 64 / sizeof($T));
#else
    (void)rows;
«    (void)end;
»#endif
    const int past = streams && (turn > 0 || is_long)
                  && (n % $L == 0 || n >= 5 * ($V * $L)); /* or many lines are written in two ways */
    const _pm_scheme_$S found = {strips, all_strips, vectors, panels, all_panels, pieces, group, chunks,
                                 together, deepest, broad, batch, most, tall, gathered, ordered, resident,
                                 cuts, pack_a, pack_b, past, turn};
    return found;
}

"""
_PANEL = """\
/* A part of a product: chunks of the depth, from step k_0 on, and strips of A, which lie `a_apart` elements
   from each other where they are packed.  carry: what blocks hand to those on their right. */
typedef struct {
    ptrdiff_t chunk_0, chunk_1, k_0, depth, strip_0, strip_1, a_apart;
    const $T *a_packed;
    $T *carry;
} _pm_part_$S;

/* A panel of B: where its segment lies, its first column there, its vectors, and the columns that it has; its
   elements and the step of its depth; whether blocks follow others, and others them, in rows of the result,
   and whether it is the last of its segment; what each block requests. */
typedef struct {
    const ptrdiff_t *across;
    ptrdiff_t j, wide, filled;
    const $T *elements;
    ptrdiff_t step;
    int follows, goes_on, is_last;
    const char *next;
    ptrdiff_t pace;
} _pm_panel_$S;

/* The strips of a part times a panel; upcoming, rows_next: what is packed next, where that is requested. */
static inline __attribute__((always_inline)) void _pm_strips_by_panel_$S(ptrdiff_t m,
        const ptrdiff_t *rows, ptrdiff_t depth_count, const ptrdiff_t *depths, $T scale, const $T *a,
        ptrdiff_t a_row, ptrdiff_t a_step, ptrdiff_t b_step, $T beta, const $T *from, ptrdiff_t from_row,
        $T *c, ptrdiff_t c_row, const _pm_half_$S half,
        const _pm_scheme_$S *how, const _pm_depth_$S *cut, const _pm_part_$S *part,
        const _pm_panel_$S *panel, _pm_ahead_$S *upcoming, _pm_rows_ahead_$S *rows_next«,
        const _pm_end_$S *ending»)
{
    const int place = $HALVES ? half.place : 0, begins = part->chunk_0 == 0;
    const ptrdiff_t lower = m / how->strips, higher = m - lower * how->strips; /* rows; one more in some */
    const ptrdiff_t depth = part->depth, j = panel->j, wide = panel->wide, filled = panel->filled;
    const ptrdiff_t last = filled - (wide - 1) * $L, start_row = begins ? from_row : c_row;
    const $T added = begins ? beta : 1;
    const int is_full = filled == $V * $L;
    const char *next = panel->next;
    ptrdiff_t pace = panel->pace, segment = part->strip_0 / how->strips, within = part->strip_0 % how->strips;
#if _PM_WHOLE_$S
    $T *below = NULL; /* where the rows after those of the last strip begin */
#endif
    for (ptrdiff_t strip = part->strip_0; strip < part->strip_1; strip++) {
        const ptrdiff_t *const down = rows + segment * 3;
        const ptrdiff_t i = within * lower + (within < higher ? within : higher);
        const ptrdiff_t height = lower + (within < higher);
        const ptrdiff_t across = how->pack_a ? 1 : a_row, along = how->pack_a ? height : a_step;
        const $T *a_strip = part->a_packed + (strip - part->strip_0) * part->a_apart;
        $T *const target = c + down[1] + i * c_row + panel->across[1] + j + how->turn;
        const $T *start = target;
        if (begins)
            start = from == NULL ? NULL : from + down[2] + i * from_row + panel->across[2] + j;
        if (upcoming->calls > 0) {
            next = _pm_request_column_$S(upcoming);
            pace = next == NULL ? 0 : b_step * (int)sizeof($T);
            next = next == NULL ? (const char *)panel->elements : next;
        }
        if (rows_next->each > 0) {
            next = _pm_request_row_$S(rows_next);
            pace = next == NULL ? 0 : rows_next->pace;
            next = next == NULL ? (const char *)panel->elements : next;
        }
        if (!how->pack_a)
            a_strip = a + down[0] + i * a_row + part->k_0 * a_step;
        if (how->cuts && place == 3)
            _pm_cut_$S(&half, i, height, j, filled, depth, a_strip, across, along, panel->elements,
                       panel->step, scale, added, start, start_row, target, c_row);
        else if (how->cuts)
            _pm_sum_half_$S(&half, i, height, j, filled, part->k_0, part->k_0 + depth, begins, a_strip,
                            across, along, panel->elements, panel->step, scale, added, start, start_row,
                            target, c_row, next, pace);
#if _PM_WHOLE_$S
        else if (how->past && height == $R && filled == wide * $L) {
            const int joins = how->turn > 0 && panel->is_last, above = target == below;
            const int more = strip + 1 < part->strip_1
                          && (within + 1 < how->strips || down[4] - down[1] == m * c_row);
            below = target + height * c_row;
            _pm_pasts_$S[wide - 1](depth, a_strip, panel->elements, scale, target, c_row, next, pace,
                                   joins ? part->carry : part->carry + (strip - part->strip_0) * ($R * $L),
                                   joins ? above : panel->follows, joins ? more : panel->goes_on,
                                   joins ? how->turn : 0«, ending»);
        }
#endif
        else if (how->pack_a && how->pack_b && height == $R && is_full)
            _pm_full_$S(depth, a_strip, panel->elements, scale, added, start, start_row, target, c_row, next,
                        pace«, ending»);
        else if (how->pack_a || depth_count <= 1 || how->chunks == 0)
            _pm_blocks_$S[wide - 1][height - 1](depth, a_strip, across, along, panel->elements, panel->step,
                                                scale, added, start, start_row, target, c_row, (int)last«,
                                                ending»);
        else
            _pm_walk_over_$S(cut, depths, part->chunk_0, part->chunk_1, wide, height,
                             a + down[0] + i * a_row, a_row, panel->elements, panel->step, scale, added,
                             start, start_row, target, c_row, (int)last«, ending»);
        next += pace * depth;
        if (++within == how->strips) {
            within = 0;
            segment++;
        }
    }
}

"""
_WHOLE = """\
/* The product of `_pm_gemm_$S` by packed blocks. */
_PM_SHARED __attribute__((noinline)) void _pm_blocked_$S($PARAMETERS«,
        const _pm_end_$S *end»)
{
    const _pm_scheme_$S how = _pm_scheme_of_$S(m, n, k, row_count, rows, column_count, columns, depth_count,
                                                depths, a_row, a_step, b_step, b_column, from, c, c_row, kc,
                                                mc, nc, small, large, half, finish«, end»);
    const int place = $HALVES ? half.place : 0;
    const ptrdiff_t all_strips = how.all_strips, all_panels = how.all_panels, panels = how.panels;
    const ptrdiff_t vectors = how.vectors, least = vectors / panels, chunks = how.chunks;
    const _pm_depth_$S cut = {depth_count, k, how.pieces, how.group};
    _pm_ahead_$S upcoming = {0};
    for (ptrdiff_t panel_0 = 0, panel_1; panel_0 < all_panels; panel_0 = panel_1) {
        panel_1 = panel_0 + how.broad < all_panels ? panel_0 + how.broad : all_panels;
        if (how.gathered) {
            const ptrdiff_t until = _pm_batch_$S(panel_0, all_panels, panels, ($V * $L) * how.deepest,
                                                 how.most, columns, b, b_column, b_step);
            panel_1 = until < panel_1 ? until : panel_1;
        }
        if (how.turn > 0) {
            const ptrdiff_t whole = (panel_1 - panel_0) / panels;
            panel_1 = panel_0 + (whole > 1 ? whole : 1) * panels;
        }
        ptrdiff_t chunk_0 = 0;
        do {
            const ptrdiff_t chunk_1 = chunk_0 + how.together < chunks ? chunk_0 + how.together : chunks;
            const int complete = finish != NULL && chunk_0 + how.together >= chunks;
«            const _pm_end_$S *const ending = chunk_0 + how.together >= chunks ? end : NULL;
»            ptrdiff_t depth = 0;
            for (ptrdiff_t chunk = chunk_0; chunk < chunk_1; chunk++)
                depth += _pm_chunk_of_$S(&cut, chunk).length;
            const _pm_chunk_$S begin = chunks == 0 ? (_pm_chunk_$S){0} : _pm_chunk_of_$S(&cut, chunk_0);
            const ptrdiff_t k_0 = begin.begin, k_1 = k_0 + depth;
            const ptrdiff_t b_0 = chunks == 0 ? 0 : depths[2 * begin.segment + 1] + k_0 * b_step;
            const int idle = how.cuts && place == 1
                          && _pm_is_empty_$S(_pm_spans_of_$S(&half, 0, m, k_0, k_1));
            const ptrdiff_t a_apart = _pm_apart_$S($R, depth), b_apart = _pm_apart_$S($V * $L, depth);
            $T *const b_packed = scratch;
            $T *const a_packed = scratch + (how.broad < all_panels ? how.broad : all_panels) * b_apart;
            const ptrdiff_t kept = how.resident || all_strips < how.tall ? all_strips : how.tall;
            const _pm_lines_$S left = {m, how.strips, 1, $R, chunk_0, chunk_1, a_apart, &cut, depths};
            const _pm_lines_$S right = {n, panels, $L, $V * $L, chunk_0, chunk_1, b_apart, &cut,
                                        depths + 1};
            _pm_rows_ahead_$S rows_next = {0};
            const ptrdiff_t panel_2 = panel_1 + how.broad < all_panels ? panel_1 + how.broad : all_panels;
            if (place == 0 && how.pack_b && b_column == 1 && !how.gathered && chunks <= how.together
                    && panel_1 < panel_2)
                rows_next = _pm_rows_ahead_of_$S(&right, panel_1, panel_2, depth,
                                                 (panel_1 - panel_0) * all_strips, columns, b + b_0, b_step);
            ptrdiff_t packed = panel_0;
            for (ptrdiff_t strip_0 = 0; strip_0 < all_strips; strip_0 += how.tall) {
                const ptrdiff_t strip_1 = strip_0 + how.tall < all_strips ? strip_0 + how.tall : all_strips;
                $T *const a_strips = a_packed + (how.resident ? strip_0 : 0) * a_apart;
                const _pm_part_$S part = {chunk_0, chunk_1, k_0, depth, strip_0, strip_1, a_apart, a_strips,
                                          a_packed + kept * a_apart};
                if (how.pack_a && !(how.resident && panel_0 > 0) && !(how.ordered && strip_0 > 0))
                    _pm_pack_left_$S(&left, &half, strip_0, how.ordered ? all_strips : strip_1, rows, k_0,
                                     k_1, a, a_row, a_step, a_strips);
                const ptrdiff_t most = small / 4 / ((strip_1 - strip_0) * $R); /* columns handed over */
                ptrdiff_t column = _pm_before_$S(vectors, panels, panel_0 % panels) * $L;
                ptrdiff_t here = panel_0 % panels, j = column, wide = 0;
                const ptrdiff_t *across = columns + panel_0 / panels * 3;
                int goes_on = 0;
                for (ptrdiff_t panel = panel_0; panel < panel_1; panel++, here++, j += wide * $L) {
                    if (here == panels) {
                        across += 3;
                        here = j = 0;
                    }
                    wide = least + (here < vectors - least * panels);
                    const ptrdiff_t filled = n - j < wide * $L ? n - j : wide * $L;
                    $T *const copied = b_packed + (panel - panel_0) * b_apart;
                    const $T *const b_panel = how.pack_b ? copied : b + across[0] + b_0 + j;
                    const int follows = goes_on;
                    goes_on = how.past && how.turn == 0 && filled == wide * $L && panel + 1 < panel_1
                           && _pm_goes_on_$S(n, vectors, panels, panel, columns);
                    const int empty = idle || (place == 3
                            && _pm_is_empty_$S(_pm_spans_of_$S(&half, 0, m, j, j + filled)));
                    if (strip_0 == 0 && place == 2)
                        _pm_pack_half_$S(&half, j, filled, k_0, k_1, b + j * b_column, b_column, b_step,
                                         copied, wide * $L);
                    else if (strip_0 == 0 && how.pack_b && !empty && (place == 3 || panel == packed)) {
                        packed = place == 3 ? panel + 1
                               : how.gathered ? panel_1 : (panel / how.batch + 1) * how.batch;
                        packed = packed < panel_1 ? packed : panel_1;
                        _pm_pack_all_$S(&right, panel, packed, columns, b, b_column, b_step, copied);
#if _PM_WHOLE_$S
                        if (how.turn > 0)
                            _pm_rotate_$S(&right, panel, packed, depth, how.turn, copied);
#endif
                    }
                    if (how.gathered && strip_0 == 0 && panel == panel_0 && chunks <= how.together)
                        upcoming = _pm_ahead_of_$S(
                            &right, panel_1,
                            _pm_batch_$S(panel_1, all_panels, panels, ($V * $L) * how.deepest, how.most,
                                         columns, b, b_column, b_step),
                            (panel_1 - panel_0) * all_strips, columns, b, b_column, b_step);
                    /* Each of the strips asks for its part of the next panel, where that is packed. */
                    const int ahead = how.pack_b && strip_0 > 0 && panel + 1 < panel_1;
                    const _pm_panel_$S now = {
                        across, j, wide, filled, b_panel, how.pack_b ? wide * $L : b_step, follows, goes_on,
                        here + 1 == panels, (const char *)(ahead ? b_panel + b_apart : b_panel),
                        ahead ? ($V * $L) * (int)sizeof($T) / (strip_1 - strip_0) : 0};
                    _pm_strips_by_panel_$S(m, rows, depth_count, depths, scale, a, a_row, a_step, b_step,
                                           beta, from, from_row, c, c_row, half, &how, &cut, &part, &now,
                                           &upcoming, &rows_next«, ending»);
                    const ptrdiff_t j_end = j + filled;
                    if (complete && (j_end == n || panel + 1 == panel_1 || j_end - column >= most)) {
                        _pm_finish_rows_$S(m, how.strips, strip_0, strip_1, panel / panels, column, j_end,
                                           finish, around);
                        column = j_end == n ? 0 : j_end;
                    }
                }
            }
            chunk_0 += how.together;
        } while (chunk_0 < chunks);
    }
#if _PM_WHOLE_$S
    if (how.past)
        __builtin_ia32_sfence(); /* before other threads are told that it is there */
#endif
}

"""
BLOCKED = _SCHEME + _PANEL + _WHOLE
