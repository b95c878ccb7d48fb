"""Products whose vectors hold segments of columns.

`polymat.product.ways` says when; here is what of that depends on how segments lie.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polymat.product.asked import small
from polymat.product.blocks import Blocks
from polymat.product.contraction import Contraction
from polymat.product.formulanames import LetNumber
from polymat.product.numbers import whole
from polymat.product.ways import SETS, TURNED_COLUMNS, TURNED_ROWS, turned_set

set_vectors = LetNumber("set_vectors", whole(whole(small, SETS), turned_set))


def can_turn(found: Contraction, blocks: Blocks) -> bool:
    """Whether there are turned blocks for a product, and B is contiguous along segments of columns."""
    several = found.more_rows or found.sums or found.more or found.triangle is not None
    if blocks.turned_depth == 0 or several or found.start is not None or found.starts or found.others:
        return False
    return any(found.right.is_contiguous(dim) for dim in found.more_columns)


def lanes_of_segments(found: Contraction) -> str:
    """The dimension of columns whose neighbours are in the lanes of vectors."""
    return next(dim for dim in found.more_columns if found.right.is_contiguous(dim))


def set_columns(vectors: int) -> int:
    """Columns of all segments of a set of so many vectors."""
    return vectors * TURNED_COLUMNS * TURNED_COLUMNS


def turned_blocks(blocks: Blocks) -> Blocks:
    """The register block: eight columns for each lane."""
    return replace(blocks, rows=TURNED_ROWS, vectors=1)


def most_vectors(k: float, blocks: Blocks) -> int:
    """Vectors of segments of a set, at most."""
    return max(1, int(set_vectors.at({"small": blocks.small, "k": k})))


def run_of_segments(found: Contraction, estimates: Mapping[str, int]) -> float:
    """How many segments are neighbours in B, of dimensions that continue each other in both."""
    run, left = 1.0, list(found.more_columns)
    for form in reversed(found.right.indices):
        names = form.names()
        if not left or {*names} != {left[-1]}:
            break
        run *= found.length(left.pop(), estimates)
    return run
