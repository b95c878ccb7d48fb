"""Recurrences in blocks of steps as nests: a few steps in loops, then what they add to later results.

C functions beside the nest itself:

    steps     all that steps begin <= k < end compute but what waits, in the order of the loops
    rows      the part of that in rows behind these steps, row after row where the order allows it
    strips    the same of as many rows at a time as a vector has lanes
    add       what these steps add to a rectangle of results: one product
    share     the product cut into pieces for a team where that pays
    band      all of a block's steps in some rows behind it
    bands     the rows behind a block in bands, shared out so
    lines     or, where there are none, the rows behind a few steps, shared out so
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Assign,
    CBinary,
    CExpr,
    Declare,
    For,
    Id,
    If,
    Literal,
    Stmt,
)
from polymat.codegen.c.needs import MIN_I64, Piece
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.products.eliminationbands import BandsWriter
from polymat.codegen.products.eliminationparts import FROM, HALF, LIMIT, TO, EliminationParts, run, smaller
from polymat.codegen.products.eliminationshares import TEAM_PARAMETERS, SharesWriter
from polymat.codegen.products.eliminationstrips import StripsWriter
from polymat.codegen.products.eliminationsums import SumsWriter
from polymat.errors import InternalError
from polymat.graph.stage import Stage
from polymat.plan.blockedsteps import EliminationPlan

DONE, STOP = "_pm_done", "_pm_stop"


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
        first, last, rows, behind = [steps], [add, share], None, None
        if plan.by_rows:
            one_by_one = in_loops.beyond()
            strips = in_loops.strips(one_by_one)
            first += [one_by_one, *([strips] if strips else [])]
            rows = strips or one_by_one
            if self.has_bands:
                band = BandsWriter(writer, stage, plan).function(rows, add)
                behind = shares.bands(band)
                last += [band, behind]
            else:
                rows = shares.lines(rows, in_loops.lanes if strips else 1)
                first.append(rows)
        body = (*in_loops.before(), *self._blocks(steps, rows, behind, share))
        nest = writer.as_nest((stage,), plan, body, "nest", ())
        function = nest.function
        parameters = (*self.pad_parameters(), *function.parameters, *TEAM_PARAMETERS)
        return replace(
            nest,
            function=replace(function, parameters=parameters),
            arguments=(*(Id(pad.array) for pad in pads), *nest.arguments),
            helpers=tuple(helper.function for helper in (*first, *last)),
            pads=pads,
        )

    def _blocks(
        self, steps: NestFunction, rows: NestFunction | None, behind: NestFunction | None, share: NestFunction
    ) -> tuple[Stmt, ...]:
        """A few steps in loops; behind each half of a block the other half, behind a block all results.

        rows: what computes rows behind a few steps; behind: what computes those behind a whole block.
        """
        least, most = Literal(str(self.plan.least)), Literal(str(self.plan.most))
        all_steps = self.size(self.stage.box[0][1] + 1)
        first, end, stop = Literal(str(self.found.first)), Id(TO), Id(STOP)
        bottom = self.end(0) if behind is None else self.within(0, stop)
        body: tuple[Stmt, ...] = (
            Declare("const ptrdiff_t", TO, smaller(CBinary("+", Id(FROM), least), all_steps)),
            Declare("const ptrdiff_t", STOP, smaller(CBinary("+", Id(DONE), most), all_steps)),
            run(steps, Id(FROM), end),
            *(() if rows is None else (run(rows, Id(FROM), end, self.begin(0, end), bottom),)),
            If(
                CBinary("==", end, stop),
                self._all(behind, share),
                (*self.other_half(Id(DONE), stop), *self._halves(share, bottom)),
            ),
        )
        return (
            Declare("ptrdiff_t", DONE, first),
            For(FROM, first, CBinary("<", Id(FROM), all_steps), least, body),
        )

    def _all(self, behind: NestFunction | None, share: NestFunction) -> tuple[Stmt, ...]:
        """The rows behind a whole block, and what its steps add to all later results."""
        steps, rows = (Id(DONE), Id(TO)), (self.begin(0, Id(TO)), self.end(0))
        bands = () if behind is None else (run(behind, *steps, *rows),)
        columns = [self.begin(1, Id(TO)), self.end(1)]
        return (*bands, run(share, *steps, *rows, *columns), Assign(Id(DONE), "=", Id(TO)))

    def _halves(self, share: NestFunction, bottom: CExpr) -> tuple[Stmt, ...]:
        """What a half adds to the results that the other half finishes: rows of them, and columns."""
        end, limit = Id(TO), Id(LIMIT)
        steps: list[CExpr] = [CBinary("-", end, Id(HALF)), end]
        cut = [found is not None for found in self.found.trailing.begins]
        rows, columns = ([self.begin(dim, end), self.within(dim, limit)] for dim in (0, 1))
        body: list[Stmt] = []
        if cut[0]:
            body.append(run(share, *steps, *rows, columns[0], self.end(1)))
        if cut[1]:
            body.append(run(share, *steps, rows[1] if cut[0] else rows[0], bottom, *columns))
        return tuple(body)
