"""Products of few rows or few columns whose large operand is read where it is, and when these are taken.

The generated `_pm_read` has the same conditions with the same numbers (`polymat.codegen.readgemm`), and the
price at run time has them once more (`polymat.codegen.blockcost`).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, prod
from typing import Literal

from polymat.graph.monomials import Factor
from polymat.tilesize.access import Access, access_of
from polymat.tilesize.blocks import Blocks
from polymat.tilesize.contraction import Contraction, reach

FEW_STRIPS = 4  # of rows
READ_PANELS = 2  # of columns
GROUP = 16  # panels that are requested together
LEAST_DEPTH = 16
WAYS = 16  # lines that share a set of the second level

Reading = Literal["right", "left"]


def reading(found: Contraction, blocks: Blocks, estimates: Mapping[str, int]) -> Reading | None:
    """The operand that is read where it is beside few rows ("right") or columns ("left"), if one is."""
    access = access_of(found)
    m, n, k = (found.length(dim, estimates) for dim in (found.rows, found.columns, found.depth))
    all_m, all_n = (
        length * prod(found.length(dim, estimates) for dim in more)
        for length, more in ((m, found.more_rows), (n, found.more_columns))
    )
    strips, panels = ceil(m / blocks.rows) * (all_m / max(m, 1.0)), ceil(n / blocks.columns)
    if not LEAST_DEPTH <= k <= blocks.kc:
        return None
    if Access.FEW_ROWS in access and 1 < strips <= FEW_STRIPS and n >= blocks.columns:
        fits = k * all_n > 2 * blocks.small and 4 * blocks.rows * strips * k <= blocks.small
        if fits and _spreads(k, _step(found.right, found, estimates), blocks):
            return "right"
    if Access.FEW_COLUMNS in access and panels <= READ_PANELS and n > blocks.lanes:
        fits = k * all_m > 2 * blocks.small and 4 * blocks.columns * panels * k <= blocks.small
        if fits and _spreads(k, _step(found.left, found, estimates), blocks):
            return "left"
    return None


def group_columns(n: float, k: float, blocks: Blocks) -> int:
    """Columns of a segment of n that are requested together, where B of depth k is read beside few rows."""
    panels = max(1, ceil(n / blocks.columns))
    most = min(GROUP, max(3, int(blocks.small / 4 / (k * blocks.columns))))
    return min(ceil(panels / ceil(panels / most)) * blocks.columns, ceil(n))


def _step(factor: Factor, found: Contraction, estimates: Mapping[str, int]) -> int:
    """Elements between neighbours along the depth, of an array no larger than what is read of it."""
    lengths = {dim: found.length(dim, estimates) for dim in found.bounds}
    position = next(at for at, form in enumerate(factor.indices) if form.coefficient(found.depth))
    within = prod(reach(form, lengths) for form in factor.indices[position + 1 :])
    return int(within * abs(factor.indices[position].coefficient(found.depth)))


def _spreads(k: float, step: int, blocks: Blocks) -> bool:
    """Whether so many steps of the depth find place in the second level twice: their lines may share sets."""
    power = step & -step
    return 2 * k <= WAYS * max(1, blocks.small // WAYS // max(power, 1))
