"""Where threads cut a range, the rows of a triangle, or a grid: each formula is written down once.

`shares` evaluates them, and generated code computes them (`polymat.codegen.cutranges`, `kernels/grid.h`).
`even` cuts a range into whole units, `area` the lines of a triangle, counted from its tip, and `cut` the
columns that lines first to last - 1 of one have:

    line first      # # # # # # . .
    line last - 1   # # # # # # # #      "before": columns up to those of the lines' own numbers; else "after"

All lines have some columns in common, and end one after the other; parts have as many points each.
"""

from __future__ import annotations

from polymat.product.formulanames import Fact, LetNumber, Name
from polymat.product.numbers import larger, quotient, root, smaller, where, whole

before = Fact("before")
first, last, length, unit, part, parts = map(Name, ("first", "last", "length", "unit", "part", "parts"))

even = whole(quotient(length, unit) * part, parts) * unit
"""Where a part begins, of whole numbers; the last ones begin at the end at most, which units may pass."""

area = length * root(part / parts)
"""Lines of a triangle, from its tip, that have so many of its parts; cut off to a whole number."""

# Columns are measured from the side that all lines have: `common` of them, and then up to as many as lines.
high = LetNumber("high", last - first)
common = LetNumber("common", where(before, first, larger(length - last, 0)))
wanted = LetNumber("wanted", (common * high + high * high / 2) * (where(before, part, parts - part) / parts))
rest = LetNumber("rest", high * high - 2 * (wanted - common * high))
is_common = (wanted <= common * high) | (high <= 0)
far = LetNumber("far", where(is_common, wanted / larger(high, 1), common + high - root(larger(rest, 0))))
place = LetNumber("place", whole(where(before, far, length - far), 1))
between = LetNumber("between", larger(0, smaller(whole(place, unit) * unit, length)))
cut = LetNumber("cut", where(part <= 0, 0, where(part >= parts, length, between)))
