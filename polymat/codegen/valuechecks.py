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
from polymat.graph.pipeline import Pipeline
from polymat.lang.affine import Affine

_EXTENTS = "_pm_extents"


def value_checks(
    pipeline: Pipeline,
    names: Names,
    size: Callable[[Affine], CExpr],
    needs: set[Need],
    team: Callable[[CExpr], CExpr],
    leave: tuple[Stmt, ...] = (),
) -> Iterator[Stmt]:
    """For each such input: leave the call where an element lies outside.

    size: a form over the sizes in C.  team: the threads that so many operations are worth.  leave: what gives
    these back.
    """
    for array in pipeline.inputs:
        if array.values is None or array.checked:
            continue
        needs.update((Piece.OUTSIDE, Piece.PLACE))
        extents = pipeline.as_called(array.name, array.extents)
        shape = Braces(tuple(map(size, extents)))
        values, limits = Id(names.get("array", array.name)), tuple(map(size, array.values))
        suffix, count = array.dtype.suffix, reduce(partial(CBinary, "*"), map(_counted, map(size, extents)))
        arguments = (
            values,
            Literal(f'"{array.name}"'),
            Literal(str(len(extents))),
            Id(_EXTENTS),
            Literal(str(int(array.turned))),
            *limits,
            team(count),
        )
        outside = CCall(f"_pm_outside_{suffix}", arguments)
        declared = Declare("const ptrdiff_t", f"{_EXTENTS}[{len(extents)}]", shape)
        wrong: CExpr = outside
        if array.sorted:
            unsorted = CCall(f"_pm_unsorted_{suffix}", (*arguments[:2], size(extents[0])))
            fine = CCall(f"_pm_in_order_inside_{suffix}", (values, size(extents[0]), *limits))
            wrong = CBinary("&&", CUnary("!", fine), CBinary("||", outside, unsorted))
        yield Block((declared, If(wrong, (*leave, Return(Literal(str(VALUES_OUTSIDE)))), leave)))


def _counted(extent: CExpr) -> CExpr:
    return CCall("_pm_extent", (extent,))
