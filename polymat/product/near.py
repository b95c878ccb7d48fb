"""Products whose right operand is copied as a whole, to where it stays near, and when these are taken.

The conditions are written down once, here: generated code asks the same at run time, before it multiplies
(`polymat.codegen.products.smallgemm`) and where it prices a product (`polymat.codegen.products.blockcost`).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from polymat.product.access import Access, access_of
from polymat.product.blocks import Blocks
from polymat.product.contraction import Contraction
from polymat.product.inequality import Inequality, all_hold

ELEMENTS = 96 * 96  # of the copy, at most: on the stack, and a good part of it in the first level
ROWS = 4096  # that pass it, at most
LEAST_SMALL = 32768  # elements that the second level holds, at least

# m, n, k: rows, columns and depth; width: n in whole vectors; small: elements that the second level holds.
NEAR = (
    Inequality(("n",), ">", (1,)),
    Inequality(("m",), "<=", (ROWS,)),
    Inequality(("width", "k"), "<=", (ELEMENTS,)),
    Inequality(("m", "k"), "<=", (2, "small")),
    Inequality((LEAST_SMALL,), "<=", ("small",)),
)


def is_near(found: Contraction, blocks: Blocks, estimates: Mapping[str, int]) -> bool:
    """Whether rows of the left operand, read where it is, pass such a copy."""
    if Access.NEAR not in access_of(found):
        return False
    m, n, k = (max(1.0, found.length(dim, estimates)) for dim in (found.rows, found.columns, found.depth))
    width = ceil(n / blocks.lanes) * blocks.lanes
    return all_hold(NEAR, {"m": m, "n": n, "k": k, "width": width, "small": blocks.small})
