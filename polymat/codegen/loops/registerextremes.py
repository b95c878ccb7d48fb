"""Rows side by side whose elements are minima or maxima, in registers while they are compared.

A product of (min, +), shortest paths say, compares each element of some rows with a term for every k.  In
memory each comparison loads and stores the element; here a block of rows and of vectors of columns stays in
registers for some k, so that what rows share is loaded once for all of them, and nothing is stored until the
end.  For all k the rows of terms would be as many streams, of which processors read ahead a few: a product of
700 cubed took seven times as long (Zen 3).  What whole blocks leave of the columns goes in single vectors,
the last of which ends where the row does: some of its elements are compared twice, which changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from polymat.codegen.c.countingloops import BEHIND, HIGH, LOW, between, counted_range, known_ends
from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
    CCall,
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
    plus,
)
from polymat.codegen.c.needs import MIN_I64
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import RowTypes, read_of
from polymat.codegen.loops.extremes import KINDS, LAST
from polymat.codegen.loops.innermost import straight_range, with_changed
from polymat.codegen.loops.lanesums import LANES
from polymat.codegen.loops.rowvectors import RowVectors
from polymat.dataclass import dataclass

ROWS_LEAST = 2  # side by side: of one row nothing is shared, and comparing several terms is as quick
IN_REGISTERS = 8  # vectors that are compared: half of the registers of the smaller machines
STREAMS = 16  # rows of terms for which a block of columns stays in registers
PART, END = "_pm_part_first", "_pm_part_end"  # of the terms


def with_register_extremes(
    statements: Sequence[Stmt], types: RowTypes, arrays: Collection[str]
) -> tuple[Stmt, ...] | None:
    """The statements with minima and maxima of rows side by side in registers; None where there are none.

    arrays: those that have elements of that type.

    before:  for k: for j: c[j] = min(c[j], a[k] + b[k, j]), d[j] = min(d[j], e[k] + b[k, j])
    after:   for k by 16: for j by 8: v0, v1 = c[j ...], w0, w1 = d[j ...];
             for 16 k: v0 = min(v0, a[k] + b[k, j ...]), ...;  c[j ...] = v0, v1, d[j ...] = w0, w1
    """
    found = False

    def rewritten(statement: Stmt) -> Stmt | None:
        nonlocal found
        rows = _Rows.of(statement, types, arrays)
        found = found or rows is not None
        return None if rows is None else rows.block()

    made = with_changed(statements, rewritten)
    return made if found else None


@dataclass(frozen=True, slots=True)
class _Rows:
    """Loops of terms around one along rows, in whose iterations an element of each row is compared.

    around: the loops of terms, outermost first.  inside: how many of the last of them run while elements are
    in registers, the first of these in parts where each of its terms is in a row of its own.  kind: "min" or
    "max".  terms: the vectors that elements are compared with.  same: what these are computed with that is
    the same for all columns, by name.
    """

    types: RowTypes
    around: tuple[For, ...]
    inside: int
    along: For
    span: tuple[CExpr, CExpr]
    kind: str
    targets: tuple[Subscript, ...]
    terms: tuple[CExpr, ...]
    same: tuple[tuple[str, CExpr], ...]

    @staticmethod
    def of(statement: Stmt, types: RowTypes, arrays: Collection[str]) -> _Rows | None:
        """Those of a statement; None where it does anything else."""
        around: list[For] = []
        while isinstance(statement, For) and len(statement.body) == 1 and isinstance(statement.body[0], For):
            if counted_range(statement) is None:
                return None
            around.append(statement)
            (statement,) = statement.body
        if not around or not isinstance(statement, For) or (span := straight_range(statement)) is None:
            return None
        compared = [_compared(each, types) for each in statement.body]
        found = [each for each in compared if each is not None]
        kinds = {kind for kind, _, _ in found}
        if len(found) < max(ROWS_LEAST, len(compared)) or len(kinds) != 1:
            return None
        targets, values = [target for _, target, _ in found], [value for _, _, value in found]
        if not _are_apart(targets, values, statement.variable):
            return None
        if {loop.variable for loop in around} & names_in([*span, *targets]):
            return None
        vectors = RowVectors(types, statement.variable, arrays, frozenset())
        terms = [term for value in values if (term := vectors.of(value)) is not None]
        if len(terms) < len(values):
            return None
        inside = _inside(around, [e for e in expressions(values) if isinstance(e, Subscript)])
        rows = (tuple(targets), tuple(terms), vectors.same)
        return _Rows(types, tuple(around), inside, statement, span, kinds.pop(), *rows)

    def block(self) -> Block:
        """Blocks of columns, single vectors, and the loops as they were for less than one vector."""
        lanes, low, high, behind = self.types.lanes, Id(LOW), Id(HIGH), Id(BEHIND)
        width = CBinary("-", high, low)
        together = max(1, IN_REGISTERS // len(self.targets))
        strip = Literal(str(together * lanes))
        whole = CBinary("+", low, CBinary("*", CBinary("/", width, strip), strip))
        at, end = self.along.variable, CBinary("-", high, self.types.lanes_text)
        here = Declare("const ptrdiff_t", at, CCall(MIN_I64.function, (Id(LAST), end)))
        columns = (
            For(at, low, CBinary("<", Id(at), behind), strip, tuple(self._vectors(together))),
            For(LAST, behind, CBinary("<", Id(LAST), high), self.types.lanes_text, (here, *self._vectors(1))),
        )
        wide = (Declare("const ptrdiff_t", BEHIND, whole), *self._in_parts(columns))
        narrow = _within(self.around, (between(self.along, low, high),))
        return Block(
            (
                *known_ends(self.span),
                If(CBinary(">=", width, self.types.lanes_text), wide, narrow),
            )
        )

    def _in_parts(self, columns: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The loops over columns within those of terms that are not inside of them."""
        outer, first = self.around[: -self.inside], self.around[-self.inside]
        span, step = counted_range(first), Literal(str(STREAMS))
        assert span is not None, "as `of` asks"
        end = CCall(MIN_I64.function, (CBinary("+", Id(PART), step), span[1]))
        body = (Declare("const ptrdiff_t", END, end), *columns)
        return _within(outer, (For(PART, span[0], CBinary("<", Id(PART), span[1]), step, body),))

    def _vectors(self, together: int) -> Iterator[Stmt]:
        """So many vectors of each row, compared with all terms."""
        types, both = self.types, f"_pm_row_{self.kind}_{self.types.suffix}"
        elements = [self._moved(target, k) for target in self.targets for k in range(together)]
        terms = [self._moved(term, k) for term in self.terms for k in range(together)]
        names = [Id(f"{LANES}_{number}") for number in range(len(elements))]
        for name, element in zip(names, elements, strict=True):
            yield Declare(types.vector, name.name, types.load(element))
        same = (Declare(f"const {types.ctype}", name, value) for name, value in self.same)
        compared = (
            Assign(name, "=", CCall(both, (name, term))) for name, term in zip(names, terms, strict=True)
        )
        first, *others = self.around[-self.inside :]
        yield from _within((between(first, Id(PART), Id(END)), *others), (*same, *compared))
        for name, element in zip(names, elements, strict=True):
            yield Evaluate(types.store(element, name))

    def _moved(self, value: CExpr, vector: int) -> CExpr:
        """A value so many vectors further along the rows."""
        here = Id(self.along.variable)
        return substituted(value, {here: plus(here, vector * self.types.lanes)}) if vector else value


def _within(loops: Sequence[For], body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Statements within loops, the first of which is the outermost."""
    for loop in reversed(loops):
        body = (replace(loop, body=body),)
    return body


def _inside(around: Sequence[For], read: Sequence[Subscript]) -> int:
    """How many of the last loops run within those over columns: up to one that goes from row to row."""
    for count, loop in enumerate(reversed(around), 1):
        moved = (each for each in read if loop.variable in names_in([each.index]))
        if any(read_of(each, loop.variable) is None for each in moved):
            return count
    return len(around)


def _compared(statement: Stmt, types: RowTypes) -> tuple[str, Subscript, CExpr] | None:
    """How an element is compared, which one, and with what; None of any other statement."""
    match statement:
        case Assign(Subscript() as target, "=", CCall(function, (same, value))) if same == target:
            kinds = (kind for kind in KINDS if function == f"_pm_{kind}_{types.suffix}")
            kind = next(kinds, None)
            return None if kind is None else (kind, target, value)
        case _:
            return None


def _are_apart(targets: Sequence[Subscript], values: Sequence[CExpr], variable: str) -> bool:
    """Whether elements lie along rows, each in one of its own, of arrays that no value is read from."""
    reads = [read_of(target, variable) for target in targets]
    rows = {read.row for read in reads if read is not None}
    written = names_in([target.array for target in targets])
    apart = len(rows) == len(targets) and None not in reads
    return apart and written.isdisjoint(names_in(values))
