"""A few steps of a recurrence in blocks of steps: in loops, but for what waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polymat.codegen.c.ctree import CBinary, If, Literal, Stmt
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.nestloops import LoopWriter
from polymat.codegen.loops.ranges import range_context
from polymat.codegen.loops.statements import recurrence_bodies
from polymat.codegen.products.eliminationparts import EliminationParts, length
from polymat.errors import InternalError
from polymat.lang.affine import Affine
from polymat.poly.ast import from_union_map
from polymat.poly.domain import Domain
from polymat.poly.order import Order


class StepsWriter(EliminationParts):
    """Writes the steps of a block, and those before the first one."""

    @property
    def _order(self) -> Order:
        order = self.plan.loops.recurrence
        if order is None:
            raise InternalError(f"bug in polymat: the recurrence {self.stage.name} has no order")
        return order

    def before(self) -> tuple[Stmt, ...]:
        """The steps before the first block."""
        low, first = self.stage.box[0][0], Affine((), self.found.first)
        step, order = self.found.dims[0], self._order
        domains = [part.domain.between(step, low, first) for part in self.stage.parts]
        return self._loops(order.among(domains), self.plan.loops.order, self.writer.pipeline.context)

    def function(self) -> NestFunction:
        """Some steps: where they are as many as nearly always, the compiler knows their number."""
        context = range_context(self.writer.pipeline.context, [self.steps])
        begin, end = Affine.name(self.steps.begin), Affine.name(self.steps.end)
        context = context.at_least_zero([begin - self.found.first, end - 1 - begin])
        count, least = end - begin, self.plan.least
        some = self._of_block(context.at_least_zero([least - 1 - count]))
        all_of_them = self._of_block(context.at_least_zero([least - count, count - least]))
        whole = CBinary("==", length(self.steps), Literal(str(least)))
        body = (If(whole, all_of_them, some),)
        return self.writer.as_nest((self.stage,), self.plan, body, "steps", [self.steps])

    def _of_block(self, context: Domain) -> tuple[Stmt, ...]:
        """What does not wait: rows of these steps first, then all others."""
        order, names = self._order, self.plan.loops.order
        near, beyond = self.found.inner()
        if not self.plan.by_rows:
            both = [one.union(other) for one, other in zip(near, beyond, strict=True)]
            return self._loops(order.among(both), names, context)
        first = self._loops(order.among(near), names, context)
        exchanged = (names[1], names[0], *names[2:])
        return (*first, *self._loops(order.exchanged(beyond), exchanged, context, unrolled=True))

    def _loops(
        self, schedule: Any, names: Sequence[str], context: Domain, *, unrolled: bool = False
    ) -> tuple[Stmt, ...]:
        """The loops over some points of each part, in an order; unrolled: those within the outermost."""
        bodies, parallel = self.writer.bodies, self._order.parallel

        def pragmas(depth: int, innermost: bool) -> tuple[str, ...]:
            if unrolled and depth:
                return (f"GCC unroll {self.plan.least}",)
            return ("omp simd",) if innermost and parallel[depth] and not unrolled else ()

        items = recurrence_bodies(bodies, self.stage)
        loops = LoopWriter(items, bodies.index_name, pragmas, self.writer.needs)
        return loops.block(from_union_map(schedule, context, names))
