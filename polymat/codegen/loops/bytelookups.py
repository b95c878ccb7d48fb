"""Look-ups of single bytes in tables of at most 2048: many points at once, by permutations of vectors.

Processors gather elements of four and eight bytes.  They permute the bytes of a vector by those of another
one, so that sixteen permutations look a vector up in 256 entries; of more, AVX-512's look it up in 128 each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from polymat.codegen.c.countingloops import between
from polymat.codegen.c.ctree import (
    Assign,
    Block,
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
    always_evaluated,
    expressions,
    names_in,
    plus,
)
from polymat.codegen.c.needs import MIN_I64, Need, Piece
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import index_terms, is_element, read_of
from polymat.codegen.loops.innermost import straight_range, with_innermost
from polymat.dataclass import dataclass
from polymat.lang.types import ScalarType

ENTRIES = 256  # at most where places are bytes
MOST = 2048  # at most
TOGETHER = 256  # points
LEAST = 64  # points of a loop that are worth a table of its own
COPIED = 4  # times as many entries of a larger table as points that are worth a copy of it
TABLE, PLACES, FOUND = "_pm_entries", "_pm_at", "_pm_found"
FIRST, END, HIGH = "_pm_row_first", "_pm_row_end", "_pm_row_high"  # of a block, and the end of all
BYTE, TWO_BYTES = "uint8_t", "uint16_t"


def with_byte_lookups(
    statements: Sequence[Stmt], arrays: Mapping[str, ScalarType], needs: set[Need]
) -> tuple[Stmt, ...]:
    """The statements with their innermost loops in two, where they look bytes up that are always read.

    arrays: element types, by name.

    before:  for i: y[i] = a * table[min(max(x[i] - z[i], 0), 99)]
    after:   for i by 256:  for 256: p = min(max(x[i] - z[i], 0), 99);  t = 256 of table[p];
             for 256: y[i] = a * t
    """
    of_bytes = {name: dtype for name, dtype in arrays.items() if dtype.size == 1}
    if not of_bytes:
        return tuple(statements)
    return with_innermost(statements, lambda loop: _split(loop, of_bytes, needs))


@dataclass(frozen=True, slots=True)
class _Lookup:
    """An element of a table: read, where it stands; number, of the place; first, the entry for place 0.

    table: what is common to look-ups in the same entries.  place: a value from 0 on, below `entries`.
    direct: where the places of all points stand in memory as they are, of the point of the loop.
    """

    read: Subscript
    number: int
    table: str
    first: CExpr
    entries: int
    place: CExpr
    direct: CExpr | None

    @property
    def is_wide(self) -> bool:
        """Whether its places take two bytes."""
        return self.entries > ENTRIES

    @property
    def least(self) -> int:
        """Points of a loop that are worth the table."""
        return max(LEAST, self.entries // COPIED) if self.is_wide else LEAST

    @property
    def place_type(self) -> str:
        """The C type of its places."""
        return TWO_BYTES if self.is_wide else BYTE

    @property
    def places(self) -> str:
        """The array of places of a block."""
        return f"{PLACES}{self.number}"

    @property
    def found(self) -> str:
        """The array of what is there."""
        return f"{FOUND}{self.number}"


def _split(loop: For, arrays: Mapping[str, ScalarType], needs: set[Need]) -> Stmt | None:
    span = straight_range(loop)
    if span is None:
        return None
    assigned = [item for item in loop.body if isinstance(item, Assign)]
    declared = {item.name for item in loop.body if isinstance(item, Declare)}
    found = _lookups(loop, assigned, declared, arrays)
    known: dict[CExpr, CExpr] = {each.read: _element(each.found, loop.variable) for each in found}
    then = tuple(substituted(item, known) for item in assigned)
    if not found or declared & names_in(then):
        return None
    needs.update(Piece.WIDE_TABLE if each.is_wide else Piece.BYTE_TABLE for each in found)
    needs.add(MIN_I64)
    return _blocks(loop, span, found, then, arrays)


def _lookups(
    loop: For, assigned: Sequence[Assign], declared: set[str], arrays: Mapping[str, ScalarType]
) -> list[_Lookup]:
    """The look-ups that all points of a loop make, each once, those within others' places alone."""
    found: dict[CExpr, _Lookup] = {}
    tables: dict[tuple[CExpr, int], str] = {}
    for node in always_evaluated(Evaluate(item.value) for item in assigned):
        if is_element(node, arrays) and node not in found:
            made = _lookup(node, loop.variable, declared, arrays, len(found), tables)
            if made is not None:
                found[node] = made
    return [each for each in found.values() if not _reads_any(each.place, found)]


def _reads_any(place: CExpr, found: Mapping[CExpr, _Lookup]) -> bool:
    return any(isinstance(part, Subscript) and part in found for part in expressions([Evaluate(place)]))


def _lookup(
    node: Subscript,
    variable: str,
    declared: set[str],
    arrays: Mapping[str, ScalarType],
    number: int,
    tables: dict[tuple[CExpr, int], str],
) -> _Lookup | None:
    """A byte whose index is a computed value that differs between points, plus what is the same.

    tables: names by the first entry and the number of entries, to which that of a new one is added.
    """
    terms = list(index_terms(node.index))
    computed = [term for sign, term in terms if sign > 0 and isinstance(term, Cast) and term.within]
    if len(computed) != 1:
        return None
    (value,) = computed
    assert value.within is not None, "only those are listed"
    occurrences = sum(each == value for each in expressions([Evaluate(node.index)]))
    if occurrences > 1 or names_in([Evaluate(value)]).isdisjoint({variable, *declared}):
        return None
    low, high = value.within
    base = substituted(node.index, {value: Literal(str(low))})
    if high - low >= MOST or names_in([Evaluate(base)]) & {variable, *declared}:
        return None
    place, first = plus(value.operand, -low), CUnary("&", replace(node, index=base))
    entries = high - low + 1
    stands = low == 0 and entries <= ENTRIES
    direct = _as_it_stands(value.operand, variable, arrays) if stands else None
    table = tables.setdefault((first, entries), f"{TABLE}{len(tables)}")
    return _Lookup(node, number, table, first, entries, place, direct)


def _as_it_stands(value: CExpr, variable: str, arrays: Mapping[str, ScalarType]) -> CExpr | None:
    """The address of a value that is a byte in memory, those of points side by side.

    Conversions between integers leave the lowest eight bits of one as they are.
    """
    while isinstance(value, Cast):
        value = value.operand
    return CUnary("&", value) if is_element(value, arrays) and read_of(value, variable) is not None else None


def _element(array: str, variable: str) -> CExpr:
    return Subscript(Id(array), CBinary("-", Id(variable), Id(FIRST)))


def _blocks(
    loop: For,
    span: tuple[CExpr, CExpr],
    found: Sequence[_Lookup],
    then: tuple[Stmt, ...],
    arrays: Mapping[str, ScalarType],
) -> Stmt:
    """The tables and a loop over blocks of points, where there are many; else the loop as it was."""
    tables = {each.table: each for each in found}
    made: list[Stmt] = []
    for name, each in tables.items():
        arguments = (CUnary("&", Id(name)), each.first, _number(each.entries))
        kind = "_pm_wide_table" if each.is_wide else "_pm_byte_table"
        made += [Declare(kind, name), Evaluate(CCall(f"{kind}_of", arguments))]
    target = _target(loop, found, arrays)
    if target is not None and found[0].direct is not None:
        here: dict[CExpr, CExpr] = {Id(loop.variable): span[0]}
        ends = (substituted(target, here), substituted(found[0].direct, here))
        made.append(_call(found[0], *ends, _length(span[0])))
    else:
        made.append(_block_loop(loop, span[0], found, then, arrays, target))
    many = CBinary(">=", _length(span[0]), _number(max(each.least for each in found)))
    short = between(loop, span[0], Id(HIGH))
    return Block((Declare("const ptrdiff_t", HIGH, span[1]), If(many, tuple(made), (short,))))


def _target(loop: For, found: Sequence[_Lookup], arrays: Mapping[str, ScalarType]) -> CExpr | None:
    """Where what is looked up goes as it is, of the point of the loop; None where more is computed."""
    assigned = [item for item in loop.body if isinstance(item, Assign)]
    if len(assigned) > 1 or len(found) > 1 or assigned[0].op != "=":
        return None
    value, target = assigned[0].value, assigned[0].target
    while isinstance(value, Cast):
        value = value.operand
    if value != found[0].read or not is_element(target, arrays) or read_of(target, loop.variable) is None:
        return None
    return CUnary("&", target)


def _block_loop(
    loop: For,
    start: CExpr,
    found: Sequence[_Lookup],
    then: tuple[Stmt, ...],
    arrays: Mapping[str, ScalarType],
    target: CExpr | None,
) -> Stmt:
    """Places that are computed, what is there, and then what is made of that.

    target: where what is there goes as it is.
    """
    first, point = Id(FIRST), Id(loop.variable)
    here: dict[CExpr, CExpr] = {point: first}
    computed = [each for each in found if each.direct is None]
    room = [Declare(each.place_type, f"{each.places}[{TOGETHER}]") for each in computed]
    if target is None:
        room += [Declare(_type(each, arrays), f"{each.found}[{TOGETHER}]") for each in found]
    end = CCall(MIN_I64.function, (CBinary("+", first, _number(TOGETHER)), Id(HIGH)))
    count = CBinary("-", Id(END), first)
    calls: list[Stmt] = []
    for each in found:
        to = Id(each.found) if target is None else substituted(target, here)
        places = Id(each.places) if each.direct is None else substituted(each.direct, here)
        calls.append(_call(each, to, places, count))
    rest = replace(between(loop, first, Id(END)), body=then)
    before: list[Stmt] = [item for item in loop.body if isinstance(item, Declare)]
    before += [
        Assign(_element(each.places, loop.variable), "=", Cast(each.place_type, each.place))
        for each in computed
    ]
    vectors = [replace(rest, body=tuple(before))] if computed else []
    last = [rest] if target is None else []
    body = (*room, Declare("const ptrdiff_t", END, end), *vectors, *calls, *last)
    return For(FIRST, start, CBinary("<", first, Id(HIGH)), _number(TOGETHER), body)


def _length(start: CExpr) -> CExpr:
    """How many points there are from one on."""
    return Id(HIGH) if start == Literal("0") else CBinary("-", Id(HIGH), start)


def _call(lookup: _Lookup, found: CExpr, places: CExpr, count: CExpr) -> Stmt:
    arguments = (found, places, count, CUnary("&", Id(lookup.table)), _number(lookup.entries))
    return Evaluate(CCall("_pm_look_up_wide" if lookup.is_wide else "_pm_look_up", arguments))


def _type(lookup: _Lookup, arrays: Mapping[str, ScalarType]) -> str:
    assert isinstance(lookup.read.array, Id), "an element is one of a named array"
    return arrays[lookup.read.array.name].c


def _number(value: int) -> Literal:
    return Literal(str(value))
