"""Checks of declared values in the loops that read them, instead of a pass over all of them before.

The columns of a sparse matrix are read once, by the sums along its rows.  Looked at beforehand they come from
memory twice; here some are looked at right before the first of them is used, and come from the first-level
cache then.  None is an index before it was looked at.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from polymat.codegen.c.ctree import (
    Braces,
    CBinary,
    CCall,
    CExpr,
    CParameter,
    CUnary,
    Declare,
    Id,
    If,
    Literal,
    Return,
    Subscript,
    names_in,
)
from polymat.codegen.c.needs import MIN_I64, Piece
from polymat.codegen.c.shorthand import all_of
from polymat.codegen.loops.nestfunction import CheckedRows, NestFunction
from polymat.codegen.loops.nestwriter import NestWriter
from polymat.codegen.loops.segmentloops import AllRows, bounds_of
from polymat.graph.stage import InputArray, Stage
from polymat.lang.affine import Affine

SEEN, WRONG = "_pm_seen", "_pm_wrong"  # which elements are inside, and whether one was not


def checked_rows(stage: Stage, writer: NestWriter) -> CheckedRows | None:
    """The checks of the arrays that a stage alone reads, all along its rows; None where there are none.

    before:  for i: { from = row[i]; to = row[i + 1]; for k in from .. to - 1: s += value[k] * x[column[k]] }
    after:   seen = none;
             for i: { from = row[i]; to = row[i + 1];
                      if (!inside(column, from, to, seen, wrong)) return;  for k: as before }
    """
    arrays = _arrays(stage, writer)
    covering = _covering(stage, writer) if arrays else None
    if covering is None:
        return None
    assert stage.segments is not None, "or there are no such arrays"
    (segment,) = stage.segments.dims
    variable = writer.bodies.index_name(segment.dim)
    ends: list[CExpr] = [Subscript(Id(_seen(writer, array.name)), Literal("1")) for array in arrays]
    least = reduce(lambda one, other: CCall(MIN_I64.function, (one, other)), ends)
    checks = tuple(_check(array, variable, writer) for array in arrays)
    return CheckedRows(tuple(array.name for array in arrays), covering, checks, least)


def with_checks(nest: NestFunction, checks: CheckedRows, writer: NestWriter) -> NestFunction:
    """The nest with what its checks take; as it was, where it was written without them."""
    if WRONG not in names_in(nest.function.body):
        return nest
    none = Braces((Literal("0"), Literal("0")))
    seen = tuple(Declare("ptrdiff_t", f"{_seen(writer, name)}[2]", none) for name in checks.arrays)
    writer.needs.update((Piece.OUTSIDE, *([MIN_I64] if len(seen) > 1 else [])))
    parameters = (CParameter("int *", WRONG), *nest.function.parameters)
    function = replace(nest.function, parameters=parameters, body=(*seen, *nest.function.body))
    return replace(nest, function=function, arguments=(Id(WRONG), *nest.arguments), checked=checks)


def _arrays(stage: Stage, writer: NestWriter) -> list[InputArray]:
    """The inputs whose elements the stage alone reads, each in the loop that runs along all of them."""
    if stage.segments is None or len(stage.segments.dims) != 1:
        return []
    (item,), dim = stage.accumulations, stage.segments.dims[0].dim
    along = Affine.name(dim)
    low, high = dict(zip(item.dims, item.box, strict=True))[dim]
    readers = [each for each in writer.pipeline.stages if each is not stage]
    elsewhere = {load.source.name for each in readers for load in each.loads()}
    found = []
    for array in writer.pipeline.inputs:
        reads = [load.indices for load in stage.loads() if load.source.name == array.name]
        if array.values is None or array.checked or array.sorted or array.name in elsewhere:
            continue
        whole = low == Affine((), 0) and array.extents == (high + 1,)
        if whole and reads and all(indices == (along,) for indices in reads):
            found.append(array)
    return found


def _covering(stage: Stage, writer: NestWriter) -> CExpr | None:
    """Whether the rows are all elements; None where rows do not follow each other or fill no box."""
    rows = AllRows.of(stage, writer.bodies)
    if rows is None:
        return None
    first, end = (Subscript(rows.begins, writer.size(form)) for form in (rows.low, rows.end))
    some = CBinary("<=", writer.size(rows.low), writer.size(rows.end - 1))
    ends = (CBinary("<=", first, Literal("0")), CBinary(">=", end, writer.size(rows.elements)))
    others = (CBinary("<=", *map(writer.size, limits)) for limits in rows.around)
    return all_of((some, *ends, *others))


def _check(array: InputArray, variable: str, writer: NestWriter) -> If:
    """Leave the nest where some elements that are read next are not as they were declared."""
    assert array.values is not None, "asked of those that have limits"
    between = map(Id, bounds_of(variable))
    limits = map(writer.size, (array.extents[0], *array.values))
    values, seen = Id(writer.bodies.array(array.name)), Id(_seen(writer, array.name))
    inside = CCall(f"_pm_inside_{array.dtype.suffix}", (values, *limits, *between, seen, Id(WRONG)))
    return If(CUnary("!", inside), (Return(),))


def _seen(writer: NestWriter, array: str) -> str:
    return f"{SEEN}_{writer.bodies.array(array)}"
