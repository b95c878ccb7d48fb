"""Contractions as products of two matrices around register blocks: packing, blocks for the caches.

`gemm_text` gives the C function `_pm_gemm_f64` or `_pm_gemm_f32`:

    C[i, j] = scale * sum over k of A[i, k] * B[k, j]  +  beta * From[i, j]

where an index may stand for several dimensions: i runs over segments of rows with a common stride, whose
positions in A, C and From are given in a table, and so do j and k.  Packing thereby takes apart transposed,
strided and shifted tensors (as TBLIS does), and makes a convolution a product (implicit GEMM).

The blocking is that of Goto and van de Geijn, as in BLIS: of B, panels of a few vectors of columns times kc
are packed, nc columns at a time, each right before it is first used; of A, strips of a few rows times kc, mc
rows at a time; and the register block runs over both.  While a block of A is multiplied by one panel the next
one is requested, so that the packed B may lie in memory.  Of one segment what is at most twice the
second-level cache is not packed, because register blocks read operands of any strides; nor is B packed nc
columns at a time where A is contiguous along its depth or its rows, see `polymat.codegen.products.tallgemm`.

Who reads the result point by point by plain arithmetic is computed in registers, see
`polymat.codegen.products.ends`; others are called with every part of it as soon as that is complete, while it
is in the second-level cache: an epilogue.  Parts are as wide as that allows, since the loops over their rows
are code of the compiler's, which wants long ones.
"""

from __future__ import annotations

from functools import lru_cache
from string import Template

from polymat.codegen.c.apart import Apart, prototypes
from polymat.codegen.c.lanes import SHUFFLES, row_sums
from polymat.codegen.products.blockedgemm import SCHEME, WHOLE
from polymat.codegen.products.blockshape import Shape
from polymat.codegen.products.edges import edge_table, edges
from polymat.codegen.products.ends import handed_on
from polymat.codegen.products.headers import headers_text, with_macros, written
from polymat.codegen.products.microkernel import block_tables, microkernels
from polymat.codegen.products.pastblock import past_blocks, past_table
from polymat.codegen.products.turnedgemm import turned_head, turned_text
from polymat.codegen.products.ways import HEAD_TESTS, WAYS_TEXT, packed
from polymat.product.blocks import PASSED_EIGHTHS
from polymat.product.packs import TALL_LEFT

_GENERAL = """\
/* The product of `_pm_gemm_$S` where nothing is known to be small: in a function of its own, so that a small
   product is not held up by what only this one needs. */
static __attribute__((noinline)) void _pm_general_$S($PARAMETERS«,
        const _pm_end_$S *end»)
{
    const int place = $HALVES ? half.place : 0;
    if (row_count == 1 && column_count == 1 && depth_count == 1 && place == 0 && finish == NULL
            « && end == NULL» && _pm_is_narrow_$S(m, n, k, a_step, b_step, b_column)) {
        _PM_TAKES(NARROW);
        _pm_narrow_$S(m, n, k, scale, a, a_row, b, b_step, b_column, beta, from, from_row, c, c_row);
        return;
    }
    const _pm_asked asked = {
        .m = (double)m, .n = (double)n, .k = (double)k, .row_segments = (double)row_count,
        .column_segments = (double)column_count, .depth_segments = (double)depth_count,
        .left_power = _pm_power(a_step), .right_power = _pm_power(b_step), .place = place,
        .along = a_step == 1, .rowwise = a_row == 1, .in_order = b_column == 1, .down = b_step == 1,
        .runs = _PM_RUNS_$S(column_count, columns, b_step, b_column), .handed = finish != NULL«,
        .ended = end != NULL», .added = from != NULL, .past = large, .rows = $R, .vectors = $V, .lanes = $L,
        .kc = (double)kc, .nc = (double)nc, .small = (double)small, .turned_depth = $DEEP};
    const int way = _pm_way(&asked);
    if (way == _PM_WAY_FEW_ROWS) {
        _PM_TAKES(FEW_ROWS);
        _pm_few_rows_$S(m, n, k, row_count, rows, column_count, columns, scale, a, a_row, a_step, b, b_step,
                        beta, from, from_row, c, c_row, small, scratch, finish, around«, end»);
        return;
    }
    if (way == _PM_WAY_FEW_COLUMNS) {
        _PM_TAKES(FEW_COLUMNS);
        _pm_few_columns_$S(m, n, k, row_count, rows, scale, a, a_step, b, b_step, b_column, beta, from,
                           from_row, c, c_row, scratch«, end»);
        return;
    }
    if (way == _PM_WAY_SWAPPED) {
        _PM_TAKES(SWAPPED);
        _pm_swapped_$S(m, n, k, scale, a, a_step, b, b_step, b_column, beta, from, from_row, c, c_row, small);
        return;
    }
#ifdef _PM_TURNS_$S
    if (way == _PM_WAY_TURNED) {
        _PM_TAKES(TURNED);
        _pm_turned_$S(m, n, k, column_count, columns, scale, a, a_row, a_step, b, b_step, b_column, c, c_row,
                      small, large, scratch);
        return;
    }
#endif
    if (way == _PM_WAY_TALL) {
        const int along = a_step == 1, packs = $PACKS;
#ifdef _PM_TRACE
        _pm_packed_left = packs;
        _pm_packed_right = 1;
#endif
        _PM_TAKES(TALL);
        _pm_tall_$S(m, n, k, row_count, rows, scale, a, a_row, a_step, b, b_step, b_column, beta, from,
                    from_row, c, c_row, packs, kc, small * $EIGHTHS / 8, nc * kc, half, scratch, finish,
                    around«, end»);
        return;
    }
    if (way == _PM_WAY_BLOCKED || way == _PM_WAY_COPIED) { /* of which the latter never comes here */
#ifdef _PM_TRACE
        _pm_taken = _PM_WAY_BLOCKED; /* and what is copied is decided there */
#endif
        _pm_blocked_$S($ARGUMENTS«, end»);
        return;
    }
    if (way == _PM_WAY_ROW) {
        _PM_TAKES(ROW);
        _pm_one_row_$S(n, k, scale, a + rows[0], a_step, b, b_step, beta,
                       from == NULL ? NULL : from + rows[2], c + rows[1]);
        return;
    }
    if (way == _PM_WAY_COLUMN) {
        _PM_TAKES(COLUMN);
    } else {
        _PM_TAKES(DIRECT);
    }
    const int is_large = (double)k * (double)n > 2.0 * (double)small;
    const ptrdiff_t most = finish == NULL ? m : (small / 4 / n / $R + 1) * $R;
    for (ptrdiff_t segment = 0; segment < row_count; segment++) {
        const ptrdiff_t *const at = rows + 3 * segment;
        for (ptrdiff_t i = 0; i < m; i += most) {
            const ptrdiff_t count = m - i < most ? m - i : most;
            const $T *const start = from == NULL ? NULL : from + at[2] + i * from_row;
            if (way == _PM_WAY_COLUMN)
                _pm_column_$S(count, k, scale, a + at[0] + i * a_row, a_row, b, beta, start, from_row,
                              c + at[1] + i * c_row, c_row);
            else
                _pm_direct_$S(count, n, k, is_large || k <= 0 ? 128 : k, scale, a + at[0] + i * a_row, a_row,
                              a_step, b, b_step, beta, start, from_row, c + at[1] + i * c_row, c_row«, end»);
            if (finish != NULL)
                finish(around, segment, i, i + count, 0, 0, n);
        }
    }
}

"""
_PRODUCT = """\
/* C = scale * A * B + beta * From (no From: NULL); elements of a row of C and of From are contiguous.
   m, n, k: extents of a segment; row_count, column_count, depth_count: segments; rows, columns, depths: their
   offsets, for each segment of rows those in A, C and From, of columns in B, C and From, of depth in A and B.
   kc, mc, nc: blocks for the caches; small: the elements that the second-level cache holds.
   large: whether the whole result is so large that it is written past the caches.
   half: a triangle, where there is one segment of each; scratch: 2 * kc * nc elements, less where the
   matrices are smaller.
   finish, around: who is called with complete parts of the result (NULL: nobody), and what it is handed.
   ends: what is made of the result in registers (NULL: nothing); then nobody is called. */
static inline __attribute__((always_inline)) void _pm_gemm_$S($PARAMETERS,
        const void *ends)
{
    if (m <= 0 || n <= 0 || row_count <= 0 || column_count <= 0)
        return;
    const int is_whole = half.place == 0, in_order = b_column == 1 || n == 1;
    const int is_single = column_count == 1 && depth_count == 1 && row_count == 1 && finish == NULL
                       && (is_whole || half.place == 3);
    const int is_matrix = is_single && is_whole && in_order && ends == NULL;
    const int is_small = is_matrix ? n > 1 && _pm_is_unasked_$S(m, n, k, small)
                                   : is_single && (is_whole ? !in_order : ends == NULL)
                                     && _pm_is_near_$S(m, n, k, small);
    if (__builtin_constant_p(m) && __builtin_constant_p(n) && __builtin_constant_p(k) && is_matrix
            && _pm_is_unrolled_$S(m, n, k)) {
        _PM_TAKES(UNROLLED);
        _pm_unrolled_$S((int)m, (int)n, (int)k, scale, a, a_row, a_step, b, b_step, beta, from, from_row, c,
                        c_row);
    } else if (!is_small || (is_whole && ends == NULL && (_pm_is_narrow_$S(m, n, k, a_step, b_step, b_column)
                                        || _pm_is_swapped_$S(m, n, k, a_row, a_step, small)))) {
        /* Small calls have no scratch, and gcc would compile all of this once more for that. */
        __asm__("" : "+r"(scratch));
        _pm_general_$S($ARGUMENTS«, ends»);
    } else if (!is_matrix) {
        _PM_TAKES(COPIED);
        _pm_small_copied_$S(m, n, k, scale, a, a_row, a_step, b, b_step, b_column, beta, from, from_row, c,
                            c_row, &half«, ends»);
    } else if (m <= $R && n <= $V * $L) {
        _PM_TAKES(SMALL);
        const _pm_result_$S whole = _pm_result_of_$S(from, from_row, c, c_row«, NULL»);
        _pm_blocks_$S[((unsigned)n - 1) / $L][m - 1](k, a, a_row, a_step, b, b_step, scale, beta, &whole,
                (int)(((unsigned)n - 1) % $L) + 1);
    } else {
        _PM_TAKES(SMALL);
        _pm_small_$S(m, n, k, scale, a, a_row, a_step, b, b_step, beta, from, from_row, c, c_row);
    }
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
_RUNS = """\
#ifdef _PM_TURNS_$S
#define _PM_RUNS_$S(count, columns, b_step, b_column) \\
    (count >= 8 && b_step != 1 && b_column != 1 && _pm_runs_$S(count, columns))
#else
#define _PM_RUNS_$S(count, columns, b_step, b_column) 0
#endif

"""
_DECISIONS = HEAD_TESTS + WAYS_TEXT
_TYPES = ("finish", "pieces", "half", "product")
_SUMS = ("narrow", "column", "row")
_PACKED = ("transposed", "packing", "windows", "ahead", "triangles", "copied", "swapped", "finishrows")
_LARGE = ("read", "tall", "rotated", "scheme")
_BLOCKED = ("panel", "blocked")
_CALLED = ("room", "unrolled", "small", "direct")  # with what comes after it: what small products run through


@lru_cache(maxsize=8)
def gemm_text(need: str) -> Apart:
    """The C text behind a need of the prelude: the register blocks, the product around them, and its call."""
    shape = Shape.parse(need)
    decisions, scheme, whole, call = (
        _written(text, shape) for text in (_DECISIONS, SCHEME, WHOLE, _RUNS + _GENERAL + _PRODUCT)
    )
    tables = [block_tables(shape), past_table(shape), *([edge_table(shape)] if shape.halves else [])]
    turned = turned_text(shape) if shape.turns else ""
    blocks = [microkernels(shape), past_blocks(shape), *([edges(shape)] if shape.halves else [])]
    types = headers_text(shape, *_TYPES) + decisions
    declared = with_macros(shape, prototypes(written(*_SUMS, *_PACKED, *_LARGE))) + prototypes(whole)
    head = "\n".join([*tables, *([turned_head(shape)] if shape.turns else []), types, declared])
    sums = _row_sums(shape) + headers_text(shape, *_SUMS)
    copied, large = headers_text(shape, *_PACKED), headers_text(shape, *_LARGE)
    blocked = headers_text(shape, *_BLOCKED)
    around = f"{SHUFFLES}{copied}{large}{scheme}{blocked}{whole}{turned}"
    return Apart(head, "\n".join(blocks), (sums, around), headers_text(shape, *_CALLED) + call)


def _row_sums(shape: Shape) -> str:
    """The lanes of four vectors added up."""
    types = (f"_pm_vector_{shape.suffix}", f"_pm_memory_{shape.suffix}", shape.ctype, shape.lanes)
    return row_sums(f"_pm_row_sums_{shape.suffix}", *types)


def _written(text: str, shape: Shape) -> str:
    """A template for a family of register blocks."""
    numbers = {"L": shape.lanes, "R": shape.rows, "V": shape.vectors, "G": 8, "DEEP": shape.turns}
    numbers |= {"HALVES": int(shape.halves), "WALKS": int(shape.walks)}
    numbers |= {"EIGHTHS": PASSED_EIGHTHS}
    whole = text.replace("$PARAMETERS", _PARAMETERS).replace("$ARGUMENTS", _ARGUMENTS)
    whole = whole.replace("$PACKS", packed(TALL_LEFT))
    return handed_on(Template(whole).substitute(numbers, S=shape.suffix, T=shape.ctype), shape.ends)
