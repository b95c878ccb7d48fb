"""A single sum along a row, in explicit vectors.

C compilers keep a sum in one vector, whose additions wait for each other, add up its lanes by narrower and
narrower loops and what whole vectors leave of a row one by one.  Here several vectors are added up side by
side, what is left of the row is one more vector with 0 beyond its end, and the lanes are added up by halves.
Measured (Zen 5, one thread, from C): dots of 100, 500 and 2000 floats took 0.7, 0.7 and 0.8 of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Braces,
    CBinary,
    CCall,
    CExpr,
    Declare,
    For,
    Id,
    If,
    Literal,
    Stmt,
)
from polymat.codegen.c.kernels import statements
from polymat.codegen.c.lanes import SHUFFLES
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import RowTypes
from polymat.codegen.c.vectortypes import Parts
from polymat.codegen.loops.accumulators import ROW_BYTES, VECTORISED
from polymat.codegen.loops.innermost import straight_range, with_innermost
from polymat.codegen.loops.lanesums import BEHIND, HIGH, LANES, LOW, added, sums_of
from polymat.dataclass import dataclass

LEFT = "_pm_left"  # elements behind the turns of the loop,
REST = "_pm_rest"  # and behind the whole vectors of these


def with_single_sums(
    statements: Sequence[Stmt], types: RowTypes, arrays: Collection[str]
) -> tuple[Stmt, ...] | None:
    """The statements with their innermost loops around one sum in vectors; None where there are none.

    arrays: those that have elements of that type.  Only products of elements along a row, or of magnitudes of
    them, are rewritten: in lanes beyond its end 0 times 0 is added, where another factor might make that NaN.

    before:  for k: s += x[k] * y[k]
    after:   for k by 32: v0 += x[k ...] * y[k ...], .., v3 += x[k + 24 ...] * y[k + 24 ...];  up to three
             vectors and a part of one that are left;  s += the lanes of v0 + .. + v3
    """
    found = False

    def rewritten(loop: For) -> Stmt | None:
        nonlocal found
        sums, span = sums_of(loop, types, arrays, _element), straight_range(loop)
        if sums is None or len(sums) != 1 or span is None or _is_short(span, types.lanes):
            return None
        found = True
        ((name, factors),) = sums
        return _Single(types, name, factors, loop.variable).block(span)

    made = with_innermost(statements, rewritten, sums=True)
    return made if found else None


def single_sums_text(types: RowTypes) -> str:
    """A piece of the prelude, put after the vectors of the same type."""
    steps, step = [], types.lanes // 2
    while step > 1:
        other = ", ".join(str(lane ^ step) for lane in range(types.lanes))
        steps.append(f"all += __builtin_shufflevector(all, all, {other})")
        step //= 2
    positive = "INT32_MAX" if types.suffix == "f32" else "INT64_MAX"
    total = types.kernel("total", HALVES=statements(steps), POSITIVE=positive)
    return f"{_parts(types).text()}\n{SHUFFLES}\n{total}"


def _parts(types: RowTypes) -> Parts:
    return Parts(types.suffix, types.size, types.vector, "_pm_part")


@dataclass(frozen=True, slots=True)
class _Single:
    """A sum, the factors of what is added to it, and the variable of its loop."""

    types: RowTypes
    name: str
    factors: tuple[CExpr, ...]
    variable: str

    def block(self, span: tuple[CExpr, CExpr]) -> Stmt:
        """The vectors side by side, those that are left, and the sum of their lanes."""
        count = ROW_BYTES // self.types.size
        low, high, behind, left = Id(LOW), Id(HIGH), Id(BEHIND), Id(LEFT)
        turn = Literal(str(count * self.types.lanes))
        turns = CBinary("*", CBinary("/", CBinary("-", high, low), turn), turn)
        sums = [f"{LANES}_{k}" for k in range(count)]
        total = CCall(f"_pm_row_total_{self.types.suffix}", (_in_pairs([Id(name) for name in sums]),))
        whole = tuple(self._added(k) for k in range(count))
        return Block(
            (
                Declare("const ptrdiff_t", LOW, span[0]),
                Declare("const ptrdiff_t", HIGH, span[1]),
                *(Declare(self.types.vector, name, Braces((Literal("0"),))) for name in sums),
                Declare("const ptrdiff_t", BEHIND, CBinary("+", low, turns)),
                For(self.variable, low, CBinary("<", Id(self.variable), behind), turn, whole),
                Declare("const ptrdiff_t", LEFT, CBinary("-", high, behind)),
                If(CBinary(">", left, Literal("0")), tuple(self._left(count))),
                Assign(Id(self.name), "+=", total),
            )
        )

    def _left(self, count: int) -> Iterator[Stmt]:
        """Whole vectors, and a part of one, behind the turns of the loop."""
        left, rest = Id(LEFT), Id(REST)
        yield Declare("const ptrdiff_t", self.variable, Id(BEHIND))
        for k in range(count - 1):
            is_whole = CBinary(">=", left, Literal(str((k + 1) * self.types.lanes)))
            yield If(is_whole, (self._added(k),))
        yield Declare("const ptrdiff_t", REST, CBinary("%", left, self.types.lanes_text))
        factors = self._factors(CBinary("-", left, rest))
        part = partial(self._vector, lambda element: self.types.first(element, rest))
        last = added(f"{LANES}_{count - 1}", factors, part)
        yield If(CBinary(">", rest, Literal("0")), (last,))

    def _added(self, k: int) -> Stmt:
        """Add the k-th vector from here on to the k-th sum."""
        factors = self._factors(Literal(str(k * self.types.lanes))) if k else self.factors
        return added(f"{LANES}_{k}", factors, partial(self._vector, self.types.load))

    def _vector(self, load: Callable[[CExpr], CExpr], factor: CExpr) -> CExpr:
        """The vector that begins at a factor."""
        vector = load(_element(factor))
        return CCall(f"_pm_row_abs_{self.types.suffix}", (vector,)) if isinstance(factor, CCall) else vector

    def _factors(self, offset: CExpr) -> Sequence[CExpr]:
        """The factors that many elements further on."""
        point = CBinary("+", Id(self.variable), offset)
        return [substituted(factor, {Id(self.variable): point}) for factor in self.factors]


def _element(factor: CExpr) -> CExpr:
    """What a factor is made of: an element, or what it is the magnitude of."""
    match factor:
        case CCall(function, (element,)) if function in VECTORISED:
            return element
        case _:
            return factor


def _is_short(span: tuple[CExpr, CExpr], lanes: int) -> bool:
    """Whether a row is known to be shorter than a vector."""
    match span:
        case Literal(low), Literal(high):
            return int(high) - int(low) < lanes
        case _:
            return False


def _in_pairs(terms: Sequence[CExpr]) -> CExpr:
    """Their sum, that of the first half and that of the second one added, so that few wait for each other."""
    half = len(terms) // 2
    return CBinary("+", _in_pairs(terms[:half]), _in_pairs(terms[half:])) if half else terms[0]
