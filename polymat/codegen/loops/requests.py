"""Requests of blocks of rows while they are summed up: for more of these rows, or for the next ones.

Hardware prefetch follows few rows at a time, no further than a page, and not backwards from block to block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from polymat.codegen.c.ctree import (
    CBinary,
    CExpr,
    CUnary,
    Declare,
    Evaluate,
    For,
    Id,
    Literal,
    Stmt,
    Ternary,
    names_in,
)
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import is_element
from polymat.codegen.c.shorthand import request
from polymat.codegen.loops.bodies import BodyWriter
from polymat.codegen.loops.toandfro import backwards
from polymat.dataclass import dataclass
from polymat.plan.loops import LoopPlan

NEAR = "_pm_near"  # near the end of a row, from where on the next block's rows are asked for


@dataclass(frozen=True, slots=True)
class SplitRow:
    """A row in two parts.

    low, behind: the ends.  near: where the second part begins.  here, there: what a point of either asks for.
    """

    low: CExpr
    behind: CExpr
    near: CExpr
    here: tuple[Stmt, ...]
    there: tuple[Stmt, ...]

    def loops(self, loop: Callable[[CExpr, CExpr, tuple[Stmt, ...]], For]) -> Iterator[Stmt]:
        """Both parts one after the other; loop: over points between ends, of what each asks for."""
        yield Declare("const ptrdiff_t", NEAR, self.near)
        yield loop(self.low, Id(NEAR), self.here)
        yield loop(Id(NEAR), self.behind, self.there)


@dataclass(frozen=True, slots=True)
class Requests:
    """Asks for elements that vectors will begin at.

    arrays: of which something is asked for.  block: the index that blocks run along.  further: what has to be
    added to it for the next block.  bytes: how far ahead in a row.
    """

    arrays: frozenset[str]
    block: str
    further: CExpr
    bytes: int

    @staticmethod
    def of(plan: LoopPlan, bodies: BodyWriter, along: str | None) -> Requests | None:
        """Requests of the blocks of a plan; None where there are none.  along: the dimension of blocks."""
        coming = bodies.pipeline.coming
        if not plan.requests or not coming or along is None or plan.unroll <= 1:
            return None
        further: CExpr = Literal(str(plan.unroll))
        if plan.turning:
            further = Ternary(backwards(bodies.index_name(plan.turning)), CUnary("-", further), further)
        arrays = frozenset(map(bodies.array, coming))
        return Requests(arrays, bodies.index_name(along), further, plan.requests)

    def split(
        self, elements: Iterable[CExpr], variable: str, low: CExpr, behind: CExpr, ahead: int
    ) -> SplitRow:
        """A row, near whose end the rows of the next block are asked for, from their begin on.

        elements: what is read at a point.  low, behind: the ends.  ahead: by how many elements.
        """
        length, distance = CBinary("-", behind, low), Literal(str(ahead))
        near = Ternary(CBinary(">", length, distance), CBinary("-", behind, distance), low)
        each = list(elements)
        here = tuple(asked for e in each for asked in self._here(e, variable, ahead))
        back = CBinary("-", length, distance)
        there = tuple(asked for e in each for asked in self._there(e, variable, back))
        return SplitRow(low, behind, near, here, there)

    def _here(self, element: CExpr, variable: str, ahead: int) -> Iterator[Stmt]:
        """Ask for what is so many elements ahead in the same row."""
        if self._is_asked(element):
            point = CBinary("+", Id(variable), Literal(str(ahead)))
            yield request(CUnary("&", substituted(element, {Id(variable): point})))

    def _there(self, element: CExpr, variable: str, back: CExpr) -> Iterator[Stmt]:
        """Ask for what is so many elements back in the same row of the next block."""
        if self._is_asked(element):
            other, point = CBinary("+", Id(self.block), self.further), CBinary("-", Id(variable), back)
            there = substituted(element, {Id(variable): point, Id(self.block): other})
            yield request(CUnary("&", there))

    def _is_asked(self, element: CExpr) -> bool:
        return is_element(element, self.arrays) and self.block in names_in([Evaluate(element)])
