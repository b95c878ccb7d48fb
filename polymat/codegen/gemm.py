"""The product of two matrices around register blocks: packing, blocks for the caches.

`gemm_text` gives the C function `_pm_gemm_f64` or `_pm_gemm_f32`:

    C[i, j] = scale * sum over k of A[i, k] * B[k, j]  +  beta * From[i, j]

for any strides of A and B, and rows of C and From whose elements are contiguous.  The blocking is that of
Goto and van de Geijn, as in BLIS: a block of B of kc x nc elements is packed into panels of a few vectors, a
block of A of mc x kc elements into panels of a few rows, and the register block runs over both.  What fits
the second-level cache is not packed, because the register blocks read operands of any strides.
"""

from __future__ import annotations

from string import Template

from polymat.codegen.microkernel import Shape, microkernels

_GEMM = Template("""\
/* `count` cut into `pieces` that differ by one at most: the size of the one after `done` of them. */
static inline ptrdiff_t _pm_piece_$S(ptrdiff_t count, ptrdiff_t pieces, ptrdiff_t done)
{
    return pieces == 1 ? count : count / pieces + (done < count % pieces);
}

/* Copy a strip of `width` lines of `depth` elements so that the elements of equal depth are neighbours. */
static void _pm_strip_$S(ptrdiff_t width, ptrdiff_t depth, const $T *restrict from, ptrdiff_t across,
        ptrdiff_t along, $T *restrict to, ptrdiff_t step)
{
    enum { deep = 16 };
    if (across == 1) {
        for (ptrdiff_t k = 0; k < depth; k++)
            for (ptrdiff_t r = 0; r < width; r++)
                to[k * step + r] = from[k * along + r];
        return;
    }
    ptrdiff_t k = 0;
    for (; k + deep <= depth; k += deep)
        for (ptrdiff_t r = 0; r < width; r++)
            for (ptrdiff_t d = 0; d < deep; d++)
                to[(k + d) * step + r] = from[(k + d) * along + r * across];
    for (; k < depth; k++)
        for (ptrdiff_t r = 0; r < width; r++)
            to[k * step + r] = from[k * along + r * across];
}

/* A block of the product, panel by panel; a packed operand (a_row or b_step is 0) is in strips. */
static void _pm_panels_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t depth, $T scale, const $T *a, ptrdiff_t a_row,
        ptrdiff_t a_step, const $T *b, ptrdiff_t b_step, $T beta, const $T *from, ptrdiff_t from_row, $T *c,
        ptrdiff_t c_row)
{
    const ptrdiff_t vectors = (n + $L - 1) / $L, panels = (vectors + $V - 1) / $V, strips = (m + $R - 1) / $R;
    for (ptrdiff_t panel = 0, j = 0; panel < panels; panel++) {
        const ptrdiff_t wide = _pm_piece_$S(vectors, panels, panel), width = wide * $L;
        const ptrdiff_t left = n - j < width ? n - j : width;
        const int last = (int)(left - (wide - 1) * $L);
        const $T *const b_panel = b_step == 0 ? b + j * depth : b + j;
        for (ptrdiff_t strip = 0, i = 0; strip < strips; strip++) {
            const ptrdiff_t rows = _pm_piece_$S(m, strips, strip);
            const $T *const a_strip = a_row == 0 ? a + i * depth : a + i * a_row;
            const $T *const from_block = from == NULL ? NULL : from + i * from_row + j;
            if (rows == $R && left == $V * $L && a_row == 0 && b_step == 0)
                _pm_full_$S(depth, a_strip, b_panel, scale, beta, from_block, from_row, c + i * c_row + j,
                            c_row);
            else
                _pm_blocks_$S[wide - 1][rows - 1](depth, a_strip, a_row == 0 ? 1 : a_row,
                        a_row == 0 ? rows : a_step, b_panel, b_step == 0 ? width : b_step, scale, beta,
                        from_block, from_row, c + i * c_row + j, c_row, last);
            i += rows;
        }
        j += width;
    }
}

/* Pack rows of A, or columns of B in whole vectors, into the strips that _pm_panels_$S expects. */
static void _pm_pack_$S(ptrdiff_t count, ptrdiff_t depth, ptrdiff_t unit, ptrdiff_t most, const $T *from,
        ptrdiff_t across, ptrdiff_t along, $T *to)
{
    const ptrdiff_t units = (count + unit - 1) / unit, strips = (units + most - 1) / most;
    for (ptrdiff_t strip = 0, i = 0; strip < strips; strip++) {
        const ptrdiff_t width = _pm_piece_$S(units, strips, strip) * unit;
        _pm_strip_$S(count - i < width ? count - i : width, depth, from + i * across, across, along,
                     to + i * depth, width);
        i += width;
    }
}

/* C = scale * A * B + beta * From (no From: NULL); elements of a row of C and of From are contiguous.
   kc, mc, nc: blocks for the caches; small: the elements of B that need no packing.
   scratch: (mc + nc) * kc elements, less where the matrices are smaller. */
static void _pm_gemm_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, $T scale, const $T *a, ptrdiff_t a_row,
        ptrdiff_t a_step, const $T *b, ptrdiff_t b_step, ptrdiff_t b_column, $T beta, const $T *from,
        ptrdiff_t from_row, $T *c, ptrdiff_t c_row, ptrdiff_t kc, ptrdiff_t mc, ptrdiff_t nc, ptrdiff_t small,
        $T *scratch)
{
    if (m <= 0 || n <= 0)
        return;
    if (b_column == 1 && a_row != 0 && b_step != 0 && (m <= 2 * $R || k * n <= small)) {
        _pm_panels_$S(m, n, k, scale, a, a_row, a_step, b, b_step, beta, from, from_row, c, c_row);
        return;
    }
    const ptrdiff_t deep = k <= 0 ? 1 : (k + kc - 1) / kc, tall = (m + mc - 1) / mc;
    const ptrdiff_t broad = (n + nc - 1) / nc;
    const int pack_a = a_row == 0 || (n > 2 * $V * $L && m * k > small / 2);
    for (ptrdiff_t jc = 0, j = 0; jc < broad; jc++) {
        const ptrdiff_t columns = _pm_piece_$S((n + $L - 1) / $L, broad, jc) * $L;
        const ptrdiff_t width = n - j < columns ? n - j : columns;
        for (ptrdiff_t pc = 0, p = 0; pc < deep; pc++) {
            const ptrdiff_t depth = k <= 0 ? 0 : _pm_piece_$S(k, deep, pc);
            $T *const a_packed = scratch + columns * depth;
            _pm_pack_$S(width, depth, $L, $V, b + p * b_step + j * b_column, b_column, b_step, scratch);
            for (ptrdiff_t ic = 0, i = 0; ic < tall; ic++) {
                const ptrdiff_t rows = _pm_piece_$S(m, tall, ic);
                const $T *a_block = a + i * a_row + p * a_step;
                if (pack_a) {
                    _pm_pack_$S(rows, depth, 1, $R, a_block, a_row, a_step, a_packed);
                    a_block = a_packed;
                }
                const $T *const first = from == NULL ? NULL : from + i * from_row + j;
                $T *const target = c + i * c_row + j;
                if (pc == 0)
                    _pm_panels_$S(rows, width, depth, scale, a_block, pack_a ? 0 : a_row, a_step, scratch, 0,
                                  beta, first, from_row, target, c_row);
                else
                    _pm_panels_$S(rows, width, depth, scale, a_block, pack_a ? 0 : a_row, a_step, scratch, 0,
                                  1, target, c_row, target, c_row);
                i += rows;
            }
            p += depth;
        }
        j += columns;
    }
}
""")


def gemm_text(need: str) -> str:
    """The C text behind a need of the prelude: the register blocks and the product around them."""
    shape = Shape.parse(need)
    text = _GEMM.substitute(S=shape.suffix, T=shape.ctype, L=shape.lanes, R=shape.rows, V=shape.vectors)
    return f"{microkernels(shape)}\n{text}"
