"""Innermost loops in two, block of points by block: what vectors compute of all points, and then the rest.

before:  for i: y[i] = table[clamp(x[i])]
after:   for i by 64:  for 64: p[i - first] = clamp(x[i]);  for 64: y[i] = table[p[i - first]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
    CCall,
    CExpr,
    Declare,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
)
from polymat.codegen.c.needs import MIN_I64, Need
from polymat.codegen.c.vectorloops import VECTORS
from polymat.dataclass import dataclass

TOGETHER = 64  # points
FIRST, END, HIGH = "_pm_block_first", "_pm_block_end", "_pm_block_high"


@dataclass(frozen=True, slots=True)
class Kept:
    """A value that is computed for all points of a block first, and kept in an array of its own.

    point: the variable of the loop.
    """

    name: str
    ctype: str
    value: CExpr
    point: str

    @property
    def element(self) -> CExpr:
        """Where it is at a point."""
        return Subscript(Id(self.name), CBinary("-", Id(self.point), Id(FIRST)))


def in_two(
    loop: For,
    span: tuple[CExpr, CExpr],
    before: Sequence[Stmt],
    kept: Sequence[Kept],
    then: Sequence[Stmt],
    needs: set[Need],
) -> Block:
    """A loop over blocks of points.

    span: its first index and the one behind the last.  before: what the values need.  then: what is done with
    them, point by point.
    """
    needs.add(MIN_I64)
    first, point = Id(FIRST), Id(loop.variable)
    arrays = [Declare(each.ctype, f"{each.name}[{TOGETHER}]") for each in kept]
    found: list[Stmt] = [*before, *(Assign(each.element, "=", each.value) for each in kept)]
    inside = CBinary("<", point, Id(END))
    vectors = For(loop.variable, first, inside, Literal("1"), tuple(found), (VECTORS,))
    rest = replace(vectors, body=tuple(then), pragmas=())
    high = CBinary("+", first, Literal(str(TOGETHER)))
    end = Declare("const ptrdiff_t", END, CCall(MIN_I64.function, (high, Id(HIGH))))
    body: tuple[Stmt, ...] = (*arrays, end, vectors, rest)
    blocks = For(FIRST, span[0], CBinary("<", first, Id(HIGH)), Literal(str(TOGETHER)), body)
    return Block((Declare("const ptrdiff_t", HIGH, span[1]), blocks))
