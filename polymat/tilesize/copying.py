"""What is paid for around the register blocks of a product: copies of operands, results stored in between.

Prices are in operations at the peak.  Measured on a Zen 5, one thread, float32 and float64.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from polymat.tilesize.access import Access, access_of, is_direct
from polymat.tilesize.blocking import blocking
from polymat.tilesize.blocks import Blocks
from polymat.tilesize.contraction import Contraction

PACKING = 48.0  # operations that packing an element is worth, or adding a block of depth to one of the result
CACHED_PACKING = 30.0  # the same where all stays in the second-level cache
STORING = 16.0  # operations that storing an element of a result is worth that the caches do not hold
BEFORE = 18.0  # an element of the result that loops compute before
SCATTERED = 64.0  # reading an element of B from memory, a few columns of each row at a time
MEMORY = 4.0  # times the room of a packed B in the last level, above which arrays lie in memory
NARROW_COLUMNS = 4  # at most, of products by sums along the rows of A
NARROW_ROWS = 8  # at least, where there are several columns
NARROW_VECTORS = 4  # of depth, at least
LOADING = 4.0  # loading an element of A for such sums, beside what it is multiplied by
NEXT_LEVEL = 3.0  # loading one that is not in the second-level cache, more


def copying_operations(found: Contraction, blocks: Blocks, estimates: Mapping[str, int]) -> float:
    """Operations that the copies of one product are worth, and what is stored more than once or far away."""
    made = blocking(found, blocks, estimates)
    m, n, k = max(1.0, made.m), max(1.0, made.n), max(1.0, made.k)
    access, memory = access_of(found), MEMORY * blocks.nc * blocks.kc
    first = BEFORE * m * n if Access.STARTS in access else 0.0
    if is_direct(access, n) and not made.packs_right:
        return first + (SCATTERED * k * n if k * n > memory else 0.0)
    times = 1.0 if made.rows_outside else ceil(n / blocks.nc)
    left = m * k * times * (0.5 if Access.HALF in access else 1.0) if made.packs_left else 0.0
    right = k * n if made.packs_right else 0.0
    if m <= 2 * blocks.rows or max(k * n, left, m * n) <= 2 * blocks.small:
        return first + CACHED_PACKING * (left + right)
    storing = 0.0 if made.rows_outside and m * n <= memory else STORING * m * n
    return first + PACKING * (left + right + m * n * (ceil(k / blocks.kc) - 1)) + storing


def loading_operations(m: float, k: float, blocks: Blocks) -> float:
    """Operations that loading A for sums along its rows is worth, beside what is computed."""
    memory = MEMORY * blocks.nc * blocks.kc
    further = (NEXT_LEVEL if m * k > blocks.small else 0.0) + (STORING if m * k > memory else 0.0)
    return m * k * (LOADING + further)


def is_narrow(found: Contraction, blocks: Blocks, estimates: Mapping[str, int]) -> bool:
    """Whether a product has only a few columns and is computed by sums along the rows of A."""
    m, n, k = (max(1.0, found.length(d, estimates)) for d in (found.rows, found.columns, found.depth))
    access = access_of(found)
    if found.more_rows or Access.ALONG not in access or not is_direct(access, n):
        return False
    return n <= NARROW_COLUMNS and (m >= NARROW_ROWS or n <= 1) and k >= NARROW_VECTORS * blocks.lanes
