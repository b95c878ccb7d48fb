"""Checks of integer inputs whose elements were declared to lie between limits, before all else of a call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, reduce

from polymat.codegen.c.abi import VALUES_OUTSIDE
from polymat.codegen.c.cnames import Names
from polymat.codegen.c.ctree import (
    Block,
    Braces,
    CBinary,
    CCall,
    CExpr,
    CUnary,
    Declare,
    Id,
    If,
    Literal,
    Return,
    Stmt,
)
from polymat.codegen.c.needs import Need, Piece
from polymat.codegen.loops.checkedrows import WRONG
from polymat.codegen.loops.nestfunction import CheckedRows
from polymat.dataclass import dataclass
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import InputArray
from polymat.lang.affine import Affine

_EXTENTS = "_pm_extents"
FOUND = "_pm_found"  # whether a nest found something


@dataclass(frozen=True)
class ValueChecks:
    """Writes the checks of such inputs: each leaves the call where an element lies outside.

    size: a form over the sizes in C.  team: the threads that so many operations are worth.  leave: what gives
    these back.  rows: what a nest checks while it reads.
    """

    pipeline: Pipeline
    names: Names
    needs: set[Need]
    size: Callable[[Affine], CExpr]
    team: Callable[[CExpr], CExpr]
    leave: tuple[Stmt, ...] = ()
    rows: CheckedRows | None = None

    def before(self) -> Iterator[Stmt]:
        """Check arrays before all else; of those that nests check, whether these see all of it."""
        arrays = [each for each in self.pipeline.inputs if each.values is not None and not each.checked]
        for array in (each for each in arrays if not self._is_later(each)):
            yield self._check(array)
        later = tuple(self._check(array) for array in arrays if self._is_later(array))
        if self.rows is not None:
            yield If(CUnary("!", self.rows.covered), later)
            yield Declare("int", FOUND, Literal("0"))
            yield Declare("int *const ", WRONG, CUnary("&", Id(FOUND)))

    def behind(self, give: tuple[Stmt, ...]) -> Iterator[Stmt]:
        """Leave the call behind the nest that found something; give: what gives its memory back."""
        if self.rows is not None:
            arrays = (each for each in self.pipeline.inputs if self._is_later(each))
            wrong = Return(Literal(str(VALUES_OUTSIDE)))
            yield If(Id(FOUND), (*give, *map(self._check, arrays), wrong))

    def _is_later(self, array: InputArray) -> bool:
        return self.rows is not None and array.name in self.rows.arrays

    def _check(self, array: InputArray) -> Block:
        """Leave the call where an element of an array lies outside."""
        assert array.values is not None, "asked of those that have limits"
        self.needs.update((Piece.OUTSIDE, Piece.PLACE))
        extents = self.pipeline.as_called(array.name, array.extents)
        shape = Braces(tuple(map(self.size, extents)))
        values, limits = Id(self.names.get("array", array.name)), tuple(map(self.size, array.values))
        suffix = array.dtype.suffix
        count = reduce(partial(CBinary, "*"), map(_counted, map(self.size, extents)))
        arguments = (
            values,
            Literal(f'"{array.name}"'),
            Literal(str(len(extents))),
            Id(_EXTENTS),
            Literal(str(int(array.turned))),
            *limits,
            self.team(count),
        )
        outside = CCall(f"_pm_outside_{suffix}", arguments)
        declared = Declare("const ptrdiff_t", f"{_EXTENTS}[{len(extents)}]", shape)
        wrong: CExpr = outside
        if array.sorted:
            unsorted = CCall(f"_pm_unsorted_{suffix}", (*arguments[:2], self.size(extents[0])))
            fine = CCall(f"_pm_in_order_inside_{suffix}", (values, self.size(extents[0]), *limits))
            wrong = CBinary("&&", CUnary("!", fine), CBinary("||", outside, unsorted))
        left = (*self.leave, Return(Literal(str(VALUES_OUTSIDE))))
        return Block((declared, If(wrong, left, self.leave)))


def _counted(extent: CExpr) -> CExpr:
    return CCall("_pm_extent", (extent,))


def alone(operations: CExpr) -> CExpr:
    """The calling thread: what is looked at once is used at every step."""
    return Literal("1")
