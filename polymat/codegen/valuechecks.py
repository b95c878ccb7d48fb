"""Checks of integer inputs whose elements were declared to lie between limits, before all else of a call."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from polymat.codegen.c.abi import VALUES_OUTSIDE
from polymat.codegen.c.cnames import Names
from polymat.codegen.c.ctree import (
    Block,
    Braces,
    CBinary,
    CCall,
    CExpr,
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
    pipeline: Pipeline, names: Names, size: Callable[[Affine], CExpr], needs: set[Need]
) -> Iterator[Stmt]:
    """For each such input: leave the call where an element lies outside.

    size: a form over the sizes in C.
    """
    for array in pipeline.inputs:
        if array.values is None:
            continue
        needs.add(Piece.OUTSIDE)
        extents = pipeline.as_called(array.name, array.extents)
        shape = Braces(tuple(map(size, extents)))
        arguments = (
            Id(names.get("array", array.name)),
            Literal(f'"{array.name}"'),
            Literal(str(len(extents))),
            Id(_EXTENTS),
            Literal(str(int(array.turned))),
            *map(size, array.values),
        )
        outside = CCall(f"_pm_outside_{array.dtype.suffix}", arguments)
        declared = Declare("const ptrdiff_t", f"{_EXTENTS}[{len(extents)}]", shape)
        wrong: CExpr = outside
        if array.sorted:
            unsorted = CCall(f"_pm_unsorted_{array.dtype.suffix}", (*arguments[:2], size(extents[0])))
            wrong = CBinary("||", outside, unsorted)
        yield Block((declared, If(wrong, (Return(Literal(str(VALUES_OUTSIDE))),))))
