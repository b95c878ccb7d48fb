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
columns at a time where A is contiguous along its depth or its rows, see kernels/products/rightinparts.h.

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
from polymat.codegen.products.blockshape import Shape
from polymat.codegen.products.edges import edge_table, edges
from polymat.codegen.products.ends import handed_on
from polymat.codegen.products.headers import headers_text, with_macros, written
from polymat.codegen.products.microkernel import block_tables, microkernels
from polymat.codegen.products.pastblock import past_blocks, past_table
from polymat.codegen.products.turnedgemm import turned_head, turned_text
from polymat.codegen.products.ways import HEAD_TESTS, WAYS_TEXT, packed
from polymat.product.cuts import PASSED_EIGHTHS
from polymat.product.packs import PASSING_LEFT

_GENERAL = """\
/* What is asked of a product. */
static inline _pm_asked _pm_asked_of_$S(const _pm_product_$S *all)
{
    const _pm_asked asked = {
        .m = (double)all->m, .n = (double)all->n, .k = (double)all->k, .row_segments = (double)all->row_count,
        .column_segments = (double)all->column_count, .depth_segments = (double)all->depth_count,
        .left_power = _pm_power(all->a_step), .right_power = _pm_power(all->b_step),
        .place = $HALVES ? all->half.place : 0, .along = all->a_step == 1, .rowwise = all->a_row == 1,
        .in_order = all->b_column == 1, .down = all->b_step == 1,
        .runs = _PM_RUNS_$S(all->column_count, all->columns, all->b_step, all->b_column),
        .handed = all->finish != NULL, .ended = $ENDED, .added = all->from != NULL, .past = all->large,
        .rows = $R, .vectors = $V, .lanes = $L, .kc = (double)all->kc, .nc = (double)all->nc,
        .small = (double)all->small, .turned_depth = $DEEP};
    return asked;
}

/* A product of operands that are read where they are: segments of rows, some of them at a time where they are
   handed over. */
static inline void _pm_in_place_$S(const _pm_product_$S *all, int is_column)
{
    const ptrdiff_t m = all->m, n = all->n, k = all->k;
    const int is_large = (double)k * (double)n > 2.0 * (double)all->small;
    const ptrdiff_t most = all->finish == NULL ? m : (all->small / 4 / n / $R + 1) * $R;
    _pm_product_$S part = *all;
    for (ptrdiff_t segment = 0; segment < all->row_count; segment++) {
        const ptrdiff_t *const at = all->rows + 3 * segment;
        for (ptrdiff_t i = 0; i < m; i += most) {
            part.m = m - i < most ? m - i : most;
            part.a = all->a + at[0] + i * all->a_row;
            part.from = all->from == NULL ? NULL : all->from + at[2] + i * all->from_row;
            part.c = all->c + at[1] + i * all->c_row;
            if (is_column)
                _pm_column_$S(&part);
            else
                _pm_direct_$S(&part, is_large || k <= 0 ? 128 : k);
            if (all->finish != NULL)
                all->finish(all->around, segment, i, i + part.m, 0, 0, n);
        }
    }
}

/* The product of `_pm_gemm_$S` where nothing is known to be small: in a function of its own, so that a small
   product is not held up by what only this one needs. */
static __attribute__((noinline)) void _pm_general_$S(const _pm_product_$S *all)
{
    const int place = $HALVES ? all->half.place : 0;
    if (all->row_count == 1 && all->column_count == 1 && all->depth_count == 1 && place == 0
            && all->finish == NULL && all->end == NULL
            && _pm_is_over_depth_$S(all->m, all->n, all->k, all->a_step, all->b_step, all->b_column)) {
        _PM_TAKES(LANES_OVER_DEPTH);
        _pm_lanes_over_depth_$S(all);
        return;
    }
    const _pm_asked asked = _pm_asked_of_$S(all);
    const int way = _pm_way(&asked);
    if (way == _PM_WAY_FEW_ROWS) {
        _PM_TAKES(FEW_ROWS);
        _pm_few_rows_$S(all);
    } else if (way == _PM_WAY_FEW_COLUMNS) {
        _PM_TAKES(FEW_COLUMNS);
        _pm_few_columns_$S(all);
    } else if (way == _PM_WAY_RESULT_TRANSPOSED) {
        _PM_TAKES(RESULT_TRANSPOSED);
        _pm_result_transposed_$S(all);
#ifdef _PM_TURNS_$S
    } else if (way == _PM_WAY_LANES_OVER_SEGMENTS) {
        _PM_TAKES(LANES_OVER_SEGMENTS);
        _pm_turned_$S(all);
#endif
    } else if (way == _PM_WAY_RIGHT_IN_PARTS) {
        const int along = all->a_step == 1, packs = $PACKS;
#ifdef _PM_TRACE
        _pm_packed_left = packs;
        _pm_packed_right = 1;
#endif
        _PM_TAKES(RIGHT_IN_PARTS);
        _pm_right_in_parts_$S(all, packs, all->small * $EIGHTHS / 8);
    } else if (way == _PM_WAY_BLOCKED || way == _PM_WAY_RIGHT_COPIED) { /* the latter never comes here */
#ifdef _PM_TRACE
        _pm_taken = _PM_WAY_BLOCKED; /* and what is copied is decided there */
#endif
        _pm_blocked_$S(all);
    } else if (way == _PM_WAY_ROW) {
        _PM_TAKES(ROW);
        _pm_one_row_$S(all);
    } else if (way == _PM_WAY_COLUMN) {
        _PM_TAKES(COLUMN);
        _pm_in_place_$S(all, 1);
    } else {
        _PM_TAKES(DIRECT);
        _pm_in_place_$S(all, 0);
    }
}

"""
_PRODUCT = """\
/* A product, of all that a struct is made of. */
#define _pm_gemm_$S(...) _pm_multiply_$S((_pm_product_$S){__VA_ARGS__})

static inline __attribute__((always_inline)) void _pm_multiply_$S(_pm_product_$S all)
{
    const ptrdiff_t m = all.m, n = all.n, k = all.k;
    if (m <= 0 || n <= 0 || all.row_count <= 0 || all.column_count <= 0)
        return;
    const int is_whole = all.half.place == 0, in_order = all.b_column == 1 || n == 1;
    const int is_single = all.column_count == 1 && all.depth_count == 1 && all.row_count == 1
                       && all.finish == NULL && (is_whole || all.half.place == 3);
    const int is_matrix = is_single && is_whole && in_order && all.end == NULL;
    const int is_small = is_matrix ? n > 1 && _pm_is_unasked_$S(m, n, k, all.small)
                                   : is_single && (is_whole ? !in_order : all.end == NULL)
                                     && _pm_is_near_$S(m, n, k, all.small);
    const int is_constant = __builtin_constant_p(m) && __builtin_constant_p(n) && __builtin_constant_p(k);
    if (!(is_constant && is_matrix && _pm_is_unrolled_$S(m, n, k))
            && (!is_small || (is_whole && all.end == NULL
                              && (_pm_is_over_depth_$S(m, n, k, all.a_step, all.b_step, all.b_column)
                                  || _pm_is_transposed_$S(m, n, k, all.a_row, all.a_step, all.small))))) {
        _pm_product_$S general = all;
        /* Small calls have no scratch, and gcc would compile all of this once more for that. */
        __asm__("" : "+r"(general.scratch));
        _pm_general_$S(&general);
        return;
    }
    const _pm_result_$S to = _pm_result_of_$S(all.from, all.from_row, all.c, all.c_row«, all.end»);
    if (is_matrix && !(is_constant && _pm_is_unrolled_$S(m, n, k)) && m <= $R && n <= $V * $L) {
        _PM_TAKES(SMALL);
        _pm_blocks_$S[((unsigned)n - 1) / $L][m - 1](k, all.a, all.a_row, all.a_step, all.b, all.b_step,
                all.scale, all.beta, &to, (int)(((unsigned)n - 1) % $L) + 1);
        return;
    }
    const _pm_operand_$S a = {all.a, all.a_row, all.a_step};
    if (is_constant && is_matrix && _pm_is_unrolled_$S(m, n, k)) {
        _PM_TAKES(UNROLLED);
        _pm_unrolled_$S((int)m, (int)n, (int)k, all.scale, &a, all.b, all.b_step, all.beta, &to);
    } else if (!is_matrix) {
        const _pm_half_$S half = all.half;
        _PM_TAKES(RIGHT_COPIED);
        _pm_small_copied_$S(m, n, k, all.scale, &a, all.b, all.b_step, all.b_column, all.beta, &to, &half);
    } else {
        _PM_TAKES(SMALL);
        _pm_small_$S(m, n, k, all.scale, &a, all.b, all.b_step, all.beta, &to);
    }
}
"""

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
_SUMS = ("lanesoverdepth", "column", "row")
_COPIES = ("transposed", "packing", "windows", "ahead")
_PACKED = (*_COPIES, "triangles", "copied", "resulttransposed", "finishrows")
_LARGE = ("read", "rightinparts", "rotated", "scheme")
_BLOCKED = ("panel", "cutting", "blocked")
_CALLED = ("room", "unrolled", "small", "direct")  # with what comes after it: what small products run through


# Of a need alone: what it is made of are files of the package.
@lru_cache(maxsize=8)
def gemm_text(need: str) -> Apart:
    """The C text behind a need of the prelude: the register blocks, the product around them, and its call."""
    shape = Shape.parse(need)
    decisions, call = (_written(text, shape) for text in (_DECISIONS, _RUNS + _GENERAL + _PRODUCT))
    tables = [block_tables(shape), past_table(shape), *([edge_table(shape)] if shape.halves else [])]
    turned = turned_text(shape) if shape.turns else ""
    blocks = [microkernels(shape), past_blocks(shape), *([edges(shape)] if shape.halves else [])]
    types = headers_text(shape, *_TYPES) + decisions
    declared = with_macros(shape, prototypes(written(*_SUMS, *_PACKED, *_LARGE, *_BLOCKED)))
    head = "\n".join([*tables, types, *([turned_head(shape)] if shape.turns else []), declared])
    sums = _row_sums(shape) + headers_text(shape, *_SUMS)
    copied, large = headers_text(shape, *_PACKED), headers_text(shape, *_LARGE)
    blocked = headers_text(shape, *_BLOCKED)
    around = f"{SHUFFLES}{copied}{large}{blocked}{turned}"
    return Apart(head, "\n".join(blocks), (sums, around), headers_text(shape, *_CALLED) + call)


def _row_sums(shape: Shape) -> str:
    """The lanes of four vectors added up."""
    types = (f"_pm_vector_{shape.suffix}", f"_pm_memory_{shape.suffix}", shape.ctype, shape.lanes)
    return row_sums(f"_pm_row_sums_{shape.suffix}", *types)


def _written(text: str, shape: Shape) -> str:
    """A template for a family of register blocks."""
    numbers = {"L": shape.lanes, "R": shape.rows, "V": shape.vectors, "G": 8, "DEEP": shape.turns}
    numbers |= {"HALVES": int(shape.halves), "WALKS": int(shape.walks)}
    numbers |= {"EIGHTHS": int(PASSED_EIGHTHS.value)}
    ended = "all->end != NULL" if shape.ends else "0"
    whole = text.replace("$PACKS", packed(PASSING_LEFT))
    return handed_on(
        Template(whole).substitute(numbers, ENDED=ended, S=shape.suffix, T=shape.ctype), shape.ends
    )
