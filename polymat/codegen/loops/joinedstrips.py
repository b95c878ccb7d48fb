"""Strips of slices that wait: what a step changes in them and what it sums up of that, in one pass.

A strip of slices that no first-level cache holds passes from the second one and back for each loop over its
rows.  A sum over all rows that reads the row alone that was just changed finds it in registers, where the
sums are, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Braces,
    CBinary,
    CExpr,
    CUnary,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Stmt,
    Subscript,
    expressions,
    names_in,
    plus,
)
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import RowTypes, read_of
from polymat.codegen.loops.addends import REST
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.nestwriter import NestWriter
from polymat.codegen.loops.ranges import Range
from polymat.dataclass import dataclass
from polymat.graph.stage import Stage
from polymat.graph.waited import Slices
from polymat.lang.affine import Affine
from polymat.plan.loops import LoopPlan

ROW, SUMS, HELD = "_pm_row", "_pm_sums", "_pm_held"  # vectors, each with its numbers
ROWS = 2  # that are added to sums of their own, so that an addition waits for every other one


@dataclass(frozen=True, slots=True, eq=False)
class Strip:
    """The nest of a stage over some of its slices."""

    stage: Stage
    plan: LoopPlan
    nest: NestFunction


def joined_strips(
    writer: NestWriter, first: Strip, second: Strip, slices: Slices
) -> tuple[NestFunction, RowTypes] | None:
    """The nest of both, where the second sums up over rows of which the first makes one after the other.

    before:  for i: for j: a(i, j) = ...        for i: for j: s(j) += q(i) * a(i, j)
    after:   for i: row = ...; a(i, ...) = row; sums += q(i) * row;  and s(...) = sums
    """
    types = RowTypes.of(first.stage.dtype, slices.lanes)
    if types is None or slices.lanes == 1 or not _follows(first, second):
        return None
    read = {load.source.name for each in (first, second) for load in each.stage.loads()}
    names = {*read, first.stage.name, second.stage.name}
    scalars = (scalar.dtype for scalar in writer.pipeline.scalars)
    kinds = {*(writer.storage[name].dtype for name in names), *scalars}
    if kinds != {first.stage.dtype}:
        return None
    rows = _rows(first.nest.function.body)
    added = _added(second.nest.function.body)
    if rows is None or added is None or added.start != rows.start or not _alike(rows.loop, added.loop):
        return None
    (part,) = first.nest.ranges
    if not (rows.runs_along(part) and added.runs_along(part)):
        return None
    loop = _Together(types, rows, added, part, slices.wide // types.lanes)
    if (body := loop.body()) is None:
        return None
    stages = (first.stage, second.stage)
    return writer.as_nest(stages, first.plan, body, "strip", first.nest.ranges), types


def _follows(first: Strip, second: Strip) -> bool:
    """Whether the second reads of the first the element alone of each row that is in its own slice."""
    ends = [(part.number, part.low, part.high) for nest in (first.nest, second.nest) for part in nest.ranges]
    one, other = first.stage, second.stage
    if len(ends) != 2 or ends[0] != ends[1] or first.plan.kind != "map" or second.plan.kind != "row":
        return False
    if len(one.dims) != 2 or len(other.dims) != 1 or len(other.accumulations) != 1:
        return False
    (item,) = other.accumulations
    if len(item.reduced_dims) != 1:
        return False
    here = (Affine.name(item.reduced_dims[0]), item.target[0])
    read = [load.indices for load in other.loads() if load.source.name == one.name]
    return bool(read) and all(indices == here for indices in read)


@dataclass(frozen=True, slots=True)
class _Rows:
    """A loop over rows, from where on, and the assignment to each point of a row by the loop along it."""

    loop: For
    start: CExpr
    along: For
    point: Assign

    def runs_along(self, part: Range) -> bool:
        """Whether rows have the points of a range given at run time."""
        inside = CBinary("<", Id(self.along.variable), Id(part.end))
        return self.along.start == Id(part.begin) and self.along.condition == inside


def _rows(body: Sequence[Stmt]) -> _Rows | None:
    """The loop over rows that a nest consists of; None where it is more than that."""
    match body:
        case (For(start=start, body=(For(body=(Assign(op="=") as point,)) as along,)) as loop,):
            return _Rows(loop, start, along, point) if loop.step == Literal("1") else None
        case _:
            return None


def _added(body: Sequence[Stmt]) -> _Rows | None:
    """The loop over rows that are added up, where sums begin with 0."""
    match body:
        case (
            For(body=(Assign(_, "=", Literal(zero)),)),
            Block(
                (
                    Declare(_, name),
                    For(start=start),
                    For(start=Id(begin), body=(For(body=(Assign(op="+=") as point,)) as along,)) as loop,
                )
            ),
        ) if name == begin == REST and float(zero.removesuffix("f")) == 0:
            return _Rows(loop, start, along, point)
        case _:
            return None


def _alike(loop: For, other: For) -> bool:
    """Whether two loops over rows have the same end."""
    return substituted(loop.condition, {Id(loop.variable): Id(other.variable)}) == other.condition


@dataclass(frozen=True, slots=True)
class _Together:
    """Writes the loop over rows that are made and added up; count: vectors of a strip."""

    types: RowTypes
    made: _Rows
    added: _Rows
    part: Range
    count: int

    def body(self) -> tuple[Stmt, ...] | None:
        """Sums in registers, rows in turns of some, and the sums in memory; None of what has no vectors."""
        if self.made.along.variable not in names_in([self.made.point.value]):
            return None
        row, loop = self._row(Id(self._variable), 0), self.added.loop
        if row is None or not isinstance(loop.condition, CBinary):
            return None
        end = loop.condition.right
        length = end if self.made.start == Literal("0") else CBinary("-", end, self.made.start)
        turns = CBinary("*", CBinary("/", length, Literal(str(ROWS))), Literal(str(ROWS)))
        rest = turns if self.made.start == Literal("0") else CBinary("+", self.made.start, turns)
        several = [self._row(plus(Id(self._variable), k), k) or () for k in range(ROWS)]
        inside = CBinary("<", Id(self._variable), Id(REST))
        turn = Literal(str(ROWS))
        loops = (
            *self._held(),
            Declare("const ptrdiff_t", REST, rest),
            For(self._variable, self.made.start, inside, turn, tuple(s for each in several for s in each)),
            For(self._variable, Id(REST), loop.condition, Literal("1"), row),
        )
        return (
            *(Declare(self.types.vector, self._sums(*each), _ZERO) for each in self._all_sums),
            If(CBinary("<", self.made.start, end), loops),  # of no rows nothing may be read
            *map(self._end, self._vectors),
        )

    @property
    def _variable(self) -> str:
        return self.added.loop.variable

    @property
    def _vectors(self) -> range:
        return range(self.count)

    def _row(self, row: CExpr, number: int) -> tuple[Stmt, ...] | None:
        """Make a row and add it to the sums of a number."""
        found: list[Stmt] = []
        for v in self._vectors:
            name = f"{ROW}_{number}_{v}"
            value = self._value(self.made.point.value, v, "")
            term = self._value(self.added.point.value, v, name)
            if value is None or term is None:
                return None
            target = self._at(self.made.point.target, self.made.along.variable, v)
            found += [
                Declare(f"const {self.types.vector}", name, value),
                Evaluate(self.types.store(target, Id(name))),
                Assign(Id(self._sums(number, v)), "+=", term),
            ]
        places: dict[CExpr, CExpr] = {Id(self.made.loop.variable): row, Id(self._variable): row}
        return substituted(tuple(found), places)

    def _end(self, v: int) -> Stmt:
        parts: list[CExpr] = [Id(self._sums(k, v)) for k in range(ROWS)]
        target = self._at(self.added.point.target, self.added.along.variable, v)
        return Evaluate(self.types.store(target, reduce(partial(CBinary, "+"), parts)))

    @property
    def _all_sums(self) -> list[tuple[int, int]]:
        return [(number, v) for number in range(ROWS) for v in self._vectors]

    def _sums(self, number: int, v: int) -> str:
        return f"{SUMS}_{number}_{v}"

    def _at(self, element: CExpr, variable: str, v: int) -> CExpr:
        """The element with which a vector of the strip begins."""
        return substituted(element, {Id(variable): plus(Id(self.part.begin), v * self.types.lanes)})

    def _value(self, value: CExpr, v: int, made: str) -> CExpr | None:
        """A vector of values, or the one that all points of a row have; made: the name of the row."""
        variable = self.added.along.variable if made else self.made.along.variable
        match value:
            case Subscript(Id(name), _) if made and name == self._made_array:
                return Id(made)
            case Subscript() if variable not in names_in([value]):
                return value
            case Subscript():
                if read_of(value, variable) is None:
                    return None
                element = self._at(value, variable, v)
                found = [k for k, each in enumerate(self._same_for_all) if each == value]
                return Id(f"{HELD}_{found[0]}_{v}") if found else self.types.load(element)
            case CBinary("+" | "-" | "*" | "/" as op, left, right):
                one, other = self._value(left, v, made), self._value(right, v, made)
                return None if one is None or other is None else CBinary(op, one, other)
            case CUnary("-", operand):
                one = self._value(operand, v, made)
                return None if one is None else CUnary("-", one)
            case Literal(text):
                return value if self.types.is_number(text) else None
            case Id(name):
                return value if name != variable else None
            case _:
                return None

    @property
    def _made_array(self) -> str:
        target = self.made.point.target
        return target.array.name if isinstance(target, Subscript) and isinstance(target.array, Id) else ""

    @property
    def _same_for_all(self) -> list[CExpr]:
        """What the loop that makes rows reads along them, the same for each."""
        reads = (each for each in expressions([self.made.point.value]) if isinstance(each, Subscript))
        along = (each for each in reads if self.made.along.variable in names_in([each]))
        return list(dict.fromkeys(e for e in along if self.made.loop.variable not in names_in([e])))

    def _held(self) -> Iterator[Stmt]:
        for k, each in enumerate(self._same_for_all):
            for v in self._vectors:
                element = self._at(each, self.made.along.variable, v)
                yield Declare(f"const {self.types.vector}", f"{HELD}_{k}_{v}", self.types.load(element))


_ZERO = Braces((Literal("0"),))
