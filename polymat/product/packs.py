"""Which operands of a product by blocks are copied: written down once, for Python and for generated C."""

from __future__ import annotations

from polymat.product.asked import (
    along,
    column_segments,
    depth_segments,
    in_order,
    joinable,
    k,
    m,
    mirrored,
    n,
    place,
    row_segments,
    rows,
    slides,
    small,
)
from polymat.product.formulanames import LetCondition, LetNumber
from polymat.product.numbers import quotient
from polymat.product.ways import MANY_STRIPS, height, large, one_right, panels, repays, strips

FEW_PANELS, MANY_PANELS = 2, 16  # for which a copy of the left operand never pays, and always does

all_panels = LetNumber("all_panels", panels * column_segments)
# Segments of depth that register blocks walk over where they lie, and weights that stay beside them, where
# the second level holds them and too few pixels pass them to repay a copy: from beyond it the first strip of
# pixels reads them by requests, which takes a copy.
windows = LetCondition("windows", slides & along & (depth_segments > 1))
may_stay = LetCondition(
    "may_stay",
    windows
    & in_order
    & column_segments.equals(1)
    & (k * depth_segments * n <= small)
    & ~(MANY_STRIPS & repays(k * depth_segments)),
)
stays = LetCondition("stays", may_stay)  # generated code looks at whether segments follow each other, too
cut = ~place.equals(0) & ~mirrored  # blocks are those of a triangle

# Few panels do not pay for a copy of A: where its depth is contiguous, one segment follows the other.
# Windows that overlap are never copied, since a copy has what they share several times.
as_it_is = windows | (place.equals(0) & along & (all_panels <= FEW_PANELS) & (k >= 64))
BLOCKED_LEFT = (
    ((depth_segments > 1) & ~as_it_is)
    | (place.equals(1) & ~cut)
    | (~windows & (all_panels >= MANY_PANELS))
    | (~windows & ((all_panels > FEW_PANELS) | ~along) & (height * k > small / 2))
)
# Rows of segments that follow each other in the result share strips, where these are fewer: that takes a copy
# of A, of windows too, which many panels repay.
joined = LetCondition(
    "joined",
    joinable & along & (all_panels >= MANY_PANELS) & (quotient(m * row_segments, rows) < strips),
)
# Beside a triangle of A or C, rows of B that the second level holds are read where they are.
beside = one_right & in_order & (place.equals(1) | place.equals(3))
BLOCKED_RIGHT = ~stays & (~beside | large)
PASSING_LEFT = ~along | place.equals(1)
# Of few elements, of symmetric operands the whole.
COPIED_LEFT = place.equals(1) & mirrored
COPIED_RIGHT = ~in_order | (place.equals(2) & mirrored)
