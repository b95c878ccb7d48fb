"""Products of few rows whose right operand is read where it is: how much of it is requested together.

`polymat.product.ways` says which products these are.
"""

from __future__ import annotations

from math import ceil

from polymat.product.asked import k, small
from polymat.product.blocks import Blocks
from polymat.product.formulanames import LetNumber
from polymat.product.numbers import larger, quotient, smaller, whole
from polymat.product.question import machine_values
from polymat.product.ways import panel, panels

GROUP = 16  # panels that are requested together, at most
LEAST_GROUP = 3

fitting = LetNumber("fitting", larger(whole(whole(small, 4), k * panel), LEAST_GROUP))
most_together = LetNumber("most_together", smaller(fitting, GROUP))
groups = LetNumber("groups", quotient(panels, most_together))


def group_columns(n: float, k: float, blocks: Blocks) -> int:
    """Columns of a segment of n that are requested together, where B of depth k is read beside few rows."""
    values = machine_values(blocks) | {"n": n, "k": k}
    return min(ceil(panels.at(values) / groups.at(values)) * blocks.columns, ceil(n))
