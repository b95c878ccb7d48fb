"""Rows written past the caches: whole lines of results that are too large to stay in one.

A store into a line that is in no cache fetches it first, though all of it is replaced: memory moves three
bytes for two.  Stores past the caches do not, but want whole lines at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from polymat.codegen.c.ctree import Binary, Call, CExpr, Declare, Evaluate, For, Id, If, Literal, Stmt
from polymat.codegen.c.lines import STREAMS
from polymat.codegen.c.rows import RowTypes
from polymat.codegen.loops.innermost import straight_range, with_innermost
from polymat.codegen.loops.shifted import HIGH, LOW, RowPoint
from polymat.codegen.memory.storage import Buffer
from polymat.lang.affine import Affine

PAST = "_pm_past"  # whether results are written past the caches
WORTH = 16  # vectors of a row: the lines at its ends are written as ever


def exceeds(size: Callable[[Affine], CExpr], buffers: Sequence[Buffer], limit: int) -> CExpr:
    """Whether arrays are larger together than so many bytes, and the C compiler can write past the caches."""
    return Binary("&&", Id(STREAMS), is_larger(size, buffers, limit))


def is_larger(size: Callable[[Affine], CExpr], buffers: Sequence[Buffer], limit: int) -> CExpr:
    """Whether arrays are larger together than so many bytes; 0: they never are."""
    if limit == 0:
        return Literal("0")
    total: CExpr | None = None
    for buffer in buffers:
        each: CExpr = Literal(f"{float(buffer.dtype.size)}")
        for extent in buffer.extents:
            each = Binary("*", each, Call("_pm_extent", (size(extent),)))
        total = each if total is None else Binary("+", total, each)
    assert total is not None, "something is written"
    return Binary(">", total, Literal(f"{float(limit)}"))


def with_streams(
    statements: Sequence[Stmt],
    types: RowTypes,
    scalars: Collection[str],
    distinct: Collection[str],
    same: Collection[str],
    past: CExpr,
) -> tuple[Stmt, ...] | None:
    """The statements with their innermost loops once more, past the caches where `past` holds; None without.

    scalars, distinct: as for `polymat.codegen.loops.shifted.with_shifts`.  same: arrays that may be the
    result.

    before:  for j: y[j] = a * x[j]
    after:   if past: the lanes before the first line; for j by 16: stream(y[j ...], ...); the last lanes
             else: for j: y[j] = a * x[j]
    """
    found = False

    def rewritten(loop: For) -> Stmt | None:
        nonlocal found
        bounds = straight_range(loop)
        if bounds is None:
            return None
        known_scalars, others = frozenset(scalars), frozenset(distinct)
        point = RowPoint.of(loop.body, loop.variable, types, known_scalars, others, frozenset(same))
        lines = None if point is None else point.lines()
        if lines is None:
            return None
        found = True
        known = (Declare("const ptrdiff_t", LOW, bounds[0]), Declare("const ptrdiff_t", HIGH, bounds[1]))
        long = Binary(">=", Binary("-", bounds[1], bounds[0]), Literal(str(WORTH * types.lanes)))
        return If(Binary("&&", Id(PAST), long), (*known, *lines), (loop,))

    made = with_innermost(statements, rewritten)
    if not found:
        return None
    behind = If(Id(PAST), (Evaluate(types.streamed()),))
    return (Declare("const int", PAST, past), *made, behind)
