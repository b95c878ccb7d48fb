"""A single sum along a row, in explicit vectors.

C compilers keep a sum in one vector, whose additions wait for each other, add up its lanes by narrower and
narrower loops and what whole vectors leave of a row one by one.  Here several vectors are added up side by
side, what is left of the row is one more vector with 0 beyond its end, and the lanes are added up by halves.
Measured (Zen 5, one thread, from C): dots of 100, 500 and 2000 floats took 0.7, 0.7 and 0.8 of the time.

A step that sums up what steps before it made, one element each, adds the newest terms last and one by one:
vectors of elements that were just stored wait until these are in the cache, and with them all other terms.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial, reduce

from polymat.codegen.c.countingloops import BEHIND, HIGH, LOW, known_ends
from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Braces,
    CBinary,
    CCall,
    CExpr,
    CUnary,
    Declare,
    For,
    Id,
    If,
    Literal,
    Stmt,
    Ternary,
    plus,
)
from polymat.codegen.c.kernels import statements
from polymat.codegen.c.lanes import SHUFFLES
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import RowTypes, read_of
from polymat.codegen.c.shorthand import request
from polymat.codegen.c.vectortypes import Parts
from polymat.codegen.loops.accumulators import ROW_BYTES, VECTORISED
from polymat.codegen.loops.innermost import straight_range, with_innermost
from polymat.codegen.loops.lanesums import LANES, added, sums_of
from polymat.codegen.loops.stepreads import StepReads
from polymat.codegen.memory.storage import LINE_BYTES
from polymat.dataclass import dataclass

LEFT = "_pm_left"  # elements behind the turns of the loop,
REST = "_pm_rest"  # and behind the whole vectors of these
ALL = "_pm_all"  # the end of all terms, where the newest ones are
NEWEST = 2  # terms at the beginning of a row that are added one by one; at its end those of a vector


def with_single_sums(
    statements: Sequence[Stmt], types: RowTypes, arrays: Collection[str], steps: StepReads | None = None
) -> tuple[Stmt, ...] | None:
    """The statements with their innermost loops around one sum in vectors; None where there are none.

    arrays: those that have elements of that type.  steps: what the step reads that the sum is a part of.
    Only products of elements along a row, or of magnitudes of them, are rewritten: in lanes beyond its end 0
    times 0 is added, where another factor might make that NaN.

    before:  for k: s += x[k] * y[k]
    after:   for k by 32: v0 += x[k ...] * y[k ...], .., v3 += x[k + 24 ...] * y[k + 24 ...];  up to three
             vectors and a part of one that are left;  s += the lanes of v0 + .. + v3
    """
    found = False

    def rewritten(loop: For) -> Stmt | None:
        nonlocal found
        sums, span = sums_of(loop, types, arrays, _element, (1, -1)), straight_range(loop)
        if sums is None or len(sums) != 1 or span is None or _is_short(span, types.lanes):
            return None
        found = True
        ((name, factors),) = sums
        return _Single(types, name, factors, loop.variable, steps or StepReads()).block(span)

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


def backwards_text(types: RowTypes) -> str:
    """A piece of the prelude, put after the vectors of the same type."""
    lanes = ", ".join(map(str, reversed(range(types.lanes))))
    turned = f"__builtin_shufflevector(all, all, {lanes})"
    return f"{SHUFFLES}\n{types.kernel('backwards', BACKWARDS=turned)}"


def _parts(types: RowTypes) -> Parts:
    return Parts(types.suffix, types.size, types.vector, "_pm_part")


@dataclass(frozen=True, slots=True)
class _Single:
    """A sum, the factors of what is added to it, and the variable of its loop."""

    types: RowTypes
    name: str
    factors: tuple[CExpr, ...]
    variable: str
    steps: StepReads

    def block(self, span: tuple[CExpr, CExpr]) -> Stmt:
        """The vectors side by side, those that are left, and the sum of their lanes."""
        count = ROW_BYTES // self.types.size
        low, high, behind, left = Id(LOW), Id(HIGH), Id(BEHIND), Id(LEFT)
        turn = Literal(str(count * self.types.lanes))
        turns = CBinary("*", CBinary("/", CBinary("-", high, low), turn), turn)
        sums = [f"{LANES}_{k}" for k in range(count)]
        total = CCall(f"_pm_row_total_{self.types.suffix}", (_in_pairs([Id(name) for name in sums]),))
        whole = (*self._asked(count), *(self._added(k) for k in range(count)))
        declared, newest = self._ends(*span)
        return Block(
            (
                *declared,
                *(Declare(self.types.vector, name, Braces((Literal("0"),))) for name in sums),
                Declare("const ptrdiff_t", BEHIND, CBinary("+", low, turns)),
                For(self.variable, low, CBinary("<", Id(self.variable), behind), turn, whole),
                Declare("const ptrdiff_t", LEFT, CBinary("-", high, behind)),
                If(CBinary(">", left, Literal("0")), tuple(self._left(count))),
                Assign(Id(self.name), "+=", total),
                *self._one_by_one(),
                *newest,
            )
        )

    def _ends(self, first: CExpr, end: CExpr) -> tuple[tuple[Stmt, ...], tuple[Stmt, ...]]:
        """Where the vectors begin and end, and what adds the newest terms behind them, the last one last."""
        low, high = known_ends((first, end))
        if not self.steps.newest:
            return (low, high), ()
        late = self.steps.newest == "high"
        count = self.types.lanes if late else NEWEST
        all_of, known = Id(ALL), Literal(str(count))
        if late:
            declared = (low, Declare("const ptrdiff_t", ALL, end))
            some = CBinary(">=", CBinary("-", all_of, Id(LOW)), known)
            found = Declare("const ptrdiff_t", HIGH, Ternary(some, CBinary("-", all_of, known), all_of))
            points = [plus(Id(HIGH), k) for k in range(count)]
            apart = CBinary("<", Id(HIGH), all_of)
        else:
            declared = (high, Declare("const ptrdiff_t", ALL, first))
            some = CBinary(">=", CBinary("-", Id(HIGH), all_of), known)
            found = Declare("const ptrdiff_t", LOW, Ternary(some, CBinary("+", all_of, known), all_of))
            points = [plus(all_of, k) for k in reversed(range(count))]
            apart = CBinary("<", all_of, Id(LOW))
        return (*declared, found), (If(apart, tuple(map(self._term, points))),)

    def _term(self, point: CExpr) -> Stmt:
        """Add the term of one point."""
        factors = [substituted(factor, {Id(self.variable): point}) for factor in self.factors]
        return Assign(Id(self.name), "+=", reduce(partial(CBinary, "*"), factors))

    def _left(self, count: int) -> Iterator[Stmt]:
        """Whole vectors behind the turns of the loop, and a part of one where rows are read forwards."""
        left, rest = Id(LEFT), Id(REST)
        yield Declare("const ptrdiff_t", self.variable, Id(BEHIND))
        for k in range(count - 1):
            is_whole = CBinary(">=", left, Literal(str((k + 1) * self.types.lanes)))
            yield If(is_whole, (self._added(k),))
        if self._turns:
            return
        yield Declare("const ptrdiff_t", REST, CBinary("%", left, self.types.lanes_text))
        factors = self._factors(CBinary("-", left, rest))
        part = partial(self._vector, lambda element: self.types.first(element, rest))
        last = added(f"{LANES}_{count - 1}", factors, part)
        yield If(CBinary(">", rest, Literal("0")), (last,))

    def _one_by_one(self) -> Iterator[Stmt]:
        """What is left of rows that are read backwards behind whole vectors."""
        if self._turns:
            high, i = Id(HIGH), Id(self.variable)
            first = CBinary("-", high, CBinary("%", Id(LEFT), self.types.lanes_text))
            yield For(self.variable, first, CBinary("<", i, high), Literal("1"), (self._term(i),))

    @property
    def _turns(self) -> bool:
        """Whether a row is read backwards."""
        return any(self._is_turned(factor) for factor in self.factors)

    def _is_turned(self, factor: CExpr) -> bool:
        return read_of(_element(factor), self.variable, -1) is not None

    def _asked(self, count: int) -> Iterator[Stmt]:
        """Ask for what the next step reads at the same place of its row."""
        apart = max(LINE_BYTES // self.types.size, 1)
        for factor in map(_element, self.factors):
            row = self.steps.next_row(factor)
            if row is not None and not self._is_turned(factor):
                for k in range(0, count, apart):
                    point = CBinary("+", Id(self.variable), Literal(str(k * self.types.lanes)))
                    there = substituted(row, {Id(self.variable): point}) if k else row
                    yield request(CUnary("&", there))

    def _added(self, k: int) -> Stmt:
        """Add the k-th vector from here on to the k-th sum."""
        factors = self._factors(Literal(str(k * self.types.lanes))) if k else self.factors
        return added(f"{LANES}_{k}", factors, partial(self._vector, self.types.load))

    def _vector(self, load: Callable[[CExpr], CExpr], factor: CExpr) -> CExpr:
        """The vector that begins at a factor."""
        element = _element(factor)
        if self._is_turned(factor):
            last = CBinary("+", Id(self.variable), Literal(str(self.types.lanes - 1)))
            vector = self.types.backwards(load(substituted(element, {Id(self.variable): last})))
        else:
            vector = load(element)
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
