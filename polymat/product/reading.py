"""Products of few rows whose right operand is read where it is: how much of it is requested together.

`polymat.product.ways` says which products these are.
"""

from __future__ import annotations

from math import ceil

from polymat.product.blocks import Blocks

GROUP = 16  # panels that are requested together


def group_columns(n: float, k: float, blocks: Blocks) -> int:
    """Columns of a segment of n that are requested together, where B of depth k is read beside few rows."""
    panels = max(1, ceil(n / blocks.columns))
    most = min(GROUP, max(3, int(blocks.small / 4 / (k * blocks.columns))))
    return min(ceil(panels / ceil(panels / most)) * blocks.columns, ceil(n))
