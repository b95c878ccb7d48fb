"""The extreme of some points, and a few of these among which it first is.

Points of a row are compared some at a time in vectors, and what these come to with the best before without a
branch, so that no processor guesses where an extreme is; of short rows they are compared one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
    CCall,
    CExpr,
    CParameter,
    CUnary,
    Declare,
    For,
    Id,
    If,
    Literal,
    Stmt,
    Subscript,
    plus,
)
from polymat.codegen.c.needs import MIN_I64, Helper, HelperReduction
from polymat.codegen.c.vectorloops import Vectors
from polymat.codegen.loops.explicitvectors import in_lanes
from polymat.codegen.loops.nestfunction import NestFunction, run_nest
from polymat.codegen.loops.positionpath import PositionPath
from polymat.codegen.loops.positionpoints import BEST, ONE
from polymat.codegen.loops.ranges import Range
from polymat.plan.position import PositionPlan

FEW, SOME = 32, 128  # points of a short row, and of others, that are compared at a time
# The fewest points of a row of floating-point numbers that is compared as a whole, and that no longer is.
AT_ONCE = 65, 256
BYTES = 2048, 16384  # of these points in a long row, and in a longer one
FOUND, AT = "_pm_found", "_pm_at"  # the extreme, and where it is
HERE, MANY = "_pm_here", "_pm_many"
NEXT, INSIDE, POINT = "_pm_next", "_pm_inside", "_pm_point"  # the first of some points; one of them


class PositionSearch:
    """Writes the function that looks for an extreme along a path, the last loop of it in vectors."""

    def __init__(self, plan: PositionPlan, path: PositionPath) -> None:
        self.plan, self.path, self.points = plan, path, path.points
        self.writer = path.points.writer
        self.ranges = [Range(k, *self.points.box[dim]) for k, dim in enumerate(path.running)]
        self.places = [f"{AT}_{k}" for k in range(len(path.running))]
        stage = self.points.extreme
        self.better = Helper(stage.operation.value, stage.dtype.suffix)

    def function(self) -> NestFunction:
        """The function over a part of each dimension, which calls one for rows of their length.

        Its first arguments are the extreme so far, which is left where no better one is found, and where that
        is: along each dimension, and how many points there are to look at from there on: before, 1 if any.
        """
        needs, extreme = self.writer.needs, self.points.extreme
        needs.update((MIN_I64, self.better, *(HelperReduction(self.better),) * (extreme.dtype.kind == "f")))
        part = self.ranges[-1]
        length = CBinary("-", Id(part.end), Id(part.begin))
        searches = [self._noting("searchall", self._rows(self._one_by_one()))]
        chosen = (run_nest(searches[0]),)
        ways = {FEW: FEW, SOME: SOME}
        if extreme.dtype.kind == "f":  # of others compilers' own loops are vectors
            ways = {FEW: FEW, AT_ONCE[0]: 0, AT_ONCE[1]: SOME}
        ways |= {size // extreme.dtype.size: size // extreme.dtype.size for size in BYTES}
        for least, count in ways.items():
            many = Literal(str(count)) if count else length
            row, kind = (self._at_a_time(count), f"by{count}") if count else (self._at_once(), "whole")
            each = (*self._rows(row), Assign(Id(MANY), "*=", many))
            searches.append(self._noting(f"search{kind}", each))
            chosen = (If(CBinary(">=", length, Literal(str(least))), (run_nest(searches[-1]),), chosen),)
        helpers = tuple(each.function for each in searches)
        return replace(self._given("search", chosen), helpers=helpers)

    def _noting(self, kind: str, loops: Sequence[Stmt]) -> NestFunction:
        """A function with loops that note what is better, and where it is."""
        names = [*self.places, MANY]
        slots = [Subscript(Id(AT), Literal(str(k))) for k in range(len(names))]
        found = CUnary("*", Id(FOUND))
        pairs = [*zip(names, slots, strict=True)]
        body = (
            Declare(self.points.extreme.dtype.c, BEST, found),
            *(Declare("ptrdiff_t", name, slot) for name, slot in pairs),
            *loops,
            Assign(found, "=", Id(BEST)),
            *(Assign(slot, "=", Id(name)) for name, slot in pairs),
        )
        return self._given(kind, body)

    def _given(self, kind: str, body: tuple[Stmt, ...]) -> NestFunction:
        """A function that is given the extreme so far, where it is, and which of several it is."""
        extreme = self.points.extreme
        made = self.writer.as_nest((extreme,), self.plan, body, kind, self.ranges)
        kept = [self.writer.bodies.index_name(dim) for dim in extreme.dims]
        given = [CParameter(f"{extreme.dtype.c} *", FOUND), CParameter("ptrdiff_t *", AT)]
        given += [CParameter("const ptrdiff_t", name) for name in kept]
        function = replace(made.function, parameters=(*given, *made.function.parameters))
        arguments = (Id(FOUND), Id(AT), *map(Id, kept), *made.arguments)
        return replace(made, function=function, arguments=arguments)

    def _rows(self, row: Stmt) -> tuple[Stmt, ...]:
        """The loops around one along the last dimension."""
        made = (row,)
        for name, part in reversed([*zip(self.path.outer, self.ranges[:-1], strict=True)]):
            made = (For(name, Id(part.begin), CBinary("<", Id(name), Id(part.end)), ONE, made),)
        return made

    def _at_a_time(self, count: int) -> For:
        """So many points at a time, the last ones of which may be compared twice.

        for points by 128: { here = the extreme of these;  if (it is better) best = here, at = their first; }
        """
        part, inside, many = self.ranges[-1], Id(INSIDE), Literal(str(count))
        last = CBinary("-", Id(part.end), many)
        body = (
            Declare("const ptrdiff_t", INSIDE, CCall(MIN_I64.function, (Id(NEXT), last))),
            *self._compared(inside, plus(inside, count)),
        )
        return For(NEXT, Id(part.begin), CBinary("<", Id(NEXT), Id(part.end)), many, body)

    def _at_once(self) -> Block:
        """All points of a row: the lanes of what they come to are compared with each other once."""
        part = self.ranges[-1]
        return Block(self._compared(Id(part.begin), Id(part.end)))

    def _compared(self, first: CExpr, end: CExpr) -> tuple[Stmt, ...]:
        """The extreme of some points, in vectors, and where the first of them is if that is better."""
        extreme = self.points.extreme
        term = Assign(Id(HERE), "=", CCall(self.better.function, (Id(HERE), self._value(Id(POINT)))))
        operation = self.better.function if extreme.dtype.kind == "f" else self.better.operation
        compared = Vectors(((operation, (HERE,)),))
        loop = For(POINT, first, CBinary("<", Id(POINT), end), ONE, (term,), (compared,))
        return (
            Declare(extreme.dtype.c, HERE, self.points.start(extreme)),
            *in_lanes(self.writer, extreme, self.plan.loops[extreme.name], (loop,)),
            *self._noted(first),
        )

    def _one_by_one(self) -> For:
        """Each point compared with the best before it."""
        part, ctype = self.ranges[-1], self.points.extreme.dtype.c
        body = (Declare(f"const {ctype}", HERE, self._value(Id(POINT))), *self._noted(Id(POINT)))
        return For(POINT, Id(part.begin), CBinary("<", Id(POINT), Id(part.end)), ONE, body)

    def _noted(self, at: CExpr) -> Iterator[Stmt]:
        """Take what is better, and where it is."""
        here = [*map(Id, self.path.outer), at, Id(HERE)]
        kept = [*self.places, BEST]
        yield from self.points.chosen(Id(HERE), dict(zip(kept, here, strict=True)), even=True)

    def _value(self, at: CExpr) -> CExpr:
        """The element at a point of the loops; at: along the last one."""
        return self.path.at(at)[0]
