"""Copies of operands of matrix products in the order in which register blocks use them.

`PACKING` gives the C functions that the product of `polymat.codegen.gemm` uses for it: strips of rows and
panels of columns, of any strides and of several segments, eight lines at a time where they are transposed.
Beside them stands the product of matrices that need no copy.
"""

from __future__ import annotations

PACKING = """\
/* What is called with a complete part of the result: rows i..i_end - 1 of a segment of rows, and columns
   j..j_end - 1 of one of columns. */
typedef void (*_pm_finish_$S)(void *const *around, ptrdiff_t row_segment, ptrdiff_t i, ptrdiff_t i_end,
        ptrdiff_t column_segment, ptrdiff_t j, ptrdiff_t j_end);

/* `count` cut into `pieces` that differ by one at most: the size of the one after `done` of them. */
static inline ptrdiff_t _pm_piece_$S(ptrdiff_t count, ptrdiff_t pieces, ptrdiff_t done)
{
    return pieces == 1 ? count : count / pieces + (done < count % pieces);
}

/* Eight lines of eight elements, transposed in registers. */
typedef $T _pm_eight_$S __attribute__((vector_size(8 * sizeof($T))));
typedef _pm_eight_$S _pm_eight_memory_$S __attribute__((aligned(sizeof($T)), may_alias));

static inline void _pm_transpose_$S(const $T *from, ptrdiff_t across, $T *to, ptrdiff_t step)
{
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define _PM_SHUFFLES
#endif
#endif
#ifdef _PM_SHUFFLES
    _pm_eight_$S r[8], s[8];
    for (int line = 0; line < 8; line++)
        r[line] = *(const _pm_eight_memory_$S *)(from + line * across);
    for (int line = 0; line < 8; line += 2) {
        s[line] = __builtin_shufflevector(r[line], r[line + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        s[line + 1] = __builtin_shufflevector(r[line], r[line + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int line = 0; line < 8; line += line % 4 == 1 ? 3 : 1) {
        r[line] = __builtin_shufflevector(s[line], s[line + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        r[line + 2] = __builtin_shufflevector(s[line], s[line + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int line = 0; line < 4; line++) {
        s[line] = __builtin_shufflevector(r[line], r[line + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        s[line + 4] = __builtin_shufflevector(r[line], r[line + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
    for (int line = 0; line < 8; line++)
        *(_pm_eight_memory_$S *)(to + line * step) = s[line];
#else
    for (int line = 0; line < 8; line++)
        for (int lane = 0; lane < 8; lane++)
            to[lane * step + line] = from[line * across + lane];
#endif
}

/* Copy a strip of `width` lines of `depth` elements so that the elements of equal depth are neighbours. */
static void _pm_strip_$S(ptrdiff_t width, ptrdiff_t depth, const $T *restrict from, ptrdiff_t across,
        ptrdiff_t along, $T *restrict to, ptrdiff_t step)
{
    enum { deep = 16 };
    if (across == 1) {
        const ptrdiff_t whole = width / $L * $L;
        for (ptrdiff_t k = 0; k < depth; k++) {
            for (ptrdiff_t r = 0; r < whole; r += $L)
                *(_pm_memory_$S *)(to + k * step + r) = *(const _pm_memory_$S *)(from + k * along + r);
            for (ptrdiff_t r = whole; r < width; r++)
                to[k * step + r] = from[k * along + r];
        }
        return;
    }
    ptrdiff_t r = 0;
    for (; along == 1 && r + 8 <= width; r += 8) {
        const ptrdiff_t whole = depth / 8 * 8;
        for (ptrdiff_t k = 0; k < whole; k += 8) {
            for (int line = 0; line < 8; line++)
                __builtin_prefetch(from + (r + line) * across + k + 512 / (int)sizeof($T));
            _pm_transpose_$S(from + r * across + k, across, to + k * step + r, step);
        }
        for (ptrdiff_t k = whole; k < depth; k++)
            for (ptrdiff_t line = r; line < r + 8; line++)
                to[k * step + line] = from[k + line * across];
    }
    for (ptrdiff_t k_0 = 0; k_0 < depth; k_0 += deep) {
        const ptrdiff_t k_1 = k_0 + deep < depth ? k_0 + deep : depth;
        for (ptrdiff_t line = r; line < width; line++)
            for (ptrdiff_t k = k_0; k < k_1; k++)
                to[k * step + line] = from[k * along + line * across];
    }
}

/* Where that piece begins. */
static inline ptrdiff_t _pm_before_$S(ptrdiff_t count, ptrdiff_t pieces, ptrdiff_t done)
{
    const ptrdiff_t longer = pieces == 1 ? 0 : count % pieces;
    return pieces == 1 ? 0 : done * (count / pieces) + (done < longer ? done : longer);
}

/* A product of matrices that are not packed. */
static void _pm_direct_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t depth, $T scale, const $T *a, ptrdiff_t a_row,
        ptrdiff_t a_step, const $T *b, ptrdiff_t b_step, $T beta, const $T *from, ptrdiff_t from_row, $T *c,
        ptrdiff_t c_row)
{
    const ptrdiff_t vectors = (n + $L - 1) / $L, panels = (vectors + $V - 1) / $V, strips = (m + $R - 1) / $R;
    for (ptrdiff_t panel = 0, j = 0; panel < panels; panel++) {
        const ptrdiff_t wide = _pm_piece_$S(vectors, panels, panel);
        const ptrdiff_t left = n - j < wide * $L ? n - j : wide * $L;
        for (ptrdiff_t strip = 0, i = 0; strip < strips; strip++) {
            const ptrdiff_t rows = _pm_piece_$S(m, strips, strip);
            _pm_blocks_$S[wide - 1][rows - 1](depth, a + i * a_row, a_row, a_step, b + j, b_step, scale, beta,
                    from == NULL ? NULL : from + i * from_row + j, from_row, c + i * c_row + j, c_row,
                    (int)(left - (wide - 1) * $L));
            i += rows;
        }
        j += wide * $L;
    }
}

/* Pack a strip of A or a panel of B: chunks first..last - 1 of the depth, which are pieces of segments. */
static void _pm_pack_$S(ptrdiff_t first, ptrdiff_t last, ptrdiff_t pieces, ptrdiff_t k, const ptrdiff_t *at,
        ptrdiff_t width, const $T *from, ptrdiff_t across, ptrdiff_t along, $T *to, ptrdiff_t step)
{
    for (ptrdiff_t chunk = first; chunk < last; chunk++) {
        const ptrdiff_t segment = chunk / pieces, piece = chunk % pieces;
        const ptrdiff_t length = _pm_piece_$S(k, pieces, piece);
        _pm_strip_$S(width, length, from + at[2 * segment] + _pm_before_$S(k, pieces, piece) * along, across,
                     along, to, step);
        to += length * step;
    }
}

"""
