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
`polymat.codegen.products.blockends`; others are called with every part as soon as that is complete, while
it is in the second-level cache: an epilogue.  Parts are as wide as that allows, since the loops over their
rows are code of the compiler's, which wants long ones.
"""

from __future__ import annotations

from functools import lru_cache

from polymat.codegen.c.apart import Apart
from polymat.codegen.c.lanes import SHUFFLES, row_sums
from polymat.codegen.products.blockshape import Shape
from polymat.codegen.products.edges import edge_table, edges
from polymat.codegen.products.headers import headers_text
from polymat.codegen.products.microkernel import block_tables, microkernels
from polymat.codegen.products.pastblock import past_blocks, past_table
from polymat.codegen.products.turnedgemm import turned_head, turned_text
from polymat.codegen.products.waystext import ways_text

_TYPES = ("finish", "pieces", "half", "product")
_SUMS = ("lanesoverdepth", "eight", "column", "row")
_COPIES = ("transposed", "packing", "windows", "ahead")
_PACKED = (*_COPIES, "triangles", "copiednear", "resulttransposed", "finishrows")
_LARGE = ("read", "rightinparts", "rotated", "rowsjoined", "scheme")
_BLOCKED = ("panel", "cutting", "blocked")
_CALLED = ("small", "multiply")  # what small products run through


# Of a need alone: what it is made of are files of the package.
@lru_cache(maxsize=8)
def gemm_text(shape: Shape) -> Apart:
    """The C text behind a need of the prelude: the register blocks, the product around them, and its call."""
    tables = [block_tables(shape), past_table(shape), *([edge_table(shape)] if shape.halves else [])]
    turned = turned_text(shape) if shape.turns else ""
    blocks = [microkernels(shape), past_blocks(shape), *([edges(shape)] if shape.halves else [])]
    types = headers_text(shape, *_TYPES) + ways_text() + headers_text(shape, "choices")
    declared = ("declared", "panelsdeclared") if shape.panels else ("declared",)
    head = "\n".join(
        [*tables, types, *([turned_head(shape)] if shape.turns else []), headers_text(shape, *declared)]
    )
    sums = _row_sums(shape) + headers_text(shape, *_SUMS)
    copied, large = headers_text(shape, *_PACKED), headers_text(shape, *_LARGE)
    blocked = headers_text(shape, *_BLOCKED)
    general = headers_text(shape, "direct", "general", *(("panels",) if shape.panels else ()))
    around = f"{SHUFFLES}{copied}{large}{blocked}{turned}{general}"
    called = ("room", *(("unrolled",) if shape.straight else ()), *_CALLED)
    calls = _call(shape) + (_panels_call(shape) if shape.panels else "")
    return Apart(head, (around, "\n".join(blocks), sums), headers_text(shape, *called) + calls)


def _row_sums(shape: Shape) -> str:
    """The lanes of four vectors added up."""
    types = (f"_pm_vector_{shape.suffix}", f"_pm_memory_{shape.suffix}", shape.ctype, shape.lanes)
    return row_sums(f"_pm_row_sums_{shape.suffix}", *types)


def _call(shape: Shape) -> str:
    """A product of all that its struct is made of; the last two fields are for `rowsjoined.h` alone."""
    s, rest = shape.suffix, ".left_rows = NULL, .left_each = 0"
    return f"\n#define _pm_gemm_{s}(...) _pm_multiply_{s}((_pm_product_{s}){{__VA_ARGS__, {rest}}})\n"


def _panels_call(shape: Shape) -> str:
    """The same of a right operand that was packed before, into what is the scratch of others."""
    s, rest = shape.suffix, ".left_rows = NULL, .left_each = 0"
    return f"#define _pm_gemm_panels_{s}(...) _pm_by_panels_{s}(&(_pm_product_{s}){{__VA_ARGS__, {rest}}})\n"
