"""How products by blocks for the caches are cut: written down once, for Python and for generated code.

Of whole numbers.  The blocking is that of Goto and van de Geijn with two additions: where there is less depth
than `kc`, blocks are larger the other way; and where the left operand is packed once, or all rows are in one
block, a small part of the right operand is used at a time, so that its copy stays in the second level.
"""

from __future__ import annotations

from polymat.product.asked import (
    column_segments,
    depth_segments,
    down,
    follows,
    gathers,
    handed,
    in_order,
    k,
    kc,
    m,
    mc,
    n,
    nc,
    past,
    row_segments,
    rows,
    small,
)
from polymat.product.formula import Constant, Number
from polymat.product.formulanames import LetCondition, LetNumber
from polymat.product.numbers import larger, quotient, smaller, where, whole
from polymat.product.packs import PASSING_LEFT, all_panels
from polymat.product.ways import panel, panels, strips, whole_result

GATHERED = 8  # neighbouring segments that are packed together
WALKED = 2  # strips at a time of a result that is walked along its rows
LEAST_WIDE = 20  # register blocks wide: rows that a block holds at least where a small part of B is used
PASSED_EIGHTHS = Constant(5)  # of the second level that a part of B takes which all rows are read past


def share(name: str, count: Number, most: Number) -> LetNumber:
    """The largest of the fewest nearly equal pieces, `most` at most, that a number is cut into."""
    number = LetNumber(f"{name}_pieces", larger(quotient(count, most), 1))
    return LetNumber(name, larger(quotient(count, number), 1))


# Depth: pieces of a segment, chunks of all segments, and how many of these are packed together.
group = LetNumber("group", where(gathers, GATHERED, 1))
pieces = LetNumber("pieces", larger(quotient(k, whole(kc, group)), 1))
deep = LetNumber("deep", larger(quotient(k, pieces), 1))
chunks = LetNumber("chunks", where((k > 0) & (depth_segments > 0), pieces * depth_segments, 0))
together = LetNumber("together", where(chunks > 0, whole(whole(kc, deep), group) * group, 1))
deepest = LetNumber("deepest", where(chunks > 0, smaller(chunks, together) * deep, 1))
deeper = LetNumber("deeper", whole(kc, deepest))
whole_depth = LetCondition("whole_depth", chunks <= together)

segment_strips = LetNumber("segment_strips", quotient(m, rows))
tallest = LetNumber("tallest", whole(mc * deeper, rows))
fits = LetCondition("fits", strips <= tallest)
near = LetCondition("near", (mc < nc) & fits & (mc * deeper >= LEAST_WIDE * panel))
# B is packed a few panels at a time, before they are used; neighbouring segments have to be together.  Where
# A is packed only once, no panel is used again: further ones only push the others out.
few = LetNumber("few", larger(whole(whole(small, 4), panel * deepest), 1))
beside = LetCondition("beside", ~in_order & ~down & (column_segments >= GATHERED))
once = LetCondition("once", whole_result & ~beside & fits & whole_depth)
# Segments of rows of a result that does not stay are written in the order of memory: of a part of B all
# panels by a few strips of A, which is packed as a whole.
packed_left = LetNumber("packed_left", strips * rows * deepest)
several = row_segments > 1
ordered = LetCondition(
    "ordered", past & whole_result & ~handed & several & whole_depth & (packed_left <= nc * kc)
)
held = where(near, whole(mc, 4), nc) * deeper
widest = LetNumber("widest", where(ordered, 2 * few, where(once, few, whole(held, panel))))
batch = LetNumber("batch", where(beside, GATHERED * panels, where(in_order, few, 1)))
wanted = LetNumber("wanted", quotient(share("even_panels", all_panels, widest), batch) * batch)
equal = where(widest < batch, widest, where(wanted < widest, wanted, whole(widest, batch) * batch))
# Where segments are gathered, long runs of them count, more than that their copy stays in the second level.
gathered = LetCondition("gathered", near & beside & whole_result)
broad = LetNumber("broad", where(gathered, whole(nc * deeper, panel), equal))
left_over = LetNumber("left_over", small - packed_left)
most = LetNumber("most", where(left_over > whole(small, 4), whole(left_over * 4, 3), whole(small, 3)))
# Where the packed B stays in the second level, a result that does not is walked along its rows.
gains = gathered & (strips > 4)
stays = ~gathered & (smaller(broad, all_panels) * panel * deepest <= small)
walked = LetCondition("walked", ~several & (m * n > small) & (gains | stays))
most_tall = LetNumber("most_tall", where((walked | ordered) & (tallest > WALKED), WALKED, tallest))
whole_segments = ordered & follows & (segment_strips < tallest)
tall = LetNumber("tall", where(whole_segments, segment_strips, share("even_strips", strips, most_tall)))
resident = LetCondition(
    "resident", once | ordered | (whole_result & (gathered | (strips <= tall)) & whole_depth)
)

# Of a product whose rows pass parts of a packed B: panels of a part, and strips of A, all of them unless it
# is packed, and then as many as the last level is given for B elsewhere, or where that has one part, a
# quarter of what it takes.
passed_pieces = LetNumber("passed_pieces", larger(quotient(k, kc), 1))
passed_depth = LetNumber("passed_depth", larger(quotient(k, passed_pieces), 1))
room = LetNumber("room", whole(small * PASSED_EIGHTHS, 8))
widest_part = LetNumber("widest_part", larger(whole(room, panel * passed_depth), 1))
part = share("part", panels, widest_part)
parts = LetNumber("parts", quotient(panels, part))
is_one = LetCondition("is_one", (passed_pieces * parts).equals(1))
beside_part = where(is_one, whole(room, 4), nc * kc)
held_strips = LetNumber("held_strips", larger(whole(beside_part, rows * passed_depth), 1))
passing = LetNumber("passing", where(PASSING_LEFT, share("passing_strips", strips, held_strips), strips))
