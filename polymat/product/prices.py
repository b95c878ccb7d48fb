"""What a product costs in each of its ways, in operations at the peak: written down once, as formulas.

Python evaluates them, and generated code computes the same where it chooses between a library and its own
product (`polymat.codegen.products.blockcost`).  Measured on a Zen 5, one thread, float32 and float64.
"""

from __future__ import annotations

from collections.abc import Mapping

from polymat.product.asked import (
    column_segments,
    depth_segments,
    k,
    kc,
    lanes,
    m,
    mirrored,
    n,
    nc,
    place,
    rows,
    small,
    started,
    vectors,
)
from polymat.product.formula import Constant, Number
from polymat.product.formulanames import LetNumber
from polymat.product.numbers import larger, quotient, smaller, where
from polymat.product.packs import BLOCKED_LEFT, BLOCKED_RIGHT, COPIED_LEFT, COPIED_RIGHT, PASSING_LEFT, cut
from polymat.product.ways import NEARBY, Way, height, panel, read_pieces, wide

PAIRING = 30.0  # writing a real value of the pairs that complex products are computed with
FULL_SHARE = Constant(0.98)  # of the peak that full register blocks reach
FILL = Constant(2.5)  # steps of depth that filling and storing a register block is worth
LEAST_SUMS = Constant(8.0)  # accumulators of a register block below which it waits for the addition
STARTING = Constant(1200.0)  # operations that the loops around the register blocks are worth
PACKING = Constant(48.0)  # packing an element, or adding a block of depth to one of the result
CACHED_PACKING = Constant(30.0)  # the same where all stays in the second-level cache
NEAR_PACKING = Constant(16.0)  # the same of a right operand that is copied as a whole, to where it stays near
STORING = Constant(16.0)  # storing an element of a result that the caches do not hold
BEFORE = Constant(18.0)  # an element of the result that loops compute before
READING = Constant(3.0)  # an element of a large operand that is read where it is beside a few rows or columns
TURNING = Constant(24.0)  # an element of a result that is transposed in registers
TURNED = Constant(6.0)  # copying one of its right operand as it lies
SCATTERED = Constant(64.0)  # reading an element of B from memory, a few columns of each row at a time
MEMORY = Constant(4.0)  # times the room of a packed B in the last level, above which arrays lie in memory
LOADING = Constant(3.0)  # loading an element of A for sums along its rows, beside what it is multiplied by
SUMMING = Constant(3.0)  # multiplying it by up to four columns, with one for each of them
ADDING = Constant(2.0)  # loading an element of a result in the caches, and storing it again
ADDING_UP = Constant(12.0)  # a lane at the end of a row, for each column
NEXT_LEVEL = Constant(3.0)  # loading one that is not in the second-level cache, more

memory = LetNumber("memory", MEMORY * nc * kc)
all_columns = LetNumber("all_columns", n * column_segments)
all_depth = LetNumber("all_depth", k * depth_segments)
results = LetNumber("results", height * all_columns)
of_right = LetNumber("of_right", all_depth * all_columns)
first = LetNumber("first", where(started, BEFORE * results, 0))

# Loading A for the sums of a few columns, once.
loaded = LetNumber(
    "loaded", m * k * (LOADING + where(m * k > small, NEXT_LEVEL, 0) + where(m * k > memory, STORING, 0))
)
summed = m * (k * (SUMMING * quotient(n, 4) + n) + ADDING_UP * n * lanes)

# The transpose by register blocks, whose rows are the columns.
across = LetNumber("across", quotient(m, lanes))
transposed_strips = LetNumber("transposed_strips", quotient(n, rows))
transposed_waits = LetNumber(
    "transposed_waits", LEAST_SUMS * transposed_strips * quotient(across, vectors) / (n * across)
)
transposed = 2.0 * (n * across * lanes * larger(transposed_waits, 1)) * (k + FILL) / FULL_SHARE

# Register blocks, counted higher where they are not full and where they wait for the addition.
waits = LetNumber("waits", LEAST_SUMS * quotient(m, rows) * quotient(wide, vectors) / (m * wide))
full_steps = LetNumber("full_steps", height * column_segments * wide * lanes)
steps = LetNumber("steps", full_steps * larger(waits, 1))
per_step = LetNumber("per_step", (all_depth + FILL) * 2 / FULL_SHARE)


def _share(unit: Number) -> Number:
    """Of the points of a triangle: half, and register blocks that its diagonal goes through."""
    line = where(place.equals(2), n, m)
    return where(cut, 0.5 * (1 + smaller(unit / line, 1)), 1)


blocks_share = LetNumber("blocks_share", _share(panel))
near_share = LetNumber("near_share", _share(where(place.equals(3), lanes, panel)))
multiplied = LetNumber("multiplied", blocks_share * steps * per_step)


def _packing(left: LetNumber, right: LetNumber, storing: Number) -> Number:
    """Copies of so many elements, and what is stored more than once or far away."""
    most = larger(larger(of_right, left), results)
    cached = (height <= 2 * rows) | (most <= NEARBY * small)
    added_up = results * (quotient(all_depth, kc) - 1)
    return where(cached, CACHED_PACKING * (left + right), PACKING * (left + right + added_up) + storing)


of_left = where(place.equals(1) & ~mirrored, 0.5, 1) * height * all_depth
passing_left = LetNumber("passing_left", where(PASSING_LEFT, of_left, 0))
blocked_left = LetNumber("blocked_left", where(BLOCKED_LEFT, of_left * quotient(all_columns, nc), 0))
blocked_right = LetNumber("blocked_right", where(BLOCKED_RIGHT, of_right, 0))
far_stored = where(results > memory, STORING * results, 0)
packed_parts = _packing(passing_left, of_right, far_stored)
packed_blocks = _packing(blocked_left, blocked_right, STORING * results)

in_place = multiplied + first + where(of_right > memory, SCATTERED * of_right, 0) + STARTING
near_copy = NEAR_PACKING * (where(COPIED_RIGHT, k * n, 0) + where(COPIED_LEFT, m * k, 0))
beside_rows = READING * k * all_columns + CACHED_PACKING * height * k
further_pieces = ADDING * results * (read_pieces - 1)
beside_columns = READING * height * k + CACHED_PACKING * k * all_columns
turned = TURNED * k * all_columns + CACHED_PACKING * height * k + TURNING * results

# Without what loading A costs in those of a few columns.
COMPUTING: Mapping[Way, Number] = {
    Way.UNROLLED: blocks_share * full_steps * per_step,
    Way.LANES_OVER_DEPTH: summed + STARTING,
    Way.FEW_ROWS: multiplied + first + beside_rows + further_pieces + far_stored + STARTING,
    Way.FEW_COLUMNS: multiplied + first + beside_columns + far_stored + STARTING,
    Way.RESULT_TRANSPOSED: transposed + STARTING,
    Way.COPIED_NEAR: near_share * steps * per_step + first + near_copy + STARTING,
    Way.SMALL: in_place,
    Way.LANES_OVER_SEGMENTS: multiplied + turned + STARTING,
    Way.RIGHT_IN_PARTS: multiplied + first + packed_parts + STARTING,
    Way.BLOCKED: multiplied + first + packed_blocks + STARTING,
    Way.ROW: in_place,
    Way.COLUMN: in_place,
    Way.DIRECT: in_place,
}
# Some rows of a product whose right operand was packed before, and packing it; `kc`: in so deep pieces.
BY_PANELS = multiplied + first + ADDING * results * (quotient(all_depth, kc) - 1) + STARTING
PACKED_BEFORE = PACKING * of_right
LOADED: Mapping[Way, Number] = {
    Way.LANES_OVER_DEPTH: loaded,
    Way.RESULT_TRANSPOSED: transposed_strips * loaded,
}


def price(way: Way) -> Number:
    """All that a product costs in a way."""
    return COMPUTING[way] + LOADED.get(way, Constant(0))


def pairing_operations(n: float, k: float) -> float:
    """Operations that writing the pairs of a complex right operand is worth, of k x n real values."""
    return PAIRING * k * n
