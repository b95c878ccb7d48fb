"""The first of a few points that has an extreme: many are asked at once, few one after the other."""

from __future__ import annotations

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
from polymat.codegen.loops.positionpath import PositionPath
from polymat.codegen.loops.positionpoints import BEST, ONE, ZERO
from polymat.codegen.loops.positionsearch import FEW, INSIDE, NEXT, POINT, SOME
from polymat.codegen.loops.ranges import Range
from polymat.plan.position import PositionPlan

SEEN, HIT, NEAR = "_pm_seen", "_pm_hit", "_pm_near"


class PositionLook:
    """Writes the function that finds the place of an extreme that is known, along the last loop of a path."""

    def __init__(self, plan: PositionPlan, path: PositionPath) -> None:
        self.plan, self.path, self.points = plan, path, path.points
        self.writer = path.points.writer
        self.part = Range(0, *self.points.box[path.running[-1]])

    def function(self) -> NestFunction:
        """The function over as many points as `PositionSearch` says; its first arguments are all indices.

        The place stays as it is where nothing is found.
        """
        points = self.points
        best = Declare(f"const {points.extreme.dtype.c}", BEST, points.target(points.extreme))
        body = (best, *self._not_a_number(), *self._by_count())
        made = self.writer.as_nest((points.place,), self.plan, body, "look", [self.part])
        names = [*map(self.writer.bodies.index_name, points.extreme.dims), *self.path.outer]
        kept = (CParameter("const ptrdiff_t", name) for name in names)
        function = replace(made.function, parameters=(*kept, *made.function.parameters))
        return replace(made, function=function)

    def _by_count(self) -> tuple[Stmt, ...]:
        """Look among many points, a few, or one."""
        count = CBinary("-", Id(self.part.end), Id(self.part.begin))
        made: tuple[Stmt, ...] = (self._one_by_one(CBinary("==", Id(SEEN), Id(BEST))),)
        for many in (FEW, SOME):
            made = (If(CBinary(">=", count, Literal(str(many))), (self._asked(many),), made),)
        return made

    def _asked(self, count: int) -> For:
        """So many points at a time.

        for points by 128: { near = the least k whose point is the extreme, or 128; if (near < 128) found; }

        The last of them may be asked twice: none of those before is the extreme then.
        """
        here, near, point, many = Id(INSIDE), Id(NEAR), Id(POINT), Literal(str(count))
        bits = f"uint{8 * self.points.extreme.dtype.size}_t"
        hit = Ternary(CBinary("==", Id(SEEN), Id(BEST)), Cast(bits, point), many)
        body: tuple[Stmt, ...] = (
            self._seen(CBinary("+", here, point)),
            Declare(f"const {bits}", HIT, hit),
            Assign(near, "=", Ternary(CBinary("<", Id(HIT), near), Id(HIT), near)),
        )
        end = Id(self.part.end)
        self.writer.needs.add(MIN_I64)
        asked = (
            Declare("const ptrdiff_t", INSIDE, CCall(MIN_I64.function, (Id(NEXT), CBinary("-", end, many)))),
            Declare(bits, NEAR, many),
            For(POINT, ZERO, CBinary("<", point, many), ONE, body),
            If(CBinary("<", near, many), self._found(CBinary("+", here, near))),
        )
        return For(NEXT, Id(self.part.begin), CBinary("<", Id(NEXT), end), many, asked)

    def _not_a_number(self) -> tuple[Stmt, ...]:
        """Look for the first NaN where that is the extreme; then no other one is looked for."""
        if self.points.extreme.dtype.kind != "f":
            return ()
        first = self._one_by_one(CBinary("!=", Id(SEEN), Id(SEEN)))
        return (If(CBinary("!=", Id(BEST), Id(BEST)), (first,)),)

    def _one_by_one(self, wanted: CExpr) -> For:
        """Go through the points until one is found."""
        inside = CBinary("<", Id(POINT), Id(self.part.end))
        body = (self._seen(Id(POINT)), If(wanted, self._found(Id(POINT))))
        return For(POINT, Id(self.part.begin), inside, ONE, body)

    def _found(self, at: CExpr) -> tuple[Stmt, ...]:
        _, number = self.path.at(at)
        return Assign(self.points.target(self.points.place), "=", number), Return()

    def _seen(self, at: CExpr) -> Declare:
        value, _ = self.path.at(at)
        return Declare(f"const {self.points.extreme.dtype.c}", SEEN, value)
