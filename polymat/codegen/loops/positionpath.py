"""The way through all points of a result: along each reduced dimension, or one where memory has no gaps."""

from __future__ import annotations

from functools import partial, reduce

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, Id
from polymat.codegen.c.needs import MAX_I64
from polymat.codegen.loops.positionpoints import ZERO, PositionPoints


class PositionPath:
    """Writes where loops through all points of a result are, the innermost one of which runs in vectors.

    running: the reduced dimensions that they run along, the last one alone where all elements lie behind each
    other in memory; then the others are 0.
    """

    def __init__(self, points: PositionPoints) -> None:
        self.points = points
        reduced = points.item.reduced_dims
        self.flat = points.is_flat(reduced)
        self.running = reduced[-1:] if self.flat else reduced
        self.fixed: dict[str, CExpr] = dict.fromkeys(reduced[: -len(self.running)], ZERO)

    @property
    def outer(self) -> list[str]:
        """The indices of all loops but the innermost one."""
        return [self.points.writer.bodies.index_name(dim) for dim in self.running[:-1]]

    @property
    def ends(self) -> list[tuple[CExpr, CExpr]]:
        """Where each loop begins, and what is behind it: of a flat one all elements."""
        size, box = self.points.writer.size, self.points.box
        pairs = (box[dim] for dim in self.points.item.reduced_dims)
        ends = [(size(low), size(high + 1)) for low, high in pairs]
        if not self.flat:
            return ends
        lengths: list[CExpr] = [CCall(MAX_I64.function, (ZERO, end)) for _, end in ends]
        return [(ZERO, reduce(partial(CBinary, "*"), lengths))]

    def at(self, place: CExpr) -> tuple[CExpr, CExpr]:
        """The element at a place along the innermost loop, at the indices of the others, and its number."""
        *outer, last = self.running
        index = self.points.writer.bodies.index_name
        return self.points.at({**self.fixed, **{dim: Id(index(dim)) for dim in outer}, last: place})
