"""Rows written past the caches: whole lines of results that are too large to stay in one.

A store into a line that is in no cache fetches it first, though all of it is replaced: memory moves three
bytes for two.  Stores past the caches do not, but want whole lines at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from polymat.codegen.c.countingloops import known_ends
from polymat.codegen.c.ctree import (
    Assign,
    CBinary,
    CExpr,
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
)
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import RowTypes
from polymat.codegen.loops.innermost import straight_range, with_innermost
from polymat.codegen.loops.shifted import RowPoint
from polymat.codegen.loops.work import times_extents, total_of
from polymat.codegen.memory.storage import Buffer
from polymat.lang.affine import Affine

STREAMS = "_PM_STREAMS"  # whether the C compiler has stores past the caches
PAST = "_pm_past"  # whether results are written past the caches
FIXED = "_pm_fixed"  # with a number: an element that is the same for a whole row
WORTH = 16  # vectors of a row: the lines at its ends are written as ever


def lines_text(types: RowTypes) -> str:
    """A piece of the prelude, put after the vectors of the same type: whole lines written past the caches."""
    return types.kernel("lines")


def exceeds(
    size: Callable[[Affine], CExpr], buffers: Sequence[Buffer], limit: int, stores: str = STREAMS
) -> CExpr:
    """Whether arrays are larger together than so many bytes, and the C compiler can write past the caches.

    stores: the name that says so.
    """
    return CBinary("&&", Id(stores), is_larger(size, buffers, limit))


def is_larger(size: Callable[[Affine], CExpr], buffers: Sequence[Buffer], limit: int) -> CExpr:
    """Whether arrays are larger together than so many bytes; 0: they never are."""
    if limit == 0:
        return Literal("0")
    each = [times_extents(buffer.dtype.size, buffer.extents, size) for buffer in buffers]
    return CBinary(">", total_of(each), Literal(f"{float(limit)}"))


def with_streams(
    statements: Sequence[Stmt],
    types: RowTypes,
    scalars: Collection[str],
    distinct: Collection[str],
    same: Collection[str],
    past: CExpr,
    *,
    fence: bool = True,
) -> tuple[Stmt, ...] | None:
    """The statements with their innermost loops once more, past the caches where `past` holds; None without.

    scalars, distinct: as for `polymat.codegen.loops.shifted.with_shifts`.  same: arrays that may be the
    result.  fence: with what has to follow before other threads are told.

    before:  for j: y[j] = s[i] * x[j]
    after:   if past: s0 = s[i];  the lanes before the first line;  for j by 16: stream(y[j ...], s0 * ...);
                      the last lanes
             else: for j: y[j] = s[i] * x[j]
    """
    arrays = (frozenset(distinct), frozenset(same))
    found = False

    def rewritten(loop: For) -> Stmt | None:
        nonlocal found
        twice = _past_caches(loop, types, scalars, *arrays)
        found = found or twice is not None
        return twice

    made = with_innermost(statements, rewritten)
    if not found:
        return None
    behind = (If(Id(PAST), (Evaluate(types.streamed()),)),) if fence else ()
    return (Declare("const int", PAST, past), *made, *behind)


def _past_caches(
    loop: For, types: RowTypes, scalars: Collection[str], distinct: frozenset[str], same: frozenset[str]
) -> Stmt | None:
    """A loop once more for long rows, past the caches where that is wanted; None where it cannot be."""
    bounds = straight_range(loop)
    if bounds is None:
        return None
    fixed = _fixed(loop, distinct)
    body = tuple(_with(statement, fixed) for statement in loop.body)
    known_scalars = frozenset({*scalars, *(local.name for local in fixed.values())})
    point = RowPoint.of(body, loop.variable, types, known_scalars, distinct, same)
    lines = None if point is None else point.lines()
    if lines is None:
        return None
    once = tuple(Declare(f"const {types.ctype}", local.name, read) for read, local in fixed.items())
    long = CBinary(">=", CBinary("-", bounds[1], bounds[0]), Literal(str(WORTH * types.lanes)))
    return If(CBinary("&&", Id(PAST), long), (*known_ends(bounds), *once, *lines), (loop,))


def _fixed(loop: For, arrays: Collection[str]) -> dict[Subscript, Id]:
    """The elements that a loop reads of these arrays at one place, and a name for each."""
    values = [part.value for part in loop.body if isinstance(part, (Declare, Assign))]
    found: dict[Subscript, Id] = {}
    for expr in expressions([Evaluate(value) for value in values if value is not None]):
        if not isinstance(expr, Subscript) or loop.variable in names_in([Evaluate(expr)]):
            continue
        if isinstance(expr.array, Id) and expr.array.name in arrays:
            found.setdefault(expr, Id(f"{FIXED}{len(found)}"))
    return found


def _with(statement: Stmt, known: Mapping[Subscript, Id]) -> Stmt:
    """A statement of a row with names in place of elements in its values."""
    values: dict[CExpr, CExpr] = dict(known.items())
    match statement:
        case Assign(target, operator, value):
            return Assign(target, operator, substituted(value, values))
        case Declare(ctype, name, value) if value is not None:
            return Declare(ctype, name, substituted(value, values))
        case _:
            return statement
