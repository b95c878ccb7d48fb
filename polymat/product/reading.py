"""Products of few rows whose right operand is read where it is: how much of it is requested together.

`polymat.product.ways` says which products these are.
"""

from __future__ import annotations

from math import ceil

from polymat.product.asked import small
from polymat.product.blocks import Blocks
from polymat.product.formula import Values
from polymat.product.formulanames import LetNumber
from polymat.product.numbers import larger, quotient, smaller, whole
from polymat.product.ways import panel, panels, read_depth

GROUP = 16  # panels that are requested together, at most
LEAST_GROUP = 3

fitting = LetNumber("fitting", larger(whole(whole(small, 4), read_depth * panel), LEAST_GROUP))
most_together = LetNumber("most_together", smaller(fitting, GROUP))
groups = LetNumber("groups", quotient(panels, most_together))


def group_columns(n: float, values: Values, blocks: Blocks) -> int:
    """Columns of a segment of n that are requested together, where B is read beside few rows.

    values: of what is asked of the product.
    """
    segment = {**values, "n": n}
    return min(ceil(panels.at(segment) / groups.at(segment)) * blocks.columns, ceil(n))
