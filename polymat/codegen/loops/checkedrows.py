"""Checks of declared values in the loops that read them, instead of a pass over all of them before.

The columns of a sparse matrix are read once, by the sums along its rows.  Looked at beforehand they come from
memory twice; here some are looked at right before the first of them is used, and come from the first-level
cache then.  None is an index before it was looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from polymat.codegen.c.ctree import (
    Block,
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
    Stmt,
    Subscript,
    names_in,
)
from polymat.codegen.c.needs import MIN_I64, Piece
from polymat.codegen.loops.gatheredrows import READABLE
from polymat.codegen.loops.innermost import with_changed
from polymat.codegen.loops.nestfunction import CheckedRows, NestFunction
from polymat.codegen.loops.nestwriter import NestWriter
from polymat.codegen.loops.segmentloops import FROM, TO, AllRows
from polymat.graph.stage import InputArray, Stage
from polymat.lang.affine import Affine

SEEN, WRONG = "_pm_seen", "_pm_wrong"  # which elements are inside, and whether one was not


def with_checked_rows(nest: NestFunction, stage: Stage, writer: NestWriter) -> NestFunction:
    """The nest, with checks of the arrays that it alone reads, all along; or as it was.

    before:  for i: { from = row[i]; to = row[i + 1]; for k in from .. to - 1: s += value[k] * x[column[k]] }
    after:   seen = none;
             for i: { from = row[i]; to = row[i + 1];
                      if (!inside(column, from, to, seen, wrong)) return;  for k: as before }
    """
    arrays = _arrays(stage, writer)
    covering = _covering(stage, writer) if arrays else None
    if covering is None:
        return nest
    assert stage.segments is not None, "or there are no such arrays"
    (segment,) = stage.segments.dims
    variable = writer.bodies.index_name(segment.dim)
    checks = tuple(_check(array, variable, writer) for array in arrays)
    ends: list[CExpr] = [Subscript(Id(_seen(array, writer)), Literal("1")) for array in arrays]
    least = reduce(lambda one, other: CCall(MIN_I64.function, (one, other)), ends[1:], ends[0])
    body = _with_checks(nest.function.body, variable, checks, least)
    if body is None:
        return nest
    none = Braces((Literal("0"), Literal("0")))
    seen = tuple(Declare("ptrdiff_t", f"{_seen(array, writer)}[2]", none) for array in arrays)
    writer.needs.update((Piece.OUTSIDE, *([MIN_I64] if len(arrays) > 1 else [])))
    given = {parameter.name for parameter in nest.function.parameters}
    sizes = [writer.names.get("size", size.name) for size in writer.pipeline.sizes]
    more = [CParameter("const ptrdiff_t", name) for name in sizes if name in names_in(checks)]
    added = (CParameter("int *", WRONG), *(each for each in more if each.name not in given))
    function = replace(nest.function, parameters=(*added, *nest.function.parameters), body=(*seen, *body))
    checked = CheckedRows(tuple(array.name for array in arrays), covering)
    arguments = (*(Id(each.name) for each in added), *nest.arguments)
    return replace(nest, function=function, arguments=arguments, checked=checked)


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
    covered: CExpr = CBinary("<=", writer.size(rows.low), writer.size(rows.end - 1))
    ends = (CBinary("<=", first, Literal("0")), CBinary(">=", end, writer.size(rows.elements)))
    others = (CBinary("<=", *map(writer.size, limits)) for limits in rows.around)
    for condition in (*ends, *others):
        covered = CBinary("&&", covered, condition)
    return covered


def _check(array: InputArray, variable: str, writer: NestWriter) -> If:
    """Leave the nest where some elements that are read next are not as they were declared."""
    assert array.values is not None, "asked of those that have limits"
    between = (Id(f"{FROM}_{variable}"), Id(f"{TO}_{variable}"))
    limits = map(writer.size, (array.extents[0], *array.values))
    values, seen = Id(writer.bodies.array(array.name)), Id(_seen(array, writer))
    inside = CCall(f"_pm_inside_{array.dtype.suffix}", (values, *limits, *between, seen, Id(WRONG)))
    return If(CUnary("!", inside), (Return(),))


def _with_checks(
    body: Sequence[Stmt], variable: str, checks: Sequence[Stmt], seen: CExpr
) -> tuple[Stmt, ...] | None:
    """The statements with checks in front of the loops between bounds; None where there are none.

    seen: where the elements end that are known to be inside, behind which no terms are computed.
    """
    found = False

    def limited(statement: Stmt) -> Stmt | None:
        if not isinstance(statement, Declare) or statement.name != READABLE:
            return None
        return replace(statement, value=seen)

    def changed(statement: Stmt) -> Stmt | None:
        nonlocal found
        match statement:
            case Block((Declare(_, first) as low, Declare(_, last) as high, *rest)) if (first, last) == (
                f"{FROM}_{variable}",
                f"{TO}_{variable}",
            ):
                found = True
                return Block((low, high, *checks, *with_changed(rest, limited)))
            case _:
                return None

    made = with_changed(body, changed)
    return made if found else None


def _seen(array: InputArray, writer: NestWriter) -> str:
    return f"{SEEN}_{writer.bodies.array(array.name)}"
