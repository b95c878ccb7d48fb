"""Products whose vectors hold segments of columns, and when these are taken.

The generated `_pm_turned` has the same conditions with the same numbers (`polymat.codegen.turnedgemm`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil, prod

from polymat.tilesize.access import is_contiguous
from polymat.tilesize.blocks import TURNED_COLUMNS, Blocks
from polymat.tilesize.contraction import Contraction

ROWS = 3  # of a turned register block
LEAST_ROWS = 12  # of the result, and
LEAST_DEPTH = 16  # of what is summed: a part of it for less is not worth the loops around it
SETS = 3  # a set of columns takes this part of the second level; the next one is copied beside it


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
    copied = ceil(m / ROWS) * ROWS * k
    fits = SETS * set_columns(1) * k <= blocks.small and 4 * copied <= blocks.small
    fits = fits and LEAST_DEPTH <= k <= blocks.turned_depth and k * n * segments > 2 * blocks.small
    if m < LEAST_ROWS or not fits or _run(found, estimates) < TURNED_COLUMNS:
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
