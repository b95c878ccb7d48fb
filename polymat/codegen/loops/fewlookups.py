"""Look-ups of elements of four bytes in tables of at most 16, each for 8 to 64 points: by permutations.

Rows of a grid in which pixels look their brightness up are such tables, each for the pixels of a cell.
Gathers load element by element; two permutations give eight of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from polymat.codegen.c.countingloops import between
from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Braces,
    Cast,
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
    Stmt,
    Subscript,
    Ternary,
    expressions,
    names_in,
    plus,
)
from polymat.codegen.c.needs import FLOORDIV_I64, MAX_I64, MIN_I64, Need, Piece
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import is_element
from polymat.codegen.c.vectorloops import VECTORS
from polymat.codegen.loops.innermost import DIVISION, straight_range, with_innermost
from polymat.codegen.loops.sharedplaces import index_sum
from polymat.dataclass import dataclass
from polymat.lang.types import ScalarType

FEWEST, MOST = 8, 16  # entries of a table
BYTES = 4  # of an entry
POINTS = 8  # that are looked up at once
TOGETHER = 64  # points of a block
CELLS = (8, 16, 32, 64)  # points that have a table in common: whole blocks have whole ones of them
PLACES, FOUND = "_pm_few_at", "_pm_few"
FIRST, BEGIN, END, HIGH = "_pm_few_first", "_pm_few_begin", "_pm_few_end", "_pm_few_high"
TABLES = "_pm_few_tables"
INDEX = "int32_t"


def with_few_lookups(
    statements: Sequence[Stmt], arrays: Mapping[str, ScalarType], needs: set[Need]
) -> tuple[Stmt, ...]:
    """The statements with their innermost loops in two, where they look up few elements that data say.

    arrays: element types, by name.

    before:  for j: y[j] = a[12 * (j // 8) + min(max(p[j], 0), 10)] * z[j]
    after:   for j by 64:  for 64: k = min(max(p[j], 0), 10);  t = 64 of a[12 * (j // 8) + k];
             for 64: y[j] = t * z[j]
    """
    fitting = {name for name, dtype in arrays.items() if dtype.size == BYTES}
    return with_innermost(statements, lambda loop: _split(loop, fitting, arrays, needs))


@dataclass(frozen=True, slots=True)
class _Lookup:
    """A read: the array, the entry for place 0 of the first table, and how far tables are from each other.

    cell: how many points have a table in common; 0 where all have.
    """

    read: Subscript
    same: CExpr
    step: CExpr
    place: CExpr
    entries: int
    cell: int


def _split(loop: For, fitting: set[str], arrays: Mapping[str, ScalarType], needs: set[Need]) -> Block | None:
    """A loop in two; None where it looks nothing up.  fitting: arrays whose elements permutations take."""
    span = straight_range(loop)
    if span is None:
        return None
    declared = {item.name: item.value for item in loop.body if isinstance(item, Declare) and item.value}
    written = names_in(item.target for item in loop.body if isinstance(item, Assign))
    on_data = _on_data(declared)
    reads = dict.fromkeys(_read_anyway(loop.body, on_data))
    found = [
        each
        for read in reads
        if is_element(read, fitting - written)
        and (each := _lookup(read, loop.variable, {loop.variable, *declared})) is not None
    ]
    looked_up = {each.read for each in found}
    found = _of_one_cell([each for each in found if not _depends(each.place, declared, looked_up)])
    if not found:
        return None
    needs.update((Piece.FEW_ENTRIES, FLOORDIV_I64, MIN_I64, MAX_I64))
    return _blocks(loop, span, found, declared, arrays)


def _of_one_cell(found: Sequence[_Lookup]) -> list[_Lookup]:
    """The look-ups whose tables are those of the first's cells, or the same everywhere.

    A block begins with a cell: before it begins, a smaller one may be none that there is.
    """
    cells = [each.cell for each in found if each.cell]
    return [each for each in found if each.cell in (0, cells[0] if cells else 0)]


def _on_data(declared: Mapping[str, CExpr]) -> set[str]:
    """The locals that depend on elements of arrays."""
    found: set[str] = set()
    for name, value in declared.items():
        if _is_on_data(value, found):
            found.add(name)
    return found


def _is_on_data(value: CExpr, on_data: set[str]) -> bool:
    is_read = any(isinstance(part, Subscript) for part in expressions([value]))
    return is_read or not names_in([value]).isdisjoint(on_data)


def _read_anyway(body: Iterable[Stmt], on_data: set[str]) -> Iterator[CExpr]:
    """Expressions that may be computed at each point: what is chosen by data may be loaded in any case.

    Not what is chosen by indices as well, which may say where it is there: `i >= 1 && x > 0 ? a[i - 1] : 0`.
    """
    stack: list[object] = [
        item.value for item in body if isinstance(item, (Assign, Declare)) and item.value is not None
    ]
    while stack:
        node = stack.pop()
        match node:
            case Ternary(condition, then, otherwise):
                stack.append(condition)
                by_data = [_is_on_data(part, on_data) for part in _conjuncts(condition)]
                stack += (then,) if all(by_data) else ()
                stack += (otherwise,) if any(by_data) else ()
            case CBinary("&&" | "||", left, _):
                stack.append(left)
            case CBinary(_, left, right):
                stack += (left, right)
            case CCall(_, arguments):
                stack += arguments
            case CUnary(_, inner) | Cast(_, inner):
                stack.append(inner)
            case Subscript(_, index):
                yield node
                stack.append(index)


def _conjuncts(condition: CExpr) -> Iterator[CExpr]:
    """The conditions all of which have to hold."""
    match condition:
        case CBinary("&&", left, right):
            yield from _conjuncts(left)
            yield from _conjuncts(right)
        case _:
            yield condition


def _lookup(read: Subscript, variable: str, varying: set[str]) -> _Lookup | None:
    """A read at a multiple of j // 8, say, plus a computed value of few, plus what is the same everywhere."""
    total = index_sum(read.index, varying)
    step: CExpr = Literal("0")
    cell = 0
    place: Cast | None = None
    for by, each in total.varying:
        match each:
            case CCall(function, (Id(name), Literal(text))) if function == DIVISION and name == variable:
                if text not in map(str, CELLS) or step != Literal("0"):
                    return None
                step, cell = by or Literal("1"), int(text)
            case Cast(within=(_, _)) if by is None and place is None:
                place = each
            case _:
                return None
    if place is None or place.within is None:
        return None
    low, high = place.within
    is_on_data = total.same is not None and _is_on_data(total.same, set())
    if is_on_data or not FEWEST <= high - low + 1 <= MOST:
        return None
    same = plus(total.same or Literal("0"), total.number + low)
    return _Lookup(read, same, step, plus(place.operand, -low), high - low + 1, cell)


def _depends(place: CExpr, declared: Mapping[str, CExpr], looked_up: set[Subscript]) -> bool:
    """Whether a place depends on what is looked up itself."""
    values = [place, *(declared[name] for name in _needed([place], declared))]
    return not looked_up.isdisjoint(expressions(values))


def _needed(values: Iterable[CExpr], declared: Mapping[str, CExpr]) -> set[str]:
    """The locals that some values are computed from."""
    found: set[str] = set()
    stack = [*values]
    while stack:
        new = (names_in([stack.pop()]) & declared.keys()) - found
        found |= new
        stack += (declared[name] for name in new)
    return found


def _blocks(
    loop: For,
    span: tuple[CExpr, CExpr],
    found: Sequence[_Lookup],
    declared: Mapping[str, CExpr],
    arrays: Mapping[str, ScalarType],
) -> Block:
    """Blocks of points that begin with a table: their places, what is there, and the loop that uses it."""
    first, many, points = Id(FIRST), Literal(str(TOGETHER)), Literal(str(POINTS))
    places = {place: f"{PLACES}{k}" for k, place in enumerate(dict.fromkeys(each.place for each in found))}
    kept = {each: f"{FOUND}{k}" for k, each in enumerate(found)}
    here = CBinary("-", Id(loop.variable), first)
    needed = _needed(places, declared)
    before = [item for item in loop.body if isinstance(item, Declare) and item.name in needed]
    computed = (Assign(Subscript(Id(name), here), "=", Cast(INDEX, place)) for place, name in places.items())
    part = replace(between(loop, Id(BEGIN), Id(END)), pragmas=(VECTORS,))
    known: dict[CExpr, CExpr] = {each.read: Subscript(Id(name), here) for each, name in kept.items()}
    end = CCall(MIN_I64.function, (CBinary("+", first, many), Id(HIGH)))
    tables = CBinary("/", plus(CBinary("-", Id(END), first), POINTS - 1), points)
    body: tuple[Stmt, ...] = (
        Declare("const ptrdiff_t", BEGIN, CCall(MAX_I64.function, (first, span[0]))),
        Declare("const ptrdiff_t", END, end),
        Declare("const ptrdiff_t", TABLES, tables),
        *(Declare(INDEX, f"{name}[{TOGETHER}]", Braces((Literal("0"),))) for name in places.values()),
        *(Declare(_type(each, arrays), f"{name}[{TOGETHER}]") for each, name in kept.items()),
        replace(part, body=(*before, *computed)),
        *(_picked(each, name, places[each.place]) for each, name in kept.items()),
        replace(part, body=substituted(loop.body, known)),
    )
    cell = Literal(str(max(POINTS, *(each.cell for each in found))))
    start = CBinary("*", CCall(FLOORDIV_I64.function, (span[0], cell)), cell)
    blocks = For(FIRST, start, CBinary("<", first, Id(HIGH)), many, body)
    some = CBinary("<", span[0], Id(HIGH))  # or else a block may begin before the first point, with no table
    return Block((Declare("const ptrdiff_t", HIGH, span[1]), If(some, (blocks,))))


def _picked(each: _Lookup, name: str, places: str) -> Evaluate:
    """Look some points up."""
    points = each.cell or POINTS
    begin = CBinary("*", each.step, CBinary("/", Id(FIRST), Literal(str(points))))
    entry = CUnary("&", Subscript(each.read.array, CBinary("+", begin, each.same)))
    to = Cast(f"{INDEX} *", Id(name))
    entries, cell = Literal(str(each.entries)), Literal(str(points // POINTS))
    return Evaluate(CCall("_pm_pick", (to, entry, each.step, Id(places), Id(TABLES), entries, cell)))


def _type(each: _Lookup, arrays: Mapping[str, ScalarType]) -> str:
    assert isinstance(each.read.array, Id), "an element is one of a named array"
    return arrays[each.read.array.name].c
