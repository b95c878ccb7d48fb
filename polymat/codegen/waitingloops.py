"""The loops of slices that wait for blocks of steps.

Each block takes its steps over the slices in front one by one; then threads take some of the slices behind
at a time through all these steps.
"""

from __future__ import annotations

from collections.abc import Iterator

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Cast,
    CBinary,
    Declare,
    For,
    Id,
    If,
    Literal,
    Stmt,
    plus,
)
from polymat.codegen.c.needs import FLOORDIV_I64, MAX_I64, MIN_I64
from polymat.codegen.nestshares import TEAM, WORK
from polymat.codegen.sectionloops import FROM, UPTO, SectionLoops, call, less
from polymat.dataclass import dataclass
from polymat.graph.waited import WaitingSlices

LOW, HIGH, SLICE = "_pm_low", "_pm_high", "_pm_slice"  # the slices, and the bytes of one
WIDTH = "_pm_width"  # slices that are taken at a time
AFTER = "_pm_after"  # the first slice behind a block
PIECES, PIECE, BEGIN = "_pm_pieces", "_pm_piece", "_pm_begin"
ONE, NONE = Literal("1"), Literal("0")


@dataclass(frozen=True, eq=False)
class WaitingLoops(SectionLoops):
    """Writes the loops of a section whose slices wait."""

    waiting: WaitingSlices

    def statements(self) -> tuple[Stmt, ...]:
        """Take the steps in blocks where there are several of them, and more slices than a cache holds."""
        self.needs.update({FLOORDIV_I64, MAX_I64, MIN_I64})
        count = less(plus(Id(self.last), 1), Id(self.first))
        several = CBinary(">=", count, Literal(str(2 * self.waiting.steps)))
        all_slices = CBinary("*", Id(SLICE), Cast("double", less(Id(HIGH), Id(LOW))))
        large = CBinary(">", all_slices, Literal(f"{float(self.waiting.least)!r}"))
        done = Assign(Id(self.first), "=", plus(Id(self.last), 1))
        taken = If(CBinary("&&", several, large), (self._width(), self._blocks(), done))
        return (Block((*self._slices(), taken)),)

    def _slices(self) -> Iterator[Declare]:
        low, high = self.ends(self.waiting.span)
        yield Declare("const ptrdiff_t", LOW, low)
        yield Declare("const ptrdiff_t", HIGH, high)
        total = self.bytes_of(self.waiting.arrays)
        yield Declare("const double", SLICE, call("__builtin_fmax", total, Literal("1.0")))

    def _width(self) -> Declare:
        """How many slices are taken at a time: as many as there is room for, in loops of a fixed length."""
        wide = Literal(str(self.waiting.slices.wide))
        held = Cast("ptrdiff_t", CBinary("/", Literal(f"{float(self.waiting.room)!r}"), Id(SLICE)))
        several = CBinary("*", CBinary("/", held, wide), wide)
        return Declare("const ptrdiff_t", WIDTH, call(MAX_I64.function, several, wide))

    def _blocks(self) -> For:
        """All blocks; the slices behind one begin at a multiple of its steps, where it is a whole one."""
        front, steps = self.waiting.slices.front, Literal(str(self.waiting.steps))
        whole = CBinary(
            "*", call(FLOORDIV_I64.function, plus(Id(FROM), front + self.waiting.steps), steps), steps
        )
        upto = call(MIN_I64.function, plus(whole, -front - 1), Id(self.last))
        after = call(MAX_I64.function, Id(LOW), plus(Id(UPTO), 1 + front))
        pieces = CBinary("/", plus(CBinary("+", less(Id(HIGH), Id(AFTER)), Id(WIDTH)), -1), Id(WIDTH))
        body = (
            Declare("const ptrdiff_t", UPTO, upto),
            Declare("const ptrdiff_t", AFTER, after),
            self.steps(Id(LOW), Id(AFTER), ONE),
            Declare("const ptrdiff_t", PIECES, pieces),
            *self._team(),
            self._behind(),
        )
        inside = CBinary("<=", Id(FROM), Id(self.last))
        return For(FROM, Id(self.first), inside, plus(less(upto, Id(FROM)), 1), body)

    def _team(self) -> Iterator[Stmt]:
        """The threads that share the slices behind a block."""
        count = Cast("double", plus(less(Id(UPTO), Id(FROM)), 1))
        crew = call(MIN_I64.function, Id(PIECES), Id("_pm_threads"))
        yield from self.work(Id(FROM), count)
        some = Cast("int", call(MAX_I64.function, crew, ONE))
        yield Declare("const int", TEAM, self.team(Id(WORK), some))

    def _behind(self) -> For:
        begin = CBinary("+", Id(AFTER), CBinary("*", Id(PIECE), Id(WIDTH)))
        end = call(MIN_I64.function, CBinary("+", Id(BEGIN), Id(WIDTH)), Id(HIGH))
        body = (Declare("const ptrdiff_t", BEGIN, begin), self.steps(Id(BEGIN), end, NONE))
        shared = f"omp parallel for num_threads({TEAM}) if({TEAM} > 1) schedule(dynamic)"
        return For(PIECE, NONE, CBinary("<", Id(PIECE), Id(PIECES)), ONE, body, (shared,))
