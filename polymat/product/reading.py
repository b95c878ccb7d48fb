"""Products of few rows whose right operand is read where it is: how much of it is read together.

`polymat.product.ways` says which products these are.
"""

from __future__ import annotations

from math import ceil

from polymat.product.asked import column_segments, small
from polymat.product.blocks import Blocks
from polymat.product.formula import Values
from polymat.product.formulanames import LetNumber
from polymat.product.numbers import larger, quotient, smaller, where, whole
from polymat.product.ways import height, panel, panels, read_depth, read_pieces

GROUP = 16  # panels that are requested together, at most
LEAST_GROUP = 3

fitting = LetNumber("fitting", larger(whole(whole(small, 4), read_depth * panel), LEAST_GROUP))
most_together = LetNumber("most_together", smaller(fitting, GROUP))
groups = LetNumber("groups", quotient(panels, most_together))
# Groups whose results stay in the second level while one part of the depth after the other is added to them;
# all, where that is one.
staying = whole(whole(small, 4), height * panel * quotient(panels, groups))
at_once = LetNumber("at_once", where(read_pieces > 1, larger(staying, 1), groups * column_segments))


def columns_at_once(n: float, values: Values, blocks: Blocks) -> int:
    """Columns of a segment of n that are read together, where B is read beside few rows.

    values: of what is asked of the product.
    """
    segment = {**values, "n": n}
    together = ceil(panels.at(segment) / groups.at(segment)) * ceil(at_once.at(segment))
    return min(together * blocks.columns, ceil(n))
