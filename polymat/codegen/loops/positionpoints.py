"""One point of what an extreme and its place are found in: the element there, its number, and the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from polymat.codegen.c.ctree import Assign, CCall, CExpr, Declare, Id, Literal, Stmt, Ternary
from polymat.codegen.c.needs import Piece
from polymat.codegen.loops.positionorder import better_where
from polymat.codegen.loops.stagecode import StageWriter
from polymat.graph.flatpoints import is_flat
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr, SelectExpr
from polymat.lang.neutral import neutral
from polymat.plan.position import PositionPlan
from polymat.tilesize.plain import own_names

BEST, NUMBER = "_pm_best", "_pm_number"
ZERO, ONE = Literal("0"), Literal("1")


class PositionPoints:
    """Writes what is read at a point, and what is compared and stored, of an extreme and its place."""

    def __init__(self, writer: StageWriter, plan: PositionPlan) -> None:
        self.writer = writer
        self.extreme, self.place = (writer.pipeline.stage(name) for name in plan.group.stages)
        self.item = self.extreme.accumulations[0]
        self.own = own_names(self.extreme, self.item)
        self.box = dict(zip(self.item.dims, self.item.box, strict=True))
        number = self.place.accumulations[0].expr
        assert isinstance(number, SelectExpr), "a place is the number of a point, or none"
        self.number: Expr = number.then

    def is_flat(self, dims: tuple[str, ...]) -> bool:
        """Whether all that is read along some dimensions lies behind each other in memory."""
        stored = self.writer.storage.items()
        whole = {name: each.extents for name, each in stored if not each.folds and each.ring is None}
        return is_flat(self.item, whole, dims)

    def at(self, point: Mapping[str, CExpr]) -> tuple[CExpr, CExpr]:
        """The element at a point of the reduced dimensions, and its number."""
        names = self.writer.bodies
        kept: dict[str, CExpr] = {self.own[dim]: Id(names.index_name(dim)) for dim in self.extreme.dims}
        writer = names.writer(kept | dict(point))
        value = writer.value(self.item.expr, self.extreme.dtype, exact=True)
        return value, writer.value(self.number, self.place.dtype, exact=True)

    def taken(self, seen: CExpr, where: CExpr, k: int) -> Iterator[Stmt]:
        """Take an element and its number where it is better; k: behind the names of what it is then."""
        yield from self.chosen(seen, {NUMBER: where, BEST: seen}, f"_{k}")

    def chosen(
        self, seen: CExpr, taken: Mapping[str, CExpr], end: str = "", *, even: bool = False
    ) -> Iterator[Stmt]:
        """Assign to `BEST`, `NUMBER` or indices where an element is better than the best one.

        taken: what they are then, `BEST` last.  end: behind the names of that.  even: it is better as often
        as not, so that a compiler makes no branches, which processors guess wrong.
        gcc 12 makes no vectors of choices by two comparisons at once, nor of one in another.
        """
        first, *others = better_where(self.extreme, seen, Id(BEST))
        if even:
            self.writer.needs.add(Piece.EVEN)
            first = CCall("_PM_EVEN", (first,))
        types, made = {BEST: self.extreme.dtype.c, NUMBER: self.place.dtype.c}, list[CExpr]()
        for name, new in taken.items():
            value: CExpr = Ternary(first, new, Id(name))
            for other in others:
                yield Declare(f"const {types.get(name, 'ptrdiff_t')}", f"{name}_then{end}", value)
                value = Ternary(other, Id(f"{name}_then{end}"), Id(name))
            made.append(value)
        yield from (Assign(Id(name), "=", each) for name, each in zip(taken, made, strict=True))

    def started(self) -> tuple[Declare, Declare]:
        """The results so far, as they are in memory."""
        return (
            Declare(self.extreme.dtype.c, BEST, self.target(self.extreme)),
            Declare(self.place.dtype.c, NUMBER, self.target(self.place)),
        )

    def stored(self, best: CExpr, number: CExpr) -> tuple[Stmt, ...]:
        """Write both results."""
        pairs = ((self.extreme, best), (self.place, number))
        return tuple(Assign(self.target(stage), "=", value) for stage, value in pairs)

    def start(self, stage: Stage) -> CExpr:
        """The result where there are no points."""
        return self.writer.bodies.constant(neutral(stage.operation, stage.dtype))

    def target(self, stage: Stage) -> CExpr:
        """The result of a stage at the point of the loops around."""
        bodies = self.writer.bodies
        return bodies.at(stage.name, tuple(map(Affine.name, stage.dims)), bodies.loop_point(stage.dims))
