"""All steps of a block in some of the rows behind it, a band that stays in the second level of the cache.

Rows that need none of each other need not take the first few steps together, all of them, then their
product, all of them, and so on, which passes over the columns of a block once for each few steps:

    before:  for few steps: the rows behind them; for halves of a block: what they add to these rows
    after:   for some rows: for few steps: these rows; for halves of a block: what they add to these rows
"""

from __future__ import annotations

from dataclasses import replace

from polymat.codegen.c.ctree import CBinary, Declare, For, Id, If, Literal
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.products.eliminationparts import FROM, HALF, LIMIT, TO, EliminationParts, run, smaller


class BandsWriter(EliminationParts):
    """Writes what computes a band of rows."""

    def function(self, rows: NestFunction, add: NestFunction) -> NestFunction:
        """All steps of a block in some rows; rows: a few steps; add: what a half adds to the other one."""
        begin, stop, end = Id(self.steps.begin), Id(self.steps.end), Id(TO)
        lines = [Id(self.rows.begin), Id(self.rows.end)]
        least = Literal(str(self.plan.least))
        columns = [self.begin(1, end), self.within(1, Id(LIMIT))]
        half = run(add, CBinary("-", end, Id(HALF)), end, *lines, *columns)
        body = (
            Declare("const ptrdiff_t", TO, smaller(CBinary("+", Id(FROM), least), stop)),
            run(rows, Id(FROM), end, *lines),
            If(CBinary("<", end, stop), (*self.other_half(begin, stop), half)),
        )
        loop = For(FROM, begin, CBinary("<", Id(FROM), stop), least, body)
        nest = self.writer.as_nest((self.stage,), self.plan, (loop,), "band", (self.steps, self.rows))
        function = nest.function
        return replace(
            nest,
            function=replace(function, parameters=(*self.pad_parameters(), *function.parameters)),
            arguments=(*(Id(pad.array) for pad in self.pads()), *nest.arguments),
        )
