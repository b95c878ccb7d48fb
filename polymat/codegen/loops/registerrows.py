"""Rows of results that are added up in registers, between bounds that data give.

A sparse matrix times a few vectors adds a row for each of its elements, and a ragged array that is pooled one
for each of its own.  In memory each addition waits for the one before, through a store and a load, and a loop
over few columns takes longer to begin and to end than to run.  Here up to four vectors of a row are sums in
registers, the last of which may have a part of its lanes, and what is added to them runs innermost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from polymat.codegen.c.countingloops import counted_range
from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Braces,
    CBinary,
    CCall,
    CExpr,
    CUnary,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Return,
    Stmt,
    Subscript,
    names_in,
    plus,
)
from polymat.codegen.c.needs import MIN_I64
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import RowTypes, is_element, read_of
from polymat.codegen.loops.rowvectors import RowVectors
from polymat.dataclass import dataclass

TOGETHER = 4  # vectors of a row
LEAST_BYTES = 32  # of vectors of which processors load and store a part
SUMS, LEFT, PART = "_pm_lanes", "_pm_left", "_pm_some"


def with_register_rows(
    statements: Sequence[Stmt], types: RowTypes, arrays: Collection[str]
) -> tuple[Stmt, ...] | None:
    """The statements with rows of results in memory in registers; None where there are none, or no vectors.

    arrays: those that have elements of that type.

    before:  for j: y[j] = 0;  for k: for j: y[j] += a[k] * x[at[k] * n + j]
    after:   for j by 32: v0 = ... = v3 = 0;  for k: v0 += a[k] * x[at[k] * n + j ...], ...;
             y[j ...] = v0, ...
    """
    if types.size < LEAST_BYTES:
        return None
    walk = _Walk(types, arrays)
    made = walk.changed(statements)
    return made if made != tuple(statements) else None


@dataclass(frozen=True, slots=True)
class _PartTypes(RowTypes):
    """Vectors of which some lanes are loaded: those of the mask `PART`."""

    def load(self, element: CExpr) -> CExpr:
        """The lanes that begin at an element, with 0 in place of others."""
        return CCall(f"_pm_part_load_{self.suffix}", (CUnary("&", element), Id(PART)))

    def store(self, element: CExpr, value: CExpr) -> CExpr:
        """Write the lanes to where an element begins."""
        return CCall(f"_pm_part_store_{self.suffix}", (CUnary("&", element), value, Id(PART)))


@dataclass(frozen=True, slots=True)
class _Term:
    """What is added to a row.

    same: what all lanes of it have in common, by name.  whole: a vector of it.  part: one of some lanes.
    """

    same: tuple[tuple[str, CExpr], ...]
    whole: CExpr
    part: CExpr

    @staticmethod
    def of(value: CExpr, variable: str, types: RowTypes, arrays: Collection[str]) -> _Term | None:
        """The vectors of a value; None of what is no arithmetic on elements of rows and of their type."""
        whole, part = (RowVectors(kind, variable, arrays, frozenset()) for kind in (types, _part_of(types)))
        made, some = whole.of(value), part.of(value)
        if made is None or some is None:
            return None
        is_typed = (_has_type(each, types, arrays) for _, each in whole.same)
        return _Term(whole.same, made, some) if all(is_typed) else None


def _part_of(types: RowTypes) -> _PartTypes:
    return _PartTypes(types.suffix, types.lanes)


def _has_type(value: CExpr, types: RowTypes, arrays: Collection[str]) -> bool:
    """Whether a number of the type of a row is computed where that is computed with vectors."""
    return types.is_number(value.text) if isinstance(value, Literal) else is_element(value, arrays)


@dataclass(frozen=True, slots=True)
class _Walk:
    types: RowTypes
    arrays: Collection[str]

    def changed(self, statements: Sequence[Stmt]) -> tuple[Stmt, ...]:
        """The statements with rows in registers; what starts a row in memory is left out before it."""
        found: list[Stmt] = []
        for statement in statements:
            rows = _Rows.of(statement, self.types, self.arrays)
            if rows is not None:
                starts = bool(found) and rows.is_start(found[-1])
                found[len(found) - starts :] = [rows.block(starts=starts)]
                continue
            match statement:
                case For(body=body) | Block(body=body):
                    found.append(replace(statement, body=self.changed(body)))
                case If(_, then, otherwise):
                    both = self.changed(then), self.changed(otherwise)
                    found.append(If(statement.condition, *both))
                case _:
                    found.append(statement)
        return tuple(found)


def _may_stand_before(statement: Stmt) -> bool:
    """Whether a statement is one of those in front of a loop between bounds: these, and checks."""
    match statement:
        case Declare() | If(then=(Return(),), otherwise=()):
            return True
        case _:
            return False


@dataclass(frozen=True, slots=True)
class _Rows:
    """A loop that adds to a row, one innermost.  declared: what stands before it, bounds of the loop say."""

    types: RowTypes
    declared: tuple[Stmt, ...]
    loop: For
    along: For
    end: CExpr
    target: Subscript
    term: _Term

    @staticmethod
    def of(statement: Stmt, types: RowTypes, arrays: Collection[str]) -> _Rows | None:
        """The loop of a block; None of others, and of what is no arithmetic on elements of rows."""
        match statement:
            case Block((*declared, For(body=(For() as along,)) as loop)):
                pass
            case _:
                return None
        match along:
            case For(variable, body=(Assign(Subscript() as target, "+=", value),)):
                span = counted_range(along)
            case _:
                return None
        if span is None:
            return None
        fixed = names_in([*span, target])
        if loop.variable in fixed or not all(map(_may_stand_before, declared)):
            return None
        read, term = read_of(target, variable), _Term.of(value, variable, types, arrays)
        if read is None or term is None or read.array in names_in([value]):
            return None
        return _Rows(types, tuple(declared), loop, along, span[1], target, term)

    def is_start(self, statement: Stmt) -> bool:
        """Whether a statement sets the row to zero."""
        match statement:
            case For(variable, body=(Assign(target, "=", value),)):
                here = substituted(target, {Id(variable): Id(self.along.variable)})
            case _:
                return False
        zero = isinstance(value, Literal) and self.types.is_number(value.text)
        same = counted_range(statement) == (self.along.start, self.end) and here == self.target
        return zero and same and float(value.text.removesuffix("f")) == 0.0  # type: ignore[union-attr]

    def block(self, *, starts: bool) -> Block:
        """Vectors of the row, as many as there are; starts: whether they are zero before."""
        lanes, variable = self.types.lanes, self.along.variable
        strip, left = Literal(str(TOGETHER * lanes)), Id(LEFT)
        some = CCall(MIN_I64.function, (CBinary("-", self.end, Id(variable)), strip))
        choice = tuple(self._vectors(TOGETHER, starts=starts))
        for count in reversed(range(1, TOGETHER)):
            few = CBinary("<=", left, Literal(str(count * lanes)))
            choice = (If(few, tuple(self._vectors(count, starts=starts)), choice),)
        body = (Declare("const ptrdiff_t", LEFT, some), *choice)
        strips = For(variable, self.along.start, self.along.condition, strip, body)
        return Block((*self.declared, strips))

    def _vectors(self, count: int, *, starts: bool) -> Iterator[Stmt]:
        """So many vectors, the last of which may have a part of its lanes."""
        types, lanes = self.types, self.types.lanes
        some = plus(Id(LEFT), -(count - 1) * lanes)
        yield Declare(
            f"const _pm_part_mask_{types.suffix}", PART, CCall(f"_PM_PART_MASK_{types.suffix}", (some,))
        )
        kinds = [*[types] * (count - 1), _part_of(types)]
        terms = [*[self.term.whole] * (count - 1), self.term.part]
        targets = [self._moved(self.target, k) for k in range(count)]
        sums = [f"{SUMS}_{k}" for k in range(count)]
        for name, kind, target in zip(sums, kinds, targets, strict=True):
            yield Declare(types.vector, name, Braces((Literal("0"),)) if starts else kind.load(target))
        same = (Declare(f"const {types.ctype}", *each) for each in self.term.same)
        added = (Assign(Id(sums[k]), "+=", self._moved(term, k)) for k, term in enumerate(terms))
        yield replace(self.loop, body=(*same, *added))
        for name, kind, target in zip(sums, kinds, targets, strict=True):
            yield Evaluate(kind.store(target, Id(name)))

    def _moved(self, value: CExpr, vector: int) -> CExpr:
        """A value so many vectors further along the row."""
        here = Id(self.along.variable)
        return substituted(value, {here: plus(here, vector * self.types.lanes)})
