"""A few steps of a recurrence in blocks of steps: in loops, but for what waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from polymat.codegen.c.ctree import CBinary, Declare, Id, If, Literal, Stmt, Ternary
from polymat.codegen.c.vectorloops import VECTORS, Pragma
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.nestloops import LoopWriter
from polymat.codegen.loops.ranges import Range, range_context
from polymat.codegen.loops.statements import recurrence_bodies
from polymat.codegen.products.eliminationparts import ONE, EliminationParts, length
from polymat.codegen.products.eliminationshares import LEAST, TEAM
from polymat.errors import InternalError
from polymat.graph.stage import loads_of
from polymat.lang.affine import Affine
from polymat.poly.ast import from_union_map
from polymat.poly.domain import Domain
from polymat.poly.order import Order

BEGINNERS = "_pm_beginners"
ROWS = 16  # of a triangle's rows each has as many long and short ones
SHARED_ROWS = f"omp parallel for num_threads({BEGINNERS}) if({BEGINNERS} > 1) schedule(static, {ROWS})"


class StepsWriter(EliminationParts):
    """Writes the steps of a block, and those before the first one."""

    @property
    def order(self) -> Order:
        """That of the loops."""
        order = self.plan.loops.recurrence
        if order is None:
            raise InternalError(f"bug in polymat: the recurrence {self.stage.name} has no order")
        return order

    def before(self) -> tuple[Stmt, ...]:
        """The steps before the first block; a team shares their rows where they need no others."""
        low, first = self.stage.box[0][0], Affine((), self.found.first)
        step, context = self.found.dims[0], self.writer.pipeline.context
        domains = [part.domain.between(step, low, first) for part in self.stage.parts]
        some = [
            part
            for part, domain in zip(self.stage.parts, domains, strict=True)
            if not domain.assume(context).is_empty()
        ]
        alone = any(load.source.name == self.stage.name for part in some for load in loads_of(part))
        shared = () if alone else (SHARED_ROWS,)
        loops = self._loops(self.order.among(domains), self.plan.loops.order, context, shared=shared)
        return loops if alone else (self._beginners(), *loops)

    def _beginners(self) -> Stmt:
        """The threads that share what comes before the first block, whose results are stored and no more."""
        rows, columns = self.extents()
        work = CBinary("*", Literal("2.0"), CBinary("*", rows, columns))
        few = CBinary("<", work, Id(LEAST))
        return Declare("const int", BEGINNERS, Ternary(few, ONE, Id(TEAM)))

    def function(self) -> NestFunction:
        """Write all of some steps that does not wait; if that goes by rows, in rows of these steps alone."""
        return self._function("steps", [self.steps], self._near)

    def beyond(self) -> NestFunction:
        """Write all of some steps that does not wait, in some of the rows behind them, row after row."""
        return self._function("rows", [self.steps, self.rows], self._beyond)

    def _function(
        self, kind: str, ranges: Sequence[Range], part: Callable[[Domain], tuple[Stmt, ...]]
    ) -> NestFunction:
        """Some steps: where they are as many as nearly always, the compiler knows their number."""
        least = self.plan.least
        context = self.context(ranges)
        some = part(self.of_length(context, at_most=True))
        all_of_them = part(self.of_length(context))
        whole = CBinary("==", length(self.steps), Literal(str(least)))
        return self.writer.as_nest((self.stage,), self.plan, (If(whole, all_of_them, some),), kind, ranges)

    def context(self, ranges: Sequence[Range]) -> Domain:
        """All that is known of some ranges, the steps among them."""
        known = range_context(self.writer.pipeline.context, ranges)
        begin, end = Affine.name(self.steps.begin), Affine.name(self.steps.end)
        return known.at_least_zero([begin - self.found.first, end - 1 - begin])

    def of_length(self, context: Domain, *, at_most: bool = False) -> Domain:
        """A context of as many steps as there are nearly always, or of at most so many."""
        count = Affine.name(self.steps.end) - Affine.name(self.steps.begin)
        fewer, least = count - self.plan.least, self.plan.least - count
        return context.at_least_zero([least] if at_most else [least, fewer])

    def _near(self, context: Domain) -> tuple[Stmt, ...]:
        near, beyond = self.found.inner()
        if not self.plan.by_rows:
            near = [one.union(other) for one, other in zip(near, beyond, strict=True)]
        return self._loops(self.order.among(near), self.plan.loops.order, context)

    def _beyond(self, context: Domain) -> tuple[Stmt, ...]:
        _, beyond = self.found.inner()
        begin, end = Affine.name(self.rows.begin), Affine.name(self.rows.end)
        first, _ = self.found.begins(Affine.name(self.steps.end))
        step, row, *others = self.plan.loops.order
        of_rows = [domain.between(self.found.dims[1], begin, end) for domain in beyond]
        ordered = self.order.moved(of_rows, 1, 0)
        return self._loops(
            ordered, (row, step, *others), context.at_least_zero([begin - first]), unrolled=True
        )

    def _loops(
        self,
        schedule: Any,
        names: Sequence[str],
        context: Domain,
        *,
        unrolled: bool = False,
        shared: tuple[Pragma, ...] = (),
    ) -> tuple[Stmt, ...]:
        """The loops over some points of each part, in an order.

        unrolled: those within the outermost.  shared: what those have that are next to the steps.
        """
        bodies, parallel = self.writer.bodies, self.order.parallel

        def pragmas(depth: int, innermost: bool) -> tuple[Pragma, ...]:
            if unrolled and depth:
                return (f"GCC unroll {self.plan.least}",)
            if depth == 1 and not innermost:
                return shared
            return (VECTORS,) if innermost and parallel[depth] and not unrolled else ()

        items = recurrence_bodies(bodies, self.stage)
        loops = LoopWriter(items, bodies.index_name, pragmas, self.writer.needs)
        return loops.block(from_union_map(schedule, context, names))
