"""Stages of several parts: a nest for each rectangular piece of these, over its own part of the ranges.

The interior of an array with a border runs in blocks of rows on vectors, as a stage without a border does;
the border, in which some dimension has one value, runs in plain loops beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import Block, CCall, CExpr, Declare, Id, Stmt, names_in
from polymat.codegen.c.needs import MAX_I64, MIN_I64, Need
from polymat.codegen.loops.jam import RangedLoops
from polymat.codegen.loops.nestloops import NestStatement
from polymat.codegen.loops.ranges import Range
from polymat.dataclass import dataclass
from polymat.lang.affine import Affine

Finish = Callable[[tuple[Stmt, ...]], tuple[Stmt, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class PieceLoops:
    """The loops of a function piece by piece.

    whole: the same for all of it.  finish: what is done to the loops of a piece that is no border.  size: a
    form over the sizes in C.
    """

    whole: RangedLoops
    size: Callable[[Affine], CExpr]
    needs: set[Need]
    finish: Finish

    def body(self) -> tuple[Stmt, ...]:
        """The loops of all pieces, one after the other.

        before:  for i: for j: if inside: y[i][j] = ...; else: y[i][j] = x[i][j]
        after:   { begin = max(begin, 1);  end = min(end, N - 1);  for i: for j: y[i][j] = ... }
                 if begin == 0: for j: y[0][j] = x[0][j];  ...
        """
        items = self.whole.statements.items
        if len(items) == 1:
            return self.finish(self.whole.body())
        return tuple(s for k, item in enumerate(items) for s in self._piece(f"_{k}", item))

    def _piece(self, name: str, item: NestStatement) -> tuple[Stmt, ...]:
        statements = replace(self.whole.statements, items=(item,))
        loops = replace(self.whole, statements=statements)
        if _is_thin(item):
            return replace(loops, plan=replace(loops.plan, unroll=1)).body()
        ranges = tuple(self._narrowed(name, item, part) for part in loops.ranges)
        body = self.finish(replace(loops, ranges=ranges).body())
        limits = tuple(self._limits(loops.ranges, ranges, names_in(body)))
        return (Block((*limits, *body)),) if limits and body else body

    def _narrowed(self, name: str, item: NestStatement, part: Range) -> Range:
        """The part of a range in which a piece has points; the range where that is not one form of sizes."""
        dim = item.ranged[part.number]
        found = item.domain.limits(dim) if dim is not None else None
        if found is None or found == (part.low, part.high):
            # Blocks declare where the rest of a range begins, which is theirs alone.
            return replace(part, piece=name) if self.whole.plan.unroll > 1 else part
        return replace(part, low=found[0], high=found[1], piece=name)

    def _limits(self, wide: Sequence[Range], narrow: Sequence[Range], used: set[str]) -> Iterator[Stmt]:
        for whole, part in zip(wide, narrow, strict=True):
            if part is whole:
                continue
            self.needs.update({MAX_I64, MIN_I64})
            first = part.start if part.start in used else part.begin
            low, high = self.size(part.low), self.size(part.high + 1)
            yield Declare("const ptrdiff_t", first, CCall(MAX_I64.function, (Id(whole.begin), low)))
            yield Declare("const ptrdiff_t", part.end, CCall(MIN_I64.function, (Id(whole.end), high)))


def _is_thin(item: NestStatement) -> bool:
    """Whether some dimension has one value in all of a piece."""
    limits = (item.domain.limits(dim) for dim in item.domain.dims)
    return any(found is not None and found[0] == found[1] for found in limits)
