"""The ways in which a product is computed, and when each is taken: the first whose condition holds.

The table is written down once.  Python evaluates it for prices and reports (`polymat.product.question`);
generated code computes the same before it multiplies and where it prices a product
(`polymat.codegen.products.waystext`).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from polymat.product.asked import (
    added,
    along,
    column_segments,
    depth_segments,
    down,
    ended,
    handed,
    in_order,
    k,
    kc,
    lanes,
    left_power,
    m,
    mirrored,
    n,
    past,
    place,
    right_power,
    row_segments,
    rows,
    rowwise,
    runs,
    small,
    turned_depth,
    vectors,
)
from polymat.product.formula import ALWAYS, Constant, Number, Predicate, Values, asker_of
from polymat.product.formulanames import LetCondition, LetNumber
from polymat.product.numbers import larger, quotient, smaller, where, whole


class Way(Enum):
    """How a product is computed; the value says so in words."""

    UNROLLED = "straight code"
    LANES_OVER_DEPTH = "sums along the rows of the left operand, lanes along the depth"
    FEW_ROWS = "few rows beside the right operand where it is"
    FEW_COLUMNS = "few columns beside the left operand where it is"
    RESULT_TRANSPOSED = "its transpose, lanes along the rows"
    COPIED_NEAR = "few elements, copied where need be to where they stay near"
    SMALL = "operands where they are, unasked"
    LANES_OVER_SEGMENTS = "turned register blocks, lanes along segments of columns"
    RIGHT_IN_PARTS = "strips of the left operand past parts of the right one"
    BLOCKED = "blocks for the caches"
    ROW = "sums of rows of the right operand"
    COLUMN = "sums along the rows of the left operand, of one column"
    DIRECT = "operands where they are"


MOST_UNROLLED = 256  # vectors of multiplications of a product of constant extents that is straight code
UNROLLED_EXTENT = 64  # rows, columns and depth of one are less: a power of two
ALWAYS_FEW = 4  # columns of which sums along rows are taken whatever vectors hold
NEAR_ELEMENTS = 96 * 96  # of a copy of B: on the stack, and a good part of it in the first level
NEAR_ROWS = 4096  # that pass it, at most
LEAST_SMALL = 32768  # elements that the second level holds, at least, where nothing more is asked
UNASKED_EXTENT, UNASKED_DEPTH = 512, 64  # of products about which nothing is asked
FEW_STRIPS = 8  # of rows beside which the right operand is read where it is
READ_PANELS = 2  # of columns, the left one
LEAST_READ_DEPTH = 16
READ_ROWS = 64  # of the right operand that are read side by side: about as many as processors run ahead of
LINES = 16  # that share a set of the second level
LEAST_STRIPS = 8  # of rows that pass parts of the right operand
AMPLE_STRIPS = 16  # of rows that pay for a copy of it wherever it lies
NEARBY = 2  # second levels that hold what is read where it is by however many rows
PASSED_PARTS = 3  # that a right operand fills whose parts are too many for rows to pass where they are
TURNED_ROWS, TURNED_COLUMNS = 3, 8  # of a turned register block; lanes of its vectors
SETS = 3  # a set of columns of turned blocks takes this part of the second level, the next one lies beside it
LONG_ROW = 4  # vectors of a single row whose sums are kept

wide = LetNumber("wide", quotient(n, lanes))
width = LetNumber("width", quotient(n, lanes) * lanes)
panel = LetNumber("panel", vectors * lanes)
strips = LetNumber("strips", quotient(m, rows) * row_segments)
panels = LetNumber("panels", quotient(n, panel))
height = LetNumber("high", m * row_segments)

whole_result = place.equals(0)
one_depth = depth_segments.equals(1)
one_right = LetCondition("one_right", column_segments.equals(1) & one_depth)
single = LetCondition("single", row_segments.equals(1) & one_right & ~handed)
plain = LetCondition("plain", single & whole_result & ~ended)
ordered = LetCondition("ordered", in_order | n.equals(1))
matrix = plain & ordered

UNROLLED_SIZE = m * quotient(n, lanes) * k <= MOST_UNROLLED
UNROLLED = (m < UNROLLED_EXTENT) & (n < UNROLLED_EXTENT) & (k < UNROLLED_EXTENT) & UNROLLED_SIZE

# A few columns, of which vectors would be mostly empty.  As sums along the rows of A, where the columns of B
# are neighbours along the depth or worth a copy:
MANY_ROWS = (m >= 8) & (m >= 2 * n)
FEW_SUMS = (n <= ALWAYS_FEW) | (2 * n <= lanes)
LANES_OVER_DEPTH = along & (down | (ordered & MANY_ROWS)) & FEW_SUMS & (k >= 4 * lanes)
# As the transpose, where there is less than a vector of them, and enough depth for the result to be
# transposed, or A is not near enough to be read a few rows at a time:
RESULT_TRANSPOSED = (
    rowwise
    & ~along
    & (n <= 24)
    & (m >= lanes)
    & (m >= 2 * n)
    & (((n < lanes) & (k >= 3 * n)) | (8 * m * k > small))
)

# All of B is copied if anything of it is, and of a symmetric A a strip at a time; no more of a triangle of A
# than blocks for the caches read where it is.
NEAR = (
    (m <= NEAR_ROWS)
    & ((width + where(place.equals(1) & mirrored, rows, 0)) * k <= NEAR_ELEMENTS)
    & (m * k <= where(place.equals(1), small / 2, NEARBY * small))
    & (small >= LEAST_SMALL)
)
UNASKED_SIZE = (m * n <= LEAST_SMALL) & ((m > 1) | (n <= 64)) & (small >= LEAST_SMALL)
UNASKED = (m <= UNASKED_EXTENT) & (n <= UNASKED_EXTENT) & (k <= UNASKED_DEPTH) & UNASKED_SIZE


def _spread(power: Number) -> Number:
    """The most steps of the depth that the second level holds twice: their lines may share sets of it."""
    return whole(LINES * whole(whole(small, LINES), power), 2)


def repays(depth: Number) -> Predicate:
    """Whether a copy of so much depth of B pays where it passes many strips.

    It costs as much as a strip or two of the product.  More strips repay that, since rows of B begin anywhere
    within lines of the cache and may share sets of it; fewer do where B takes half of the second level, which
    the rest of the product needs, too.
    """
    return (panels > 1) & ((strips >= AMPLE_STRIPS) | (2 * depth * n > small))


READ_DEEP = (k >= LEAST_READ_DEPTH) & (k <= kc)
# Beside few rows a B that the second level does not hold is read where it is, a few of its rows at a time
# from one end to the other: of more rows processors fetch nothing ahead, and lines that are requested may be
# gone before they are used.
read_most = LetNumber("read_most", smaller(_spread(right_power), READ_ROWS))
read_pieces = LetNumber("read_pieces", quotient(k, larger(read_most, 1)))
read_depth = LetNumber("read_depth", quotient(k, larger(read_pieces, 1)))
FEW_ROWS = (
    in_order
    & (height > 1)
    & (strips <= FEW_STRIPS)
    & (n >= panel)
    & (k * (n * column_segments) > small)
    & (k >= LEAST_READ_DEPTH)
    & ((k <= read_most) | (read_most >= LEAST_READ_DEPTH))
)
FEW_COLUMNS = (
    rowwise
    & ~along
    & ~handed
    & (panels <= READ_PANELS)
    & (n > lanes)
    & (k * height > NEARBY * small)
    & (4 * panel * panels * k <= small)
    & READ_DEEP
    & (k <= _spread(left_power))
)

turned_set = Constant(TURNED_COLUMNS * TURNED_COLUMNS) * k  # of one vector
LANES_OVER_SEGMENTS = (
    runs
    & row_segments.equals(1)
    & one_depth
    & whole_result
    & ~handed
    & ~ended
    & ~added
    & (m >= 12)
    & (k >= 16)  # a part of it for less is not worth the loops around it
    & (k <= turned_depth)
    & (SETS * turned_set <= small)
    & (4 * (quotient(m, TURNED_ROWS) * TURNED_ROWS * k) <= small)
    & (k * n * column_segments > NEARBY * small)
)

unasked = LetCondition("unasked", UNASKED)
LARGE = k * n > NEARBY * small
large = LetCondition("large", LARGE)
# Of a right operand beyond the second level a panel deeper than a block is gone before the next strip.
DEEP = (k * n >= small) & (k > kc)
# Both operands can be read where they are, unless they are too large.
direct = LetCondition("direct", one_right & whole_result & ordered)
far = LetCondition(
    "far",
    ((height > 2 * rows) & (large | (height * n > NEARBY * small)))
    | ((strips > 1) & DEEP)
    | (~along & (height * k > small)),
)
# A copy of rows of A does not write past the caches.
rows_pass = (place.equals(1) & large) | (
    ~place.equals(1) & ~place.equals(2) & (along | (whole_result & rowwise & ~past))
)
MANY_STRIPS = height >= LEAST_STRIPS * rows
# Rows that pass a right operand part by part are read once for each part.  Where they lie beyond the second
# level, a strip of them in lines of as many pages as it has rows, a copy that is read in order repays that.
COPIES_LEFT = (
    whole_result & along & (height * k > NEARBY * small) & (n * smaller(k, kc) > PASSED_PARTS * small)
)
RIGHT_IN_PARTS = rows_pass & one_right & (m >= rows) & MANY_STRIPS & (k > 0) & ~COPIES_LEFT
# Whether neither operand of a product in order is copied, nor of one with fewer rows, columns and steps.
COPIES_NOTHING = (
    (k * n < small)  # of more, a few rows may be copied, beside which it is read
    & (m * n <= NEARBY * small)
    & ((m < LEAST_STRIPS * rows) | UNASKED)
)
# Whether copies of a product in any order, or beside a triangle, stay near, and those of a smaller one.
COPIES_NEAR = (
    COPIES_NOTHING
    & (m <= NEAR_ROWS)
    & ((width + rows) * k <= NEAR_ELEMENTS)
    & (m * k <= small / 2)
    & (small >= LEAST_SMALL)
)
ROW = height.equals(1) & (n >= LONG_ROW * lanes) & (4 * k * n > small) & ~handed & ~ended
COLUMN = n.equals(1) & along & down & (k >= lanes) & ~ended

# The first of these whose condition holds is taken; straight code before them, where extents are constant.
WAYS: Mapping[Way, Predicate] = {
    Way.LANES_OVER_DEPTH: plain & LANES_OVER_DEPTH,
    Way.FEW_ROWS: whole_result & one_depth & FEW_ROWS,
    Way.FEW_COLUMNS: whole_result & one_right & FEW_COLUMNS,
    Way.RESULT_TRANSPOSED: plain & RESULT_TRANSPOSED,
    Way.COPIED_NEAR: single & ((whole_result & ~ordered) | ~(whole_result | ended)) & NEAR,
    Way.SMALL: matrix & (n > 1) & unasked,
    Way.LANES_OVER_SEGMENTS: LANES_OVER_SEGMENTS,
    Way.RIGHT_IN_PARTS: (~direct | far | (along & repays(k) & ~unasked)) & RIGHT_IN_PARTS,
    Way.BLOCKED: ~direct | far,
    Way.ROW: ROW,
    Way.COLUMN: COLUMN,
    Way.DIRECT: ALWAYS,
}


def way_of(values: Values) -> Way:
    """The way that is taken with these values of what is asked."""
    return next(way for way, condition in WAYS.items() if asker_of(condition)(values))
