"""Loops over the results of extremes and their places, of which a thread may have a part."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.codegen.c.ctree import CBinary, CExpr, For, Id, Stmt
from polymat.codegen.loops.positionpoints import ONE, PositionPoints
from polymat.codegen.loops.ranges import Range
from polymat.plan.position import PositionPlan


class PositionResults:
    """Writes loops along dimensions of the results.

    along: those of which a nest is given a part, if they are any of these.
    """

    def __init__(self, points: PositionPoints, plan: PositionPlan, along: Sequence[str | None]) -> None:
        self.writer, self.plan = points.writer, plan
        self.box = dict(zip(points.extreme.dims, points.extreme.box, strict=True))
        self.ranges = [Range(k, *self.box[dim]) for k, dim in enumerate(along) if dim in self.box]

    def ends(self, dim: str) -> tuple[CExpr, CExpr]:
        """Where a dimension begins, and what is behind it."""
        if self.ranges and dim == self.plan.parallel:
            return Id(self.ranges[0].begin), Id(self.ranges[0].end)
        low, high = self.box[dim]
        return self.writer.size(low), self.writer.size(high + 1)

    def around(self, body: tuple[Stmt, ...], dims: Sequence[str]) -> tuple[Stmt, ...]:
        """Some statements in loops along some dimensions, the last one innermost."""
        for dim in reversed(dims):
            variable = self.writer.bodies.index_name(dim)
            start, end = self.ends(dim)
            body = (For(variable, start, CBinary("<", Id(variable), end), ONE, body),)
        return body
