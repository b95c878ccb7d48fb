"""Elements, terms and limits of rows that are lanes (`polymat.codegen.lanedwriter`), in C."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from polymat.codegen.c.affineforms import affine_expr
from polymat.codegen.c.cexpr import ExpressionWriter
from polymat.codegen.c.ctree import (
    Braces,
    Cast,
    CBinary,
    CCall,
    CExpr,
    CUnary,
    Declare,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
    plus,
)
from polymat.codegen.c.needs import MAX_I64, MIN_I64, Need, Piece
from polymat.codegen.c.rows import RowPart, RowTypes
from polymat.codegen.program import Program
from polymat.dataclass import dataclass
from polymat.errors import InternalError
from polymat.graph.laned import LaidElement, LanedRows, RowCase
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr, Load
from polymat.lang.traverse import loads_in

LAST = "_pm_last"  # row
KEPT = "_pm_kept"  # columns of a group
COLUMN, TERM, LANE = "_pm_column", "_pm_term", "_pm_lane"
FIRST = "_pm_first"  # column that is kept
ZERO, ONE = Literal("0"), Literal("1")


@dataclass(frozen=True, slots=True)
class At:
    """Where an element is: the values of row, column and term."""

    row: Affine
    column: Affine
    term: Affine

    def values(self, names: Sequence[str]) -> dict[str, Affine]:
        return dict(zip(names, (self.row, self.column, self.term), strict=True))


class LanedForms:
    """Writes elements, terms and limits of one section; program: of a row."""

    def __init__(self, taken: LanedRows, program: Program) -> None:
        self.taken, self.circle, self.program = taken, taken.circle, program
        found = RowTypes.of(self.circle.dtype, taken.lanes)
        if found is None:
            raise InternalError(f"bug in polymat: there are no vectors of {self.circle.dtype}")
        self.types = found
        self.needs: set[Need] = {
            *found.needs(RowPart.APART, RowPart.LANED),
            *(Piece.WORKSPACE, MIN_I64, MAX_I64),
        }
        self.names = (self.circle.row, self.circle.column, self.circle.term)
        self.row = Affine.name(self.circle.row)
        self.local = {each: Id(each) for each in (COLUMN, TERM, LANE, LAST)}

    def unpack(self) -> Iterator[Declare]:
        ctype = self.types.ctype
        for name, (place, _) in self.circle.arrays.items():
            const = "" if name == self.circle.made.array else "const "
            given = Cast(f"{const}{ctype} *", Subscript(Id("_pm_arrays"), Literal(str(place))))
            yield Declare(f"{const}{ctype} *const ", self.array(name), given)
        for k, size in enumerate(self.program.signature.sizes):
            if size.name != self.circle.row:
                name = self.program.names.get("size", size.name)
                yield Declare("const ptrdiff_t", name, Subscript(Id("_pm_sizes"), Literal(str(k))))

    # ---- expressions ----

    def term(self, at: At, own: CExpr | None) -> CExpr:
        """The value that a term adds; own: the vector of its rows' elements, None where one row is meant."""
        found = self.circle.sum
        ready: dict[Load, CExpr] = {}
        for load, each in found.elements.items():
            ready[load] = own if own is not None and load in found.own else self.element(each, at)
        return self._written_out(found.expr, ready)

    def value(
        self, case: RowCase, at: At, total: CExpr, v: int | None = None, *, some: bool = False
    ) -> CExpr:
        """The value of a case: of a vector of rows, None for a single one; some: not all of these have it."""
        ready: dict[Load, CExpr] = {}
        for load in loads_in(case.expr):
            laid = case.elements.get(load)
            if laid is None:
                ready[load] = total
                continue
            moves = any(self.circle.row in form.names() for form in laid.indices)
            is_vector = v is not None and moves
            ready[load] = self._gathered(laid, at, v or 0, some) if is_vector else self.element(laid, at)
        return self._written_out(case.expr, ready)

    def _gathered(self, laid: LaidElement, at: At, v: int, some: bool) -> CExpr:
        """An element of each row; some: of those that do not have the column, one that is there."""
        moves = [Affine((), form.coefficient(self.circle.row)) for form in laid.indices]
        apart, first = self._flat(laid.array, [self.size(form) for form in moves]), v * self.taken.lanes
        if not some:
            return self.types.gather(self.element(laid, replace(at, row=at.row + first)), apart)
        rows = [Literal(str(row)) for row in range(first, first + self.taken.lanes)]
        lanes = [self.least(row, Id(LANE)) for row in rows]
        pointer = CUnary("&", self.element(laid, at))
        there = [Subscript(pointer, CBinary("*", lane, apart)) for lane in lanes]
        return Cast(self.types.vector, Braces(tuple(there)))

    def _written_out(self, expr: Expr, ready: Mapping[Load, CExpr]) -> CExpr:
        known = {id(load): ready[load] for load in loads_in(expr)}
        writer = ExpressionWriter(self._index, self._never, self._never, self.needs, known, alone=True)
        return writer.value(expr, self.circle.dtype)

    def _never(self, name: str, *_: object) -> CExpr:
        raise InternalError(f"bug in polymat: rows as lanes read {name}")

    # ---- places ----

    def element(self, laid: LaidElement, at: At) -> Subscript:
        forms = [self.size(form.substitute(at.values(self.names))) for form in laid.indices]
        return Subscript(Id(self.array(laid.array)), self._flat(laid.array, forms))

    def _flat(self, array: str, indices: Sequence[CExpr]) -> CExpr:
        extents = [self.size(extent) for extent in self.circle.arrays[array][1]]
        place = indices[0]
        for extent, index in zip(extents[1:], indices[1:], strict=True):
            place = CBinary("+", CBinary("*", place, extent), index)
        return place

    def kept(self, column: CExpr, v: int = 0, lane: CExpr | None = None) -> Subscript:
        """An element of what is kept of a group: the first of a vector, or that of one row."""
        place = CBinary("*", CBinary("-", column, Id(FIRST)), Literal(str(self.taken.rows)))
        if lane is not None:
            return Subscript(Id(KEPT), CBinary("+", place, lane))
        return Subscript(Id(KEPT), plus(place, v * self.taken.lanes))

    @property
    def vectors(self) -> range:
        """The vectors of the rows of a group."""
        return range(self.taken.vectors)

    def moving(self, forms: Sequence[Affine]) -> tuple[Affine, ...]:
        """The limits that are others for each row."""
        return tuple(form for form in forms if form.coefficient(self.circle.row))

    def moved(self, form: Affine, row: Affine) -> Affine:
        return form.substitute({self.circle.row: row})

    def most(self, forms: Sequence[Affine], row: Affine | None) -> CExpr:
        """The largest of some forms, in a row."""
        values = [self.size(form if row is None else self.moved(form, row)) for form in forms]
        return reduce(lambda one, other: CCall(MAX_I64.function, (one, other)), values)

    def least(self, one: CExpr, other: CExpr) -> CExpr:
        return CCall(MIN_I64.function, (one, other))

    def loop(self, name: str, first: CExpr, end: CExpr, body: Sequence[Stmt]) -> For:
        return For(name, first, CBinary("<", Id(name), end), ONE, tuple(body))

    def array(self, name: str) -> str:
        return f"_pm_all_{name}"

    def _index(self, name: str) -> CExpr:
        return self.local.get(name) or Id(self.program.names.get("size", name))

    def size(self, form: Affine) -> CExpr:
        return affine_expr(form, self._index, self.needs)
