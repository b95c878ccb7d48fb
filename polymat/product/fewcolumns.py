"""Products of a few columns, of which vectors of columns would be mostly empty, and how they are computed.

Narrow ones are sums along the rows of A, the lanes of vectors being steps of the depth; swapped ones are
computed as their transpose, the lanes being rows.  The conditions are written down once, here: generated code
asks the same before it multiplies (`polymat.codegen.products.narrowgemm`, `swappedgemm`) and where it prices
a product (`polymat.codegen.products.blockcost`).
"""

from __future__ import annotations

from collections.abc import Mapping

from polymat.product.access import Access, access_of
from polymat.product.blocks import Blocks
from polymat.product.contraction import Contraction
from polymat.product.inequality import Inequality, all_hold, any_holds
from polymat.product.reading import reading

# m, n, k: rows, columns and depth; lanes: of a vector; small: elements that the second level holds.
ALWAYS = 4  # columns are few
NARROW = (Inequality(("n",), "<=", (ALWAYS,)), Inequality((2, "n"), "<=", ("lanes",)))  # one of them
DEEP = (Inequality(("k",), ">=", (4, "lanes")),)
# Where the columns of B have to be copied.
TALL = (Inequality(("m",), ">=", (8,)), Inequality(("m",), ">=", (2, "n")))

SWAPPED = (
    Inequality(("n",), "<=", (24,)),
    Inequality(("m",), ">=", ("lanes",)),
    Inequality(("m",), ">=", (2, "n")),
)
# Less than a vector, and enough depth for the result to be transposed; or
BELOW_A_VECTOR = (Inequality(("n",), "<", ("lanes",)), Inequality(("k",), ">=", (3, "n")))
# A is not near enough to be read a few rows at a time.
FAR = (Inequality((8, "m", "k"), ">", ("small",)),)


def is_narrow(found: Contraction, blocks: Blocks, estimates: Mapping[str, int]) -> bool:
    """Whether a product has only a few columns and is computed by sums along the rows of A."""
    values, access = _values(found, blocks, estimates), access_of(found)
    if found.more_rows or Access.ALONG not in access or not access & (Access.DIRECT | Access.COLUMN):
        return False
    if not any_holds(NARROW, values) or not all_hold(DEEP, values):
        return False
    in_order = Access.COLUMN in access or values["n"] <= 1  # a single column is an array without others
    return in_order or all_hold(TALL, values)


def is_swapped(found: Contraction, blocks: Blocks, estimates: Mapping[str, int]) -> bool:
    """Whether a product has only a few columns and is computed as its transpose."""
    values = _values(found, blocks, estimates)
    if found.more_rows or Access.FEW_COLUMNS not in access_of(found) or not all_hold(SWAPPED, values):
        return False
    pays = all_hold(BELOW_A_VECTOR, values) or all_hold(FAR, values)
    return pays and reading(found, blocks, estimates) is None


def _values(found: Contraction, blocks: Blocks, estimates: Mapping[str, int]) -> dict[str, float]:
    m, n, k = (max(1.0, found.length(d, estimates)) for d in (found.rows, found.columns, found.depth))
    return {"m": m, "n": n, "k": k, "lanes": blocks.lanes, "small": blocks.small}
