"""What is paid for around the register blocks of a product: copies of operands, results stored in between.

Prices are in operations at the peak.  Measured on a Zen 5, one thread, float32 and float64.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from polymat.product.access import Access, access_of, is_direct
from polymat.product.blocking import blocking
from polymat.product.blocks import Blocks
from polymat.product.contraction import Contraction

PACKING = 48.0  # operations that packing an element is worth, or adding a block of depth to one of the result
CACHED_PACKING = 30.0  # the same where all stays in the second-level cache
NEAR_PACKING = 16.0  # the same of a right operand that is copied as a whole, to where it stays near
STORING = 16.0  # operations that storing an element of a result is worth that the caches do not hold
BEFORE = 18.0  # an element of the result that loops compute before
READING = 3.0  # an element of a large operand that is read where it is beside a few rows or columns
TURNING = 24.0  # an element of a result that is transposed in registers
TURNED = 6.0  # copying one of its right operand as it lies
SCATTERED = 64.0  # reading an element of B from memory, a few columns of each row at a time
MEMORY = 4.0  # times the room of a packed B in the last level, above which arrays lie in memory
PAIRING = 30.0  # writing a real value of the pairs that complex products are computed with
LOADING = 3.0  # loading an element of A for such sums, beside what it is multiplied by
SUMMING = 3.0  # multiplying it by up to four columns, with one for each of them
ADDING_UP = 12.0  # a lane at the end of a row, for each column
NEXT_LEVEL = 3.0  # loading one that is not in the second-level cache, more


def copying_operations(
    found: Contraction, blocks: Blocks, estimates: Mapping[str, int], *, handed: bool = False
) -> float:
    """Operations that the copies of one product are worth, and what is stored more than once or far away.

    handed: whether parts of the result are handed to its readers.
    """
    made = blocking(found, blocks, estimates, handed=handed)
    m, n, k = max(1.0, made.m), max(1.0, made.n), max(1.0, made.k)
    access, memory = access_of(found), MEMORY * blocks.nc * blocks.kc
    first = BEFORE * m * n if Access.STARTS in access else 0.0
    if made.near:
        return first + (NEAR_PACKING * k * n if made.packs_right else 0.0)
    if made.reads is not None:
        read, copied = (k * n, m * k) if made.reads == "right" else (m * k, k * n)
        return first + READING * read + CACHED_PACKING * copied + (STORING * m * n if m * n > memory else 0.0)
    if made.lanes_of is not None:
        return TURNED * k * n + CACHED_PACKING * m * k + TURNING * m * n
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


def summing_operations(m: float, n: float, k: float, blocks: Blocks) -> float:
    """Operations that sums along the rows of A are worth, of n columns, without loading A."""
    return m * (k * (SUMMING * ceil(n / 4) + n) + ADDING_UP * n * blocks.lanes)


def pairing_operations(n: float, k: float) -> float:
    """Operations that writing the pairs of a complex right operand is worth, of k x n real values."""
    return PAIRING * k * n
