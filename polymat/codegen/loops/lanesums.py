"""Sums of several rows that run together, in explicit vectors.

C compilers add up the lanes of each sum by itself, and what whole vectors leave of a row one by one.  Here
the lanes of four sums are added up together, and what is left is one more vector: the last of the row, with 0
in place of what was added already.  Measured (Zen 5, one thread): a product of a 90 x 90 matrix and a vector
took 0.71 of the time in double, 0.34 in float.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial, reduce

from polymat.codegen.c.countingloops import BEHIND, HIGH, LOW, where_long
from polymat.codegen.c.ctree import (
    Assign,
    Braces,
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
)
from polymat.codegen.c.lanes import row_sums
from polymat.codegen.c.rows import RowTypes, read_of
from polymat.codegen.loops.innermost import straight_range, with_innermost
from polymat.codegen.loops.requests import Requests
from polymat.dataclass import dataclass

LANES, SUMS = "_pm_lanes", "_pm_sums"  # with a number: a sum in a vector; an array of four sums
TOGETHER = 4  # sums whose lanes are added up together
LEAST_LANES = 4  # of a vector that is worth it


def with_lane_sums(
    statements: Sequence[Stmt], types: RowTypes, arrays: Collection[str], requests: Requests | None = None
) -> tuple[Stmt, ...] | None:
    """The statements with their innermost loops around several sums in vectors; None where there are none.

    requests: what they ask for.  arrays: those that have elements of that type.  Only products of elements
    along a row are rewritten: in lanes that are no part of it, 0 times 0 is added, where another factor might
    make that NaN.

    before:  for k: s += x[k] * y[k], t += z[k] * y[k], ...
    after:   for k by 8: v += x[k ...] * y[k ...], w += z[k ...] * y[k ...], ...;  the last vector of the row;
             s += the lanes of v, t += those of w, ...
    """
    found = False

    def rewritten(loop: For) -> Stmt | None:
        nonlocal found
        sums = _Sums.of(loop, types, arrays, requests)
        found = found or sums is not None
        return sums.block(loop) if sums is not None else None

    made = with_innermost(statements, rewritten, sums=True)
    return made if found else None


def lane_sums_text(types: RowTypes) -> str:
    """The functions that sums of several rows in vectors need."""
    memory = f"_pm_row_memory_{types.suffix}"
    sums = row_sums(f"_pm_row_sums_of_{types.suffix}", types.vector, memory, types.ctype, types.lanes)
    return f"{types.kernel('last')}\n{sums}"


@dataclass(frozen=True, slots=True)
class _Sums:
    """The variables of a loop that adds up, the factors of what is added to each, and what is asked for."""

    types: RowTypes
    names: tuple[str, ...]
    factors: tuple[tuple[CExpr, ...], ...]
    requests: Requests | None

    @staticmethod
    def of(
        loop: For, types: RowTypes, arrays: Collection[str], requests: Requests | None = None
    ) -> _Sums | None:
        """The sums of a loop; None where they are not a multiple of those that are added up together."""
        sums = sums_of(loop, types, arrays)
        if sums is None or len(sums) % TOGETHER:
            return None
        return _Sums(types, tuple(name for name, _ in sums), tuple(factors for _, factors in sums), requests)

    def block(self, loop: For) -> Stmt | None:
        """Whole vectors, the last one, and the sums; the loop as it was for rows of less than one vector."""
        if (span := straight_range(loop)) is None:
            return None
        vectors = (*self._vectors(loop.variable), *self._totals())
        return where_long(loop, span, self.types.lanes_text, vectors)

    def _vectors(self, variable: str) -> Iterator[Stmt]:
        length = CBinary("-", Id(HIGH), Id(LOW))
        lanes, high, behind = self.types.lanes_text, Id(HIGH), Id(BEHIND)
        for k in range(len(self.names)):
            yield Declare(self.types.vector, f"{LANES}_{k}", Braces((Literal("0"),)))
        yield Declare("const ptrdiff_t", BEHIND, CBinary("-", high, CBinary("%", length, lanes)))
        whole = self._added(self.types.load)
        if self.requests is None:
            yield For(variable, Id(LOW), CBinary("<", Id(variable), behind), lanes, whole)
        else:
            yield from self._asking(self.requests, variable, whole)
        left = CBinary("-", high, behind)
        last = self._added(lambda element: self.types.last(element, left))
        begin = Declare("const ptrdiff_t", variable, CBinary("-", high, lanes))
        yield If(CBinary("<", behind, high), (begin, *last))

    def _asking(self, requests: Requests, variable: str, whole: tuple[Stmt, ...]) -> Iterator[Stmt]:
        """The loop in two parts: near its end the next block's rows are asked for, from their begin on."""
        ahead = requests.bytes // self.types.size * self.types.lanes
        elements = dict.fromkeys(factor for factors in self.factors for factor in factors)

        def vectors(start: CExpr, end: CExpr, asked: tuple[Stmt, ...]) -> For:
            below = CBinary("<", Id(variable), end)
            return For(variable, start, below, self.types.lanes_text, (*asked, *whole))

        return requests.split(elements, variable, Id(LOW), Id(BEHIND), ahead).loops(vectors)

    def _added(self, vector: Callable[[CExpr], CExpr]) -> tuple[Stmt, ...]:
        return tuple(added(f"{LANES}_{k}", product, vector) for k, product in enumerate(self.factors))

    def _totals(self) -> Iterator[Stmt]:
        count = len(self.names)
        yield Declare(self.types.ctype, f"{SUMS}[{count}]")
        for first in range(0, count, TOGETHER):
            vectors = tuple(Id(f"{LANES}_{first + k}") for k in range(TOGETHER))
            to = CBinary("+", Id(SUMS), Literal(str(first)))
            yield Evaluate(CCall(f"_pm_row_sums_of_{self.types.suffix}", (*vectors, to)))
        for k, name in enumerate(self.names):
            yield Assign(Id(name), "+=", Subscript(Id(SUMS), Literal(str(k))))


def sums_of(
    loop: For,
    types: RowTypes,
    arrays: Collection[str],
    inner: Callable[[CExpr], CExpr] = lambda factor: factor,
    signs: Sequence[int] = (1,),
) -> tuple[tuple[str, tuple[CExpr, ...]], ...] | None:
    """The variables that a loop adds up, each with the factors of its terms, all of them elements of rows.

    None where a statement is no sum, or a factor something else.  inner: what a factor is made of.
    signs: 1 where rows may be read forwards, -1 where backwards.
    """
    found: list[tuple[str, tuple[CExpr, ...]]] = []
    for statement in loop.body:
        match statement:
            case Assign(Id(name), "+=", value):
                factors = tuple(_factors(value))
            case _:
                return None
        for element in map(inner, factors):
            reads = (read_of(element, loop.variable, sign) for sign in signs)
            if not any(read is not None and read.array in arrays for read in reads):
                return None
        found.append((name, factors))
    return tuple(found) if len({name for name, _ in found}) == len(found) > 0 else None


def added(name: str, factors: Sequence[CExpr], vector: Callable[[CExpr], CExpr]) -> Stmt:
    """Add to a vector the product of those that begin at some elements."""
    return Assign(Id(name), "+=", reduce(partial(CBinary, "*"), map(vector, factors)))


def _factors(value: CExpr) -> Iterator[CExpr]:
    match value:
        case CBinary("*", left, right):
            yield from _factors(left)
            yield from _factors(right)
        case _:
            yield value
