"""Recurrences in blocks of steps as nests: a few steps in loops, then what they add to later results.

C functions beside the nest itself:

    steps     all that steps begin <= k < end compute but what waits, in the order of the loops
    rows      the part of that in rows behind these steps, row after row where the order allows it
    strips    the same of as many rows at a time as a vector has lanes
    add       what these steps add to a rectangle of results: one product
    lines     the rows cut into pieces for a team where that pays
    share     the product cut so
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Assign,
    CBinary,
    CCall,
    CExpr,
    CUnary,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Stmt,
)
from polymat.codegen.c.needs import MIN_I64, Piece
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.products.eliminationparts import EliminationParts
from polymat.codegen.products.eliminationshares import TEAM_PARAMETERS, SharesWriter
from polymat.codegen.products.eliminationstrips import StripsWriter
from polymat.codegen.products.eliminationsums import SumsWriter
from polymat.errors import InternalError
from polymat.graph.stage import Stage
from polymat.plan.blockedsteps import EliminationPlan

DONE, FROM, TO, HALF, LIMIT = "_pm_done", "_pm_from", "_pm_to", "_pm_half", "_pm_limit"


def elimination_nest(
    writer: StageWriter, stage: Stage, plan: EliminationPlan, along: Sequence[str | None], kind: str
) -> NestFunction:
    """The nest of a recurrence in blocks of steps, all of it."""
    if kind != "nest" or any(dim not in (None, plan.parallel) for dim in along):
        raise InternalError(f"bug in polymat: a part of the recurrence {stage.name} in blocks of steps")
    return _EliminationWriter(writer, stage, plan).nest()


class _EliminationWriter(EliminationParts):
    """Writes the nest of one recurrence."""

    def nest(self) -> NestFunction:
        """The loop over blocks of steps, after the steps before them."""
        writer, plan, stage = self.writer, self.plan, self.stage
        writer.needs.update({MIN_I64, Piece.PLACE, self.shape})
        in_loops, shares = StripsWriter(writer, stage, plan), SharesWriter(writer, stage, plan)
        steps, add = in_loops.function(), SumsWriter(writer, stage, plan).function()
        share, pads = shares.sums(add), self.pads()
        helpers, behind = [steps], None
        if plan.by_rows:
            rows = in_loops.beyond()
            strips = in_loops.strips(rows)
            behind = shares.lines(strips or rows, in_loops.lanes if strips else 1)
            helpers += [rows, *([strips] if strips else []), behind]
        body = (*in_loops.before(), *self._blocks(steps, behind, share))
        nest = writer.as_nest((stage,), plan, body, "nest", ())
        function = nest.function
        parameters = (*self.pad_parameters(), *function.parameters, *TEAM_PARAMETERS)
        return replace(
            nest,
            function=replace(function, parameters=parameters),
            arguments=(*(Id(pad.array) for pad in pads), *nest.arguments),
            helpers=tuple(helper.function for helper in (*helpers, add, share)),
            pads=pads,
        )

    def _blocks(
        self, steps: NestFunction, behind: NestFunction | None, share: NestFunction
    ) -> tuple[Stmt, ...]:
        """A few steps in loops; behind each half of a block the other half, behind a block all results."""
        least, most = Literal(str(self.plan.least)), Literal(str(self.plan.most))
        stop = self.size(self.stage.box[0][1] + 1)
        first, end = Literal(str(self.found.first)), Id(TO)
        count = CBinary("-", end, Id(DONE))
        is_whole = CBinary("||", CBinary("==", count, most), CBinary("==", end, stop))
        body: tuple[Stmt, ...] = (
            Declare("const ptrdiff_t", TO, self._smaller(CBinary("+", Id(FROM), least), stop)),
            self._run(steps, Id(FROM), end),
            *(
                ()
                if behind is None
                else (self._run(behind, Id(FROM), end, self._begin(0, end), self._end(0)),)
            ),
            If(is_whole, self._all(share), self._other_half(share, stop, count)),
        )
        return (
            Declare("ptrdiff_t", DONE, first),
            For(FROM, first, CBinary("<", Id(FROM), stop), least, body),
        )

    def _smaller(self, one: CExpr, other: CExpr) -> CExpr:
        return CCall(MIN_I64.function, (one, other))

    def _begin(self, dim: int, end: CExpr) -> CExpr:
        """The first row (0) or column (1) that waits for the steps before `end`."""
        begin = self.found.trailing.begins[dim]
        if begin is None:
            return self.size(self.stage.box[1 + dim][0])
        by = begin - 1
        return end if by == 0 else CBinary("+" if by > 0 else "-", end, Literal(str(abs(by))))

    def _end(self, dim: int) -> CExpr:
        return self.size(self.stage.box[1 + dim][1] + 1)

    def _run(self, part: NestFunction, *limits: CExpr) -> Stmt:
        return Evaluate(CCall(part.function.name, (*part.arguments, *limits)))

    def _all(self, share: NestFunction) -> tuple[Stmt, ...]:
        """What the steps of a whole block add to all later results."""
        end = Id(TO)
        sides = [limit for dim in (0, 1) for limit in (self._begin(dim, end), self._end(dim))]
        return (self._run(share, Id(DONE), end, *sides), Assign(Id(DONE), "=", end))

    def _other_half(self, share: NestFunction, stop: CExpr, count: CExpr) -> tuple[Stmt, ...]:
        """What a half adds to the results that the other half finishes: rows of them, and columns."""
        end, limit = Id(TO), Id(LIMIT)
        begin = CBinary("-", end, Id(HALF))
        cut = [found is not None for found in self.found.trailing.begins]
        rows = [self._begin(0, end), self._smaller(self._begin(0, limit), self._end(0))]
        columns = [self._begin(1, end), self._smaller(self._begin(1, limit), self._end(1))]
        body: list[Stmt] = [
            Declare("const ptrdiff_t", HALF, CBinary("&", count, CUnary("-", count))),
            Declare("const ptrdiff_t", LIMIT, self._smaller(CBinary("+", end, Id(HALF)), stop)),
        ]
        if cut[0]:
            body.append(self._run(share, begin, end, *rows, columns[0], self._end(1)))
        if cut[1]:
            top = rows[1] if cut[0] else rows[0]
            body.append(self._run(share, begin, end, top, self._end(0), *columns))
        return tuple(body)
