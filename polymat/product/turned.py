"""Products whose vectors hold segments of columns, and when these are taken.

The conditions are written down once, here: generated code asks the same
(`polymat.codegen.products.turnedgemm`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil, prod

from polymat.product.access import is_contiguous
from polymat.product.blocks import TURNED_COLUMNS, Blocks
from polymat.product.contraction import Contraction
from polymat.product.inequality import Inequality, all_hold

ROWS = 3  # of a turned register block
SETS = 3  # a set of columns takes this part of the second level; the next one is copied beside it

# m, k: rows and depth; n: columns of one of so many segments; deepest: of these blocks; part: elements of a
# set of one vector; packed: of the left operand; small: that the second level holds.
PAYS = (
    Inequality(("m",), ">=", (12,)),
    Inequality(("k",), ">=", (16,)),  # a part of it for less is not worth the loops around it
    Inequality(("k",), "<=", ("deepest",)),
    Inequality((SETS, "part"), "<=", ("small",)),
    Inequality((4, "packed"), "<=", ("small",)),
    Inequality(("k", "n", "segments"), ">", (2, "small")),
)


def can_turn(found: Contraction, blocks: Blocks) -> bool:
    """Whether there are turned blocks for a product, and B is contiguous along segments of columns."""
    several = found.more_rows or found.sums or found.more or found.triangle is not None
    if blocks.turned_depth == 0 or several or found.start is not None or found.starts or found.others:
        return False
    return any(is_contiguous(found.right, dim) for dim in found.more_columns)


def turned(found: Contraction, blocks: Blocks, estimates: Mapping[str, int]) -> str | None:
    """The dimension of columns whose neighbours are in the lanes of vectors; None of other products."""
    if not can_turn(found, blocks):
        return None
    m, n, k = (found.length(dim, estimates) for dim in (found.rows, found.columns, found.depth))
    segments = prod(found.length(dim, estimates) for dim in found.more_columns)
    values = {"m": m, "n": n, "k": k, "segments": segments, "deepest": blocks.turned_depth}
    values |= {"part": set_columns(1) * k, "packed": ceil(m / ROWS) * ROWS * k, "small": blocks.small}
    if not all_hold(PAYS, values) or _run(found, estimates) < TURNED_COLUMNS:
        return None
    return next(dim for dim in found.more_columns if is_contiguous(found.right, dim))


def set_columns(vectors: int) -> int:
    """Columns of all segments of a set of so many vectors."""
    return vectors * TURNED_COLUMNS * TURNED_COLUMNS


def turned_blocks(blocks: Blocks) -> Blocks:
    """The register block: eight columns for each lane."""
    return replace(blocks, rows=ROWS, vectors=1)


def most_vectors(k: float, blocks: Blocks) -> int:
    """Vectors of segments of a set, at most."""
    return max(1, int(blocks.small // SETS // (set_columns(1) * k)))


def _run(found: Contraction, estimates: Mapping[str, int]) -> float:
    """How many segments are neighbours in B, of dimensions that continue each other in both."""
    run, left = 1.0, list(found.more_columns)
    for form in reversed(found.right.indices):
        names = form.names()
        if not left or {*names} != {left[-1]}:
            break
        run *= found.length(left.pop(), estimates)
    return run
