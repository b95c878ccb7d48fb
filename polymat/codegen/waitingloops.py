"""The loops of slices that wait for blocks of steps.

Each block takes its steps over the slices in front one by one; then threads take some of the slices behind
at a time through all these steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, reduce

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Cast,
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
    plus,
)
from polymat.codegen.c.needs import FLOORDIV_I64, MAX_I64, MIN_I64, Need
from polymat.codegen.nestshares import TEAM, WORK
from polymat.codegen.steprows import ROWS
from polymat.dataclass import dataclass
from polymat.graph.waited import WaitingSlices
from polymat.lang.affine import Affine

LOW, HIGH, SLICE = "_pm_low", "_pm_high", "_pm_slice"  # the slices, and the bytes of one
WIDTH = "_pm_width"  # slices that are taken at a time
FROM, UPTO, AFTER = "_pm_from", "_pm_upto", "_pm_after"  # the steps of a block, and the first slice behind
PIECES, PIECE, BEGIN = "_pm_pieces", "_pm_piece", "_pm_begin"
ONE, NONE = Literal("1"), Literal("0")


@dataclass(frozen=True, eq=False)
class WaitingLoops:
    """Writes the loops of one section.

    step: the C name of the step, which `first` holds when the loops begin, and behind them the first step
    that is not done; last: of the last step.  given, here: what declares arguments and sizes of a step.
    size: a form over the sizes in C.  team: the threads that some work is worth, of so many.
    """

    waiting: WaitingSlices
    number: int
    step: str
    first: str
    last: str
    given: Stmt
    here: Stmt
    size: Callable[[Affine], CExpr]
    needs: set[Need]
    team: Callable[[CExpr, CExpr], CExpr]

    def statements(self) -> tuple[Stmt, ...]:
        """Take the steps in blocks where there are several of them, and more slices than a cache holds."""
        self.needs.update({FLOORDIV_I64, MAX_I64, MIN_I64})
        count = _less(plus(Id(self.last), 1), Id(self.first))
        several = CBinary(">=", count, Literal(str(2 * self.waiting.steps)))
        all_slices = CBinary("*", Id(SLICE), Cast("double", _less(Id(HIGH), Id(LOW))))
        large = CBinary(">", all_slices, Literal(f"{float(self.waiting.least)!r}"))
        done = Assign(Id(self.first), "=", plus(Id(self.last), 1))
        taken = If(CBinary("&&", several, large), (self._width(), self._blocks(), done))
        return (Block((*self._slices(), taken)),)

    def _slices(self) -> Iterator[Declare]:
        lows, highs = self.waiting.span
        yield Declare("const ptrdiff_t", LOW, reduce(partial(_call, MIN_I64.function), map(self.size, lows)))
        ends = (self.size(form + 1) for form in highs)
        yield Declare("const ptrdiff_t", HIGH, reduce(partial(_call, MAX_I64.function), ends))
        total: CExpr = Literal("0.0")
        for each, extents in self.waiting.arrays:
            one: CExpr = Literal(f"{float(each)!r}")
            for extent in extents:
                one = CBinary("*", one, _call("_pm_extent", self.size(extent)))
            total = CBinary("+", total, one)
        yield Declare("const double", SLICE, _call("__builtin_fmax", total, Literal("1.0")))

    def _width(self) -> Declare:
        """How many slices are taken at a time: as many as there is room for, in loops of a fixed length."""
        wide = Literal(str(self.waiting.slices.wide))
        held = Cast("ptrdiff_t", CBinary("/", Literal(f"{float(self.waiting.room)!r}"), Id(SLICE)))
        several = CBinary("*", CBinary("/", held, wide), wide)
        return Declare("const ptrdiff_t", WIDTH, _call(MAX_I64.function, several, wide))

    def _blocks(self) -> For:
        """All blocks; the slices behind one begin at a multiple of its steps, where it is a whole one."""
        front, steps = self.waiting.slices.front, Literal(str(self.waiting.steps))
        whole = CBinary(
            "*", _call(FLOORDIV_I64.function, plus(Id(FROM), front + self.waiting.steps), steps), steps
        )
        upto = _call(MIN_I64.function, plus(whole, -front - 1), Id(self.last))
        after = _call(MAX_I64.function, Id(LOW), plus(Id(UPTO), 1 + front))
        pieces = CBinary("/", plus(CBinary("+", _less(Id(HIGH), Id(AFTER)), Id(WIDTH)), -1), Id(WIDTH))
        body = (
            Declare("const ptrdiff_t", UPTO, upto),
            Declare("const ptrdiff_t", AFTER, after),
            self._steps(Id(LOW), Id(AFTER), ONE),
            Declare("const ptrdiff_t", PIECES, pieces),
            *self._team(),
            self._behind(),
        )
        inside = CBinary("<=", Id(FROM), Id(self.last))
        return For(FROM, Id(self.first), inside, plus(_less(upto, Id(FROM)), 1), body)

    def _steps(self, begin: CExpr, end: CExpr, whole: CExpr) -> For:
        """The steps of a block over some slices; whole: with what has none."""
        arguments = (Id("_pm_given"), Id("_pm_here"), Id("_pm_scalars"), begin, end, whole)
        call = Evaluate(CCall(f"{ROWS}_s{self.number}", arguments))
        inside = CBinary("<=", Id(self.step), Id(UPTO))
        return For(self.step, Id(FROM), inside, ONE, (self.given, self.here, call))

    def _team(self) -> Iterator[Stmt]:
        """The threads that share the slices behind a block."""
        step = Declare("const ptrdiff_t", self.step, Id(FROM))
        one = CCall(f"_pm_work_s{self.number}", (Id("_pm_here"),))
        count = Cast("double", plus(_less(Id(UPTO), Id(FROM)), 1))
        crew = _call(MIN_I64.function, Id(PIECES), Id("_pm_threads"))
        yield Declare("double", WORK, Literal("0.0"))
        yield Block((step, self.here, Assign(Id(WORK), "=", CBinary("*", count, one))))
        some = Cast("int", _call(MAX_I64.function, crew, ONE))
        yield Declare("const int", TEAM, self.team(Id(WORK), some))

    def _behind(self) -> For:
        begin = CBinary("+", Id(AFTER), CBinary("*", Id(PIECE), Id(WIDTH)))
        end = _call(MIN_I64.function, CBinary("+", Id(BEGIN), Id(WIDTH)), Id(HIGH))
        body = (Declare("const ptrdiff_t", BEGIN, begin), self._steps(Id(BEGIN), end, NONE))
        shared = f"omp parallel for num_threads({TEAM}) if({TEAM} > 1) schedule(dynamic)"
        return For(PIECE, NONE, CBinary("<", Id(PIECE), Id(PIECES)), ONE, body, (shared,))


def _less(one: CExpr, other: CExpr) -> CExpr:
    return CBinary("-", one, other)


def _call(function: str, *arguments: CExpr) -> CExpr:
    return CCall(function, arguments)
