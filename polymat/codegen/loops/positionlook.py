"""The first point of a block that has its extreme: some points are asked at once, few one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Assign,
    Cast,
    CBinary,
    CCall,
    CExpr,
    CParameter,
    Declare,
    For,
    Id,
    If,
    Literal,
    Return,
    Stmt,
    Ternary,
)
from polymat.codegen.c.needs import MIN_I64
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.positionpoints import BEST, PositionPoints
from polymat.codegen.loops.ranges import Range
from polymat.codegen.loops.stagecode import StageWriter
from polymat.plan.position import PositionPlan

TOGETHER = 128  # points that are asked at once; a byte counts them
SEEN, HIT, NEAR = "_pm_seen", "_pm_hit", "_pm_near"
NEXT, INSIDE, POINT = "_pm_next", "_pm_inside", "_pm_point"  # the first of some points; one of them
ZERO, ONE = Literal("0"), Literal("1")


class PositionLook:
    """Writes the function that finds the place of an extreme that is known.

    running: the reduced dimensions along which it looks, the last one in vectors.  fixed: values of others.
    """

    def __init__(
        self,
        writer: StageWriter,
        plan: PositionPlan,
        points: PositionPoints,
        running: Sequence[str],
        fixed: dict[str, CExpr],
    ) -> None:
        self.writer, self.plan, self.points = writer, plan, points
        self.running, self.fixed = running, fixed
        self.ranges = [Range(k, *points.box[dim]) for k, dim in enumerate(running)]

    def function(self) -> NestFunction:
        """The function over a part of each dimension; the place stays as it is where nothing is found."""
        points, index = self.points, self.writer.bodies.index_name
        best = Declare(f"const {points.extreme.dtype.c}", BEST, points.target(points.extreme))
        *outer, _ = zip(self.running, self.ranges, strict=True)
        body = (*self._not_a_number(), *self._row())
        for dim, part in reversed(outer):
            inside = CBinary("<", Id(index(dim)), Id(part.end))
            body = (For(index(dim), Id(part.begin), inside, ONE, body),)
        made = self.writer.as_nest((points.place,), self.plan, (best, *body), "look", self.ranges)
        kept = tuple(CParameter("const ptrdiff_t", index(dim)) for dim in points.extreme.dims)
        function = replace(made.function, parameters=(*kept, *made.function.parameters))
        return replace(
            made, function=function, arguments=(*(Id(each.name) for each in kept), *made.arguments)
        )

    def _row(self) -> tuple[Stmt, ...]:
        """Look through a part of the last dimension.

        for points by 128, the last ones of which may be asked twice:
            near = the least k whose point is the extreme, or 128;  if (near < 128) found;
        of fewer points one after the other: if (it is the extreme) found;
        """
        part, many, here = self.ranges[-1], Literal(str(TOGETHER)), Id(INSIDE)
        last = CBinary("-", Id(part.end), many)
        together = (
            Declare("const ptrdiff_t", INSIDE, CCall(MIN_I64.function, (Id(NEXT), last))),
            *self._asked(here, many),
        )
        asked = For(NEXT, Id(part.begin), CBinary("<", Id(NEXT), Id(part.end)), many, together)
        few = CBinary("<", CBinary("-", Id(part.end), Id(part.begin)), many)
        return (If(few, (self._one_by_one(Id(part.begin), self._is_extreme),), (asked,)),)

    def _asked(self, here: CExpr, many: CExpr) -> tuple[Stmt, ...]:
        """Ask some points, from one on."""
        bits = f"uint{8 * self.points.extreme.dtype.size}_t"
        near, point = Id(NEAR), Id(POINT)
        body: tuple[Stmt, ...] = (
            self._seen(CBinary("+", here, point)),
            Declare(f"const {bits}", HIT, Ternary(self._is_extreme, Cast(bits, point), many)),
            Assign(near, "=", Ternary(CBinary("<", Id(HIT), near), Id(HIT), near)),
        )
        return (
            Declare(bits, NEAR, many),
            For(POINT, ZERO, CBinary("<", point, many), ONE, body),
            If(CBinary("<", near, many), self._found(CBinary("+", here, near))),
        )

    @property
    def _is_extreme(self) -> CExpr:
        return CBinary("==", Id(SEEN), Id(BEST))

    def _not_a_number(self) -> tuple[Stmt, ...]:
        """Look for the first NaN where that is the extreme; then no other one is looked for."""
        if self.points.extreme.dtype.kind != "f":
            return ()
        first = self._one_by_one(Id(self.ranges[-1].begin), CBinary("!=", Id(SEEN), Id(SEEN)))
        return (If(CBinary("!=", Id(BEST), Id(BEST)), (first,)),)

    def _one_by_one(self, begin: CExpr, wanted: CExpr) -> For:
        """Go through points of the last dimension until one is found."""
        inside = CBinary("<", Id(POINT), Id(self.ranges[-1].end))
        return For(POINT, begin, inside, ONE, (self._seen(Id(POINT)), If(wanted, self._found(Id(POINT)))))

    def _found(self, at: CExpr) -> tuple[Stmt, ...]:
        _, number = self.points.at(self._point(at))
        return Assign(self.points.target(self.points.place), "=", number), Return()

    def _seen(self, at: CExpr) -> Declare:
        value, _ = self.points.at(self._point(at))
        return Declare(f"const {self.points.extreme.dtype.c}", SEEN, value)

    def _point(self, at: CExpr) -> dict[str, CExpr]:
        """A point of the reduced dimensions; at: along the last one."""
        *outer, last = self.running
        index = self.writer.bodies.index_name
        return {**self.fixed, **{dim: Id(index(dim)) for dim in outer}, last: at}
