"""What decisions about a product are asked with: its extents, how its operands lie, and the machine's blocks.

The names are those of the fields of the structure that generated code fills before it multiplies, and where
it prices a product (`polymat.codegen.products.waystext`).
"""

from __future__ import annotations

from polymat.product.formulanames import Fact, Name

# Rows and columns of a segment, depth of one, and how many segments each has.
m, n, k = Name("m"), Name("n"), Name("k")
row_segments, column_segments, depth_segments = (
    Name("row_segments"),
    Name("column_segments"),
    Name("depth_segments"),
)

along = Fact("along")  # steps of the depth are neighbours in A
rowwise = Fact("rowwise")  # rows are
in_order = Fact("in_order")  # columns are neighbours in B
down = Fact("down")  # steps of the depth are
# The largest power of two that divides the step of the depth in A and in B.
left_power, right_power = Name("left_power"), Name("right_power")

place = Name("place")  # of a triangle: 1 A, 2 B, 3 the result, or 0: there is none
mirrored = Fact("mirrored")  # whether its other part is that of a symmetric matrix
slides = Fact("slides")  # neighbouring rows share elements, as the windows of a convolution do
runs = Fact("runs")  # segments of columns are neighbours in B, eight at least, and nothing else is
handed = Fact("handed")  # parts of the result are handed to its readers
ended = Fact("ended")  # readers of it are computed in registers
added = Fact("added")  # the result is added to an array
started = Fact("started")  # which loops compute first
past = Fact("past")  # the result is written past the caches

# Register blocks of rows x (vectors x lanes), blocks for the caches, elements of the second level, and the
# most depth of turned blocks, or 0.
rows, vectors, lanes = Name("rows"), Name("vectors"), Name("lanes")
kc, nc, small, turned_depth = Name("kc"), Name("nc"), Name("small"), Name("turned_depth")

# Of blocks for the caches alone: of the left operand, whether neighbouring segments of the depth are packed
# together, and whether segments of rows follow each other in the result; whether they do so there and in
# what that is added to, and nobody is handed parts of them.
mc, gathers, follows, joinable = Name("mc"), Fact("gathers"), Fact("follows"), Fact("joinable")

FACTS = (along, rowwise, in_order, down, mirrored, slides, runs, handed, ended, added, started, past)
NUMBERS = (
    *(m, n, k, row_segments, column_segments, depth_segments, left_power, right_power, place),
    *(rows, vectors, lanes, kc, nc, small, turned_depth),
)
KNOWN = tuple(each.name for each in FACTS if each not in (along, rowwise, in_order, down))
