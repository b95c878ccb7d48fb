"""Contractions as products of two matrices around register blocks: packing, blocks for the caches.

`gemm_text` gives the C function `_pm_gemm_f64` or `_pm_gemm_f32`:

    C[i, j] = scale * sum over k of A[i, k] * B[k, j]  +  beta * From[i, j]

where an index may stand for several dimensions: i runs over segments of rows of one stride, with positions in
A, C and From in a table, and so do j and k.  Packing thereby takes apart transposed, strided and shifted
tensors (as TBLIS does), and makes a convolution a product (implicit GEMM).

The blocking is that of Goto and van de Geijn, as in BLIS: of B, panels of a few vectors of columns times kc
are packed, nc columns at a time, each right before it is first used; of A, strips of a few rows times kc, mc
rows at a time; and the register block runs over both.  While a block of A is multiplied by one panel the next
one is requested, so that the packed B may lie in memory.  Of one segment what is at most twice the
second-level cache is not packed, as register blocks read any strides; nor is B packed nc columns at a time
where A is contiguous along its depth or its rows, see `polymat.codegen.tallgemm`.

Who reads the result point by point may be called with every part of it as soon as that is complete, in the
second-level cache: an epilogue.  Parts are as wide as that allows, as its loops are best over long rows.
"""

from __future__ import annotations

from string import Template

from polymat.codegen.ahead import AHEAD
from polymat.codegen.blockshape import Shape
from polymat.codegen.direct import DIRECT
from polymat.codegen.edges import edges
from polymat.codegen.halfgemm import HALF
from polymat.codegen.microkernel import microkernels
from polymat.codegen.narrowgemm import NARROW, row_sums
from polymat.codegen.packing import PACKING
from polymat.codegen.pastblock import past_blocks
from polymat.codegen.smallgemm import SMALL
from polymat.codegen.tallgemm import TALL
from polymat.codegen.windows import WINDOWS
from polymat.tilesize.blocks import LEAST_STRIPS, PASSED_EIGHTHS
from polymat.tilesize.copying import NARROW_COLUMNS, NARROW_ROWS, NARROW_VECTORS
from polymat.tilesize.kernel import MOST_UNROLLED

_PRODUCT = """\
static const ptrdiff_t _pm_origin_$S[3] = {0, 0, 0};
/* Bytes of scratch that a product needs: none where neither B nor C has more than 2 `small` elements.  m and
   n count what rounding up to whole register blocks adds. */
static inline double _pm_room_$S(double m, double n, double k, double kc, double mc, double nc, double small)
{
    if (n * k <= 2.0 * small && m * n <= 2.0 * small)
        return 0.0;
    const double depth = k < kc ? k : kc, a = m * depth, b = n * depth;
    /* Of the blocks' largest extents; between strips and panels lies a line or two. */
    const double rows = m < 2 * nc * kc / depth ? m : 2 * nc * kc / depth;
    const double columns = n < 2 * nc * kc / depth ? n : 2 * nc * kc / depth;
    return sizeof($T) * ((a < nc * kc ? a : nc * kc) + (b < nc * kc ? b : nc * kc) + $V * $L * kc)
         + 128.0 * (rows / $R + columns / ($V * $L) + 2) + sizeof($T) * $L * (rows + $R);
}

/* Hand over the rows of strips first..last - 1, which may belong to several segments, at some columns. */
static void _pm_finish_rows_$S(ptrdiff_t m, ptrdiff_t strips, ptrdiff_t first, ptrdiff_t last,
        ptrdiff_t column_segment, ptrdiff_t j, ptrdiff_t j_end, _pm_finish_$S finish, void *const *around)
{
    for (ptrdiff_t strip = first; strip < last;) {
        const ptrdiff_t segment = strip / strips, within = strip % strips;
        const ptrdiff_t next = (segment + 1) * strips < last ? (segment + 1) * strips : last;
        const ptrdiff_t lowest = within + next - strip - 1;
        finish(around, segment, _pm_before_$S(m, strips, within),
               _pm_before_$S(m, strips, lowest) + _pm_piece_$S(m, strips, lowest), column_segment, j, j_end);
        strip = next;
    }
}

"""

_BLOCKED = """\
/* Whether the next panel has whole vectors, too, and to the right of this one in the result. */
static int _pm_goes_on_$S(ptrdiff_t n, ptrdiff_t vectors, ptrdiff_t panels, ptrdiff_t panel,
        const ptrdiff_t *columns)
{
    const ptrdiff_t next = panel + 1, j = _pm_before_$S(vectors, panels, next % panels) * $L;
    const ptrdiff_t here = _pm_before_$S(vectors, panels, panel % panels) * $L;
    const ptrdiff_t apart = columns[next / panels * 3 + 1] + j - columns[panel / panels * 3 + 1] - here;
    const ptrdiff_t wide = _pm_piece_$S(vectors, panels, next % panels) * $L;
    return apart == _pm_piece_$S(vectors, panels, panel % panels) * $L && n - j >= wide;
}

/* The product of `_pm_gemm_$S` by packed blocks. */
static __attribute__((noinline)) void _pm_blocked_$S($PARAMETERS)
{
    const int place = $HALVES ? half.place : 0; /* known to the compiler where there are no triangles */
    const ptrdiff_t strips = (m + $R - 1) / $R, all_strips = strips * row_count;
    const ptrdiff_t lower = m / strips, higher = m - lower * strips; /* rows of a strip, one more in some */
    const ptrdiff_t vectors = (n + $L - 1) / $L, panels = (vectors + $V - 1) / $V;
    const ptrdiff_t least = vectors / panels, all_panels = panels * column_count;
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
                     && (double)all_strips * $R * deepest <= (double)nc * kc;
    const ptrdiff_t widest = ordered ? 2 * few
                           : once ? few : (near ? mc / 4 : nc) * (kc / deepest) / ($V * $L);
    const ptrdiff_t batch = beside ? $G * panels : b_column == 1 ? few : 1;
    const ptrdiff_t wanted = (_pm_share_$S(all_panels, widest) + batch - 1) / batch * batch;
    const ptrdiff_t equal = widest < batch ? widest : wanted < widest ? wanted : widest / batch * batch;
    /* Where segments are gathered, long runs of them count, more than that their copy stays in the second
       level. */
    const int gathered = near && beside && place == 0, most_panels = nc * (kc / deepest) / ($V * $L);
    const ptrdiff_t packed_a = all_strips * $R * deepest;
    const ptrdiff_t most = small - packed_a > small / 4 ? (small - packed_a) * 4 / 3 : small / 3;
    const ptrdiff_t broad = gathered ? most_panels : equal;
    /* Where the packed B stays in the second level, a result that does not is walked along its rows. */
    const int along = row_count == 1 && (double)m * n > small
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
    const int pack_b = !stays && (!one || place == 0 || place == 2 || (double)k * n > 2.0 * small);
    /* Past the caches where rows are long or begin with a line: their ends beside lines are stored slowly. */
    const int is_long = n >= 4 * ($V * $L) || (column_count > 1 && columns[4] - columns[1] == n)
                     || (size_t)c % (sizeof($T) * $L) == 0;
    const int past = _PM_WHOLE_$S && large && place == 0 && finish == NULL && from == NULL && chunks > 0
                  && chunks <= together && pack_a && pack_b && c_row % $L == 0 && is_long
                  && (n % $L == 0 || n >= 5 * ($V * $L)); /* or many lines are written in two ways */
    _pm_ahead_$S upcoming = {0};
    for (ptrdiff_t panel_0 = 0, panel_1; panel_0 < all_panels; panel_0 = panel_1) {
        panel_1 = panel_0 + broad < all_panels ? panel_0 + broad : all_panels;
        if (gathered) {
            const ptrdiff_t end = _pm_batch_$S(panel_0, all_panels, panels, ($V * $L) * deepest, most,
                                               columns, b, b_column, b_step);
            panel_1 = end < panel_1 ? end : panel_1;
        }
        ptrdiff_t chunk_0 = 0;
        do {
            const ptrdiff_t chunk_1 = chunk_0 + together < chunks ? chunk_0 + together : chunks;
            const int complete = finish != NULL && chunk_0 + together >= chunks;
            ptrdiff_t depth = 0;
            for (ptrdiff_t chunk = chunk_0; chunk < chunk_1; chunk++)
                depth += _pm_chunk_of_$S(&cut, chunk).length;
            const _pm_chunk_$S begin = chunks == 0 ? (_pm_chunk_$S){0} : _pm_chunk_of_$S(&cut, chunk_0);
            const ptrdiff_t k_0 = begin.begin, k_1 = k_0 + depth;
            const ptrdiff_t b_0 = chunks == 0 ? 0 : depths[2 * begin.segment + 1] + k_0 * b_step;
            const int idle = cuts && place == 1
                          && _pm_is_empty_$S(_pm_spans_of_$S(&half, 0, m, k_0, k_1));
            const ptrdiff_t a_apart = _pm_apart_$S($R, depth), b_apart = _pm_apart_$S($V * $L, depth);
            $T *const b_packed = scratch;
            $T *const a_packed = scratch + (broad < all_panels ? broad : all_panels) * b_apart;
            const ptrdiff_t strips_kept = resident || all_strips < tall ? all_strips : tall;
            $T *const carry = a_packed + strips_kept * a_apart;
            const _pm_lines_$S left = {m, strips, 1, $R, chunk_0, chunk_1, a_apart, &cut, depths};
            const _pm_lines_$S right = {n, panels, $L, $V * $L, chunk_0, chunk_1, b_apart, &cut, depths + 1};
            ptrdiff_t packed = panel_0;
            for (ptrdiff_t strip_0 = 0; strip_0 < all_strips; strip_0 += tall) {
                const ptrdiff_t strip_1 = strip_0 + tall < all_strips ? strip_0 + tall : all_strips;
                const ptrdiff_t first = resident ? 0 : strip_0; /* of the strips in a_packed */
                if (pack_a && place != 1 && !(resident && panel_0 > 0) && !(ordered && strip_0 > 0))
                    _pm_pack_all_$S(&left, strip_0, ordered ? all_strips : strip_1, rows, a, a_row, a_step,
                                    a_packed + (strip_0 - first) * a_apart);
                for (ptrdiff_t strip = strip_0; pack_a && place == 1 && strip < strip_1; strip++) {
                    const ptrdiff_t i = _pm_line_$S(&left, strip), height = _pm_width_$S(&left, strip);
                    _pm_pack_half_$S(&half, i, height, k_0, k_1, a + i * a_row, a_row, a_step,
                                     a_packed + (strip - strip_0) * a_apart, height);
                }
                const ptrdiff_t most = small / 4 / ((strip_1 - strip_0) * $R); /* columns of a part */
                ptrdiff_t part = _pm_before_$S(vectors, panels, panel_0 % panels) * $L;
                ptrdiff_t here = panel_0 % panels, j = part, wide = 0;
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
                    const $T *const b_panel = pack_b ? copied : b + across[0] + b_0 + j;
                    const ptrdiff_t b_row = pack_b ? wide * $L : b_step;
                    const int follows = goes_on, is_full = filled == $V * $L, is_whole = filled == wide * $L;
                    goes_on = past && is_whole && panel + 1 < panel_1
                           && _pm_goes_on_$S(n, vectors, panels, panel, columns);
                    const int empty = idle || (place == 3
                            && _pm_is_empty_$S(_pm_spans_of_$S(&half, 0, m, j, j + filled)));
                    if (strip_0 == 0 && place == 2)
                        _pm_pack_half_$S(&half, j, filled, k_0, k_1, b + j * b_column, b_column, b_step,
                                         copied, wide * $L);
                    else if (strip_0 == 0 && pack_b && !empty && (place == 3 || panel == packed)) {
                        packed = place == 3 ? panel + 1 : gathered ? panel_1 : (panel / batch + 1) * batch;
                        packed = packed < panel_1 ? packed : panel_1;
                        _pm_pack_all_$S(&right, panel, packed, columns, b, b_column, b_step, copied);
                    }
                    /* Each of the strips asks for its part of the next panel, where that is packed. */
                    const int ahead = pack_b && strip_0 > 0 && panel + 1 < panel_1;
                    const char *next = (const char *)(ahead ? b_panel + b_apart : b_panel);
                    ptrdiff_t pace = ahead ? ($V * $L) * (int)sizeof($T) / (strip_1 - strip_0) : 0;
                    if (gathered && strip_0 == 0 && panel == panel_0 && chunks <= together)
                        upcoming = _pm_ahead_of_$S(
                            &right, panel_1,
                            _pm_batch_$S(panel_1, all_panels, panels, ($V * $L) * deepest, most, columns, b,
                                         b_column, b_step),
                            (panel_1 - panel_0) * all_strips, columns, b, b_column, b_step);
                    ptrdiff_t segment = strip_0 / strips, within = strip_0 % strips;
                    for (ptrdiff_t strip = strip_0; strip < strip_1; strip++) {
                        const ptrdiff_t *const down = rows + segment * 3;
                        const ptrdiff_t i = within * lower + (within < higher ? within : higher);
                        const ptrdiff_t height = lower + (within < higher);
                        $T *const target = c + down[1] + i * c_row + across[1] + j;
                        const $T *start = target, *a_strip = a_packed + (strip - first) * a_apart;
                        if (chunk_0 == 0)
                            start = from == NULL ? NULL : from + down[2] + i * from_row + across[2] + j;
                        if (upcoming.calls > 0) {
                            next = _pm_request_column_$S(&upcoming);
                            pace = next == NULL ? 0 : b_step * (int)sizeof($T);
                            next = next == NULL ? (const char *)b_panel : next;
                        }
                        if (!pack_a)
                            a_strip = a + down[0] + i * a_row + k_0 * a_step;
                        if (cuts && place == 3)
                            _pm_cut_$S(&half, i, height, j, filled, depth, a_strip, pack_a ? 1 : a_row,
                                       pack_a ? height : a_step, b_panel, b_row, scale,
                                       chunk_0 == 0 ? beta : 1, start, chunk_0 == 0 ? from_row : c_row,
                                       target, c_row);
                        else if (cuts)
                            _pm_sum_half_$S(&half, i, height, j, filled, k_0, k_1, chunk_0 == 0, a_strip,
                                            pack_a ? 1 : a_row, pack_a ? height : a_step, b_panel, b_row,
                                            scale, chunk_0 == 0 ? beta : 1, start,
                                            chunk_0 == 0 ? from_row : c_row, target, c_row, next, pace);
#if _PM_WHOLE_$S
                        else if (past && height == $R && is_whole)
                            _pm_pasts_$S[wide - 1](depth, a_strip, b_panel, scale, target, c_row, next, pace,
                                        carry + (strip - strip_0) * ($R * $L), follows, goes_on);
#endif
                        else if (pack_a && pack_b && height == $R && is_full)
                            _pm_full_$S(depth, a_strip, b_panel, scale, chunk_0 == 0 ? beta : 1, start,
                                        chunk_0 == 0 ? from_row : c_row, target, c_row, next, pace);
                        else if (pack_a || depth_count <= 1 || chunks == 0)
                            _pm_blocks_$S[wide - 1][height - 1](depth, a_strip, pack_a ? 1 : a_row,
                                    pack_a ? height : a_step, b_panel, b_row, scale,
                                    chunk_0 == 0 ? beta : 1, start, chunk_0 == 0 ? from_row : c_row, target,
                                    c_row, (int)(filled - (wide - 1) * $L));
                        else
                            _pm_walk_over_$S(&cut, depths, chunk_0, chunk_1, wide, height,
                                             a + down[0] + i * a_row, a_row, b_panel, b_row, scale,
                                             chunk_0 == 0 ? beta : 1, start,
                                             chunk_0 == 0 ? from_row : c_row, target, c_row,
                                             (int)(filled - (wide - 1) * $L));
                        next += pace * depth;
                        if (++within == strips) {
                            within = 0;
                            segment++;
                        }
                    }
                    if (complete && (j + filled == n || panel + 1 == panel_1 || j + filled - part >= most)) {
                        _pm_finish_rows_$S(m, strips, strip_0, strip_1, panel / panels, part, j + filled,
                                           finish, around);
                        part = j + filled == n ? 0 : j + filled;
                    }
                }
            }
            chunk_0 += together;
        } while (chunk_0 < chunks);
    }
#if _PM_WHOLE_$S
    if (past)
        __builtin_ia32_sfence(); /* before other threads are told that it is there */
#endif
}

/* Whether a product has so few columns that the lanes of vectors are steps of the depth. */
static inline int _pm_is_narrow_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t a_step, ptrdiff_t b_step)
{
    return n <= _PM_NARROW_$S && (m >= $NARROW_ROWS || _pm_is_column_$S(n, b_step))
        && k >= $NARROW_VECTORS * $L && a_step == 1;
}

/* The product of `_pm_gemm_$S` where nothing is known to be small: in a function of its own, so that a small
   product is not held up by what only this one needs. */
static __attribute__((noinline)) void _pm_general_$S($PARAMETERS)
{
    const int place = $HALVES ? half.place : 0;
    const int one = column_count == 1 && depth_count == 1 && place == 0 && (b_column == 1 || n == 1);
    if (one && row_count == 1 && finish == NULL && _pm_is_narrow_$S(m, n, k, a_step, b_step)) {
        _pm_narrow_$S(m, n, k, scale, a, a_row, b, b_step, beta, from, from_row, c, c_row);
        return;
    }
    const double most_elements = 2.0 * small, height = (double)m * row_count;
    const int is_large = (double)k * n > most_elements;
    const int is_far = (height > 2 * $R && (is_large || height * n > most_elements))
                    || (a_step != 1 && height * k > most_elements / 16);
    const int copied = place == 0 && a_row == 1 && !large; /* a copy does not write past the caches */
    const int along = place == 1 ? is_large : place != 2 && (a_step == 1 || copied);
    if ((!one || is_far) && along && column_count == 1 && depth_count == 1 && m >= $R
            && height >= $STRIPS * $R && k > 0) {
        _pm_tall_$S(m, n, k, row_count, rows, scale, a, a_row, a_step, b, b_step, b_column, beta, from,
                    from_row, c, c_row, kc, small * $EIGHTHS / 8, nc * kc, half, scratch, finish, around);
        return;
    }
    if (!one || is_far) {
        _pm_blocked_$S($ARGUMENTS);
        return;
    }
    const ptrdiff_t most = finish == NULL ? m : (small / 4 / n / $R + 1) * $R;
    for (ptrdiff_t segment = 0; segment < row_count; segment++) {
        const ptrdiff_t *const at = rows + 3 * segment;
        for (ptrdiff_t i = 0; i < m; i += most) {
            const ptrdiff_t count = m - i < most ? m - i : most;
            _pm_direct_$S(count, n, k, is_large || k <= 0 ? 128 : k, scale, a + at[0] + i * a_row, a_row,
                          a_step, b, b_step, beta, from == NULL ? NULL : from + at[2] + i * from_row,
                          from_row, c + at[1] + i * c_row, c_row);
            if (finish != NULL)
                finish(around, segment, i, i + count, 0, 0, n);
        }
    }
}

/* C = scale * A * B + beta * From (no From: NULL); elements of a row of C and of From are contiguous.
   m, n, k: extents of a segment; row_count, column_count, depth_count: segments; rows, columns, depths: their
   offsets, for each segment of rows those in A, C and From, of columns in B, C and From, of depth in A and B.
   kc, mc, nc: blocks for the caches; small: the elements that the second-level cache holds; large: whether
   the whole result is written past the caches.
   half: a triangle, where there is one segment of each; scratch: 2 * kc * nc elements, less for small ones.
   finish, around: who is called with complete parts of the result (NULL: nobody), and what it is handed. */
static inline __attribute__((always_inline)) void _pm_gemm_$S($PARAMETERS)
{
    if (m <= 0 || n <= 0 || row_count <= 0 || column_count <= 0)
        return;
    const int is_matrix = column_count == 1 && depth_count == 1 && half.place == 0 && row_count == 1
                       && (b_column == 1 || n == 1) && finish == NULL;
    if (__builtin_constant_p(m) && __builtin_constant_p(n) && __builtin_constant_p(k) && is_matrix
            && (m | n | k) <= 64 && m * ((n + $L - 1) / $L) * k <= $UNROLLED)
        _pm_unrolled_$S((int)m, (int)n, (int)k, scale, a, a_row, a_step, b, b_step, beta, from, from_row, c,
                        c_row);
    else if (!is_matrix || small < 8 * 64 * 64 || (size_t)((m - 1) | (n - 1) | (k - 1)) >= 64
             || n == 1 || _pm_is_narrow_$S(m, n, k, a_step, b_step)) {
        /* Small calls have no scratch, and gcc would compile all of this once more for that. */
        __asm__("" : "+r"(scratch));
        _pm_general_$S($ARGUMENTS);
    } else if (m <= $R && n <= $V * $L)
        _pm_blocks_$S[((unsigned)n - 1) / $L][m - 1](k, a, a_row, a_step, b, b_step, scale, beta, from,
                from_row, c, c_row, (int)(((unsigned)n - 1) % $L) + 1);
    else
        _pm_little_$S(m, n, k, scale, a, a_row, a_step, b, b_step, beta, from, from_row, c, c_row);
}
"""

_PARAMETERS = """\
ptrdiff_t m, ptrdiff_t n, ptrdiff_t k,
        ptrdiff_t row_count, const ptrdiff_t *rows, ptrdiff_t column_count, const ptrdiff_t *columns,
        ptrdiff_t depth_count, const ptrdiff_t *depths, $T scale, const $T *a, ptrdiff_t a_row,
        ptrdiff_t a_step, const $T *b, ptrdiff_t b_step, ptrdiff_t b_column, $T beta, const $T *from,
        ptrdiff_t from_row, $T *c, ptrdiff_t c_row, ptrdiff_t kc, ptrdiff_t mc, ptrdiff_t nc, ptrdiff_t small,
        int large, const _pm_half_$S half, $T *scratch, _pm_finish_$S finish, void *const *around"""
_ARGUMENTS = """\
m, n, k, row_count, rows, column_count, columns, depth_count, depths, scale, a, a_row,
                       a_step, b, b_step, b_column, beta, from, from_row, c, c_row, kc, mc, nc, small,
                       large, half, scratch, finish, around"""
_PARTS = (PACKING, DIRECT, WINDOWS, AHEAD, HALF, SMALL, NARROW, _PRODUCT, TALL, _BLOCKED)
_GEMM = Template("".join(_PARTS).replace("$PARAMETERS", _PARAMETERS).replace("$ARGUMENTS", _ARGUMENTS))


def gemm_text(need: str) -> str:
    """The C text behind a need of the prelude: the register blocks and the product around them."""
    shape = Shape.parse(need)
    numbers = {"L": shape.lanes, "R": shape.rows, "V": shape.vectors, "G": 8, "EIGHTHS": PASSED_EIGHTHS}
    numbers |= {"HALVES": int(shape.halves), "WALKS": int(shape.walks), "UNROLLED": MOST_UNROLLED}
    numbers |= {"NARROW": NARROW_COLUMNS, "NARROW_ROWS": NARROW_ROWS, "NARROW_VECTORS": NARROW_VECTORS}
    sums = row_sums(shape.suffix, shape.ctype, shape.lanes)
    text = _GEMM.substitute(numbers, S=shape.suffix, T=shape.ctype, ROW_SUMS=sums, STRIPS=LEAST_STRIPS)
    triangles = f"{edges(shape)}\n" if shape.halves else ""
    return f"{microkernels(shape)}\n{past_blocks(shape)}\n{triangles}{text}"
