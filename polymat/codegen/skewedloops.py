"""The loops of steps that follow each other over the rows of their arrays.

Threads have parts of the rows.  Each computes of every step what needs no rows of other parts, less from step
to step; what is left between two parts is computed then, more from step to step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    Ternary,
)
from polymat.codegen.c.needs import MAX_I64, MIN_I64, Need, Piece
from polymat.codegen.steprows import BEFORE, BEYOND, ROWS
from polymat.dataclass import dataclass
from polymat.graph.skewed import Skew, SkewedSteps
from polymat.lang.affine import Affine

LOW, HIGH, STEPS, TEAM, UPTO = "_pm_low", "_pm_high", "_pm_steps", "_pm_team_size", "_pm_upto"
ROW, LINE, AT_ONCE, ROUND = "_pm_row", "_pm_line", "_pm_at_once", "_pm_round"
WORK = "_pm_operations"
CHUNK, FRONT, SIDE, WIDTH, DONE = "_pm_chunk", "_pm_front", "_pm_side", "_pm_width", "_pm_done"
HERE_LOW, HERE_HIGH = "_pm_here_low", "_pm_here_high"  # of the rows of a part


@dataclass(frozen=True, eq=False)
class SkewedLoops:
    """Writes the loops of one section.

    step: the C name of the step, which `first` holds when the loops begin, and behind them the first step
    that is not done; last: of the last step.  given, here: what declares arguments and sizes of a step.
    size: a form over the sizes in C.  team: the threads that some work is worth.
    """

    skewed: SkewedSteps
    number: int
    step: str
    first: str
    last: str
    given: Stmt
    here: Stmt
    size: Callable[[Affine], CExpr]
    needs: set[Need]
    team: Callable[[CExpr], CExpr]

    @property
    def _outer(self) -> Skew:
        return self.skewed.order.along[0]

    @property
    def _inner(self) -> Skew | None:
        return self.skewed.order.along[1] if len(self.skewed.order.along) > 1 else None

    def statements(self) -> tuple[Stmt, ...]:
        """Take the steps, as many as follow each other at a time, where the arrays are large enough."""
        self.needs.update({MAX_I64, MIN_I64, Piece.PLACE, Piece.MATH})
        several = CBinary(">", Id(STEPS), Literal("1"))
        large = CBinary(">", _times(Id(ROW), _span(HIGH, LOW)), _number(self.skewed.least))
        upto = _call(
            MIN_I64.function, CBinary("-", _plus(Id(self.first), Id(STEPS)), Literal("1")), Id(self.last)
        )
        rounds = For(
            ROUND,
            Id(self.first),
            CBinary("<=", Id(ROUND), Id(self.last)),
            Id(STEPS),
            (Assign(Id(self.first), "=", Id(ROUND)), Declare("const ptrdiff_t", UPTO, upto), *self._round()),
        )
        done = Assign(Id(self.first), "=", CBinary("+", Id(self.last), Literal("1")))
        start = CBinary("<", Id(self.first), Id(self.last))
        return (
            Block((*self._limits(), If(CBinary("&&", CBinary("&&", several, large), start), (rounds, done)))),
        )

    # ---- how many at a time ----

    def _limits(self) -> tuple[Stmt, ...]:
        """Where rows begin and end, how many run at once, and for how many steps there is room."""
        found: list[Stmt] = [*self._ends(0, LOW, HIGH)]
        found.append(Declare("const double", ROW, self._bytes(1)))
        unit = self.skewed.rows
        many = Cast("ptrdiff_t", CBinary("/", _number(self.skewed.piece), _or_one(Id(ROW))))
        units = CBinary("*", CBinary("/", many, Literal(str(unit))), Literal(str(unit)))
        found.append(Declare("const ptrdiff_t", AT_ONCE, _call(MAX_I64.function, Literal(str(unit)), units)))
        behind = max(self._outer.step, 1)
        if self._inner is None:
            rows = CBinary("/", _number(self.skewed.room), _or_one(Id(ROW)))
            free = CBinary("-", rows, Cast("double", Id(AT_ONCE)))
            steps: CExpr = CBinary("/", free, _number(behind))
        else:
            found += [*self._ends(1, f"{LOW}1", f"{HIGH}1"), Declare("const double", LINE, self._bytes(2))]
            both = _number(behind * max(self._inner.step, 1))
            steps = CCall("sqrt", (CBinary("/", _number(self.skewed.room), _times(both, _or_one(Id(LINE)))),))
        most = _call(MIN_I64.function, Literal(str(self.skewed.most)), Cast("ptrdiff_t", steps))
        found.append(Declare("ptrdiff_t", STEPS, most))
        found += [*self._work(), Declare("const int", TEAM, self.team(Id(WORK)))]
        fewer = Assign(Id(STEPS), "=", _call(MIN_I64.function, Id(STEPS), self._steps_apart()))
        found.append(If(CBinary(">", Id(TEAM), Literal("1")), (fewer,)))
        if self._inner is not None:
            room = CBinary("/", _number(self.skewed.room), _or_one(Id(LINE)))
            deep = _plus(_times(_number(behind), Cast("double", Id(STEPS))), Cast("double", Id(AT_ONCE)))
            wide = _times(Literal(str(max(self._inner.step, 1))), Id(STEPS))
            wide = _call(MAX_I64.function, wide, Cast("ptrdiff_t", CBinary("/", room, _or_one(deep))))
            found.append(Declare("const ptrdiff_t", WIDTH, _call(MAX_I64.function, Literal("1"), wide)))
        return tuple(found)

    def _steps_apart(self) -> CExpr:
        """The most steps at a time at which a gap fits a part: no row may lie in two, which run at once.

        A gap has the rows of a stage between both of its lags, and more at each later step.  Those are half
        of what is left of a part at most, so that most rows are computed in parts, in a cache.
        """
        outer, against = self._outer, self.skewed.order.against
        lags = max(map(sum, zip(outer.lags, against.lags, strict=True)))
        part = CBinary("/", _span(HIGH, LOW, "ptrdiff_t"), Id(TEAM))
        slope = Literal(str(2 * max(outer.step + against.step, 1)))
        return _less(CBinary("/", _less(part, Literal(str(lags))), slope), Literal("1"))

    def _work(self) -> tuple[Stmt, ...]:
        """The operations of all steps at a time, as those of the first one are estimated."""
        step = Declare("const ptrdiff_t", self.step, Id(self.first))
        call = CCall(f"_pm_work_s{self.number}", (Id("_pm_here"),))
        found = Block((step, self.here, Assign(Id(WORK), "=", _times(call, Cast("double", Id(STEPS))))))
        return Declare("double", WORK, Literal("0.0")), found

    def _ends(self, level: int, low: str, high: str) -> tuple[Declare, Declare]:
        lows, highs = self.skewed.spans[level]
        first = reduce(partial(_call, MIN_I64.function), map(self.size, lows))
        last = reduce(partial(_call, MAX_I64.function), (self.size(form + 1) for form in highs))
        return Declare("const ptrdiff_t", low, first), Declare("const ptrdiff_t", high, last)

    def _bytes(self, levels: int) -> CExpr:
        """The bytes of all arrays at one index along so many dimensions."""
        total: CExpr | None = None
        for each, extents in self.skewed.arrays:
            extended = (_call("_pm_extent", self.size(extent)) for extent in extents[levels:])
            one = reduce(_times, extended, _number(each))
            total = one if total is None else _plus(total, one)
        return total or _number(0)

    # ---- some steps ----

    def _round(self) -> tuple[Stmt, ...]:
        """The parts of all threads, then what lies between these."""
        cut = self._cut
        ends = (
            Declare("const ptrdiff_t", HERE_LOW, cut(Id(CHUNK))),
            Declare("const ptrdiff_t", HERE_HIGH, cut(_plus(Id(CHUNK), Literal("1")))),
        )
        pragma = f"omp parallel for num_threads({TEAM}) if({TEAM} > 1) schedule(static, 1)"
        parts = self._chunks("0", (*ends, *self._part()), pragma)
        between = self._chunks(
            "1", (Declare("const ptrdiff_t", HERE_LOW, cut(Id(CHUNK))), self._gap()), pragma
        )
        return (parts, If(CBinary(">", Id(TEAM), Literal("1")), (between,)))

    def _chunks(self, start: str, body: Sequence[Stmt], pragma: str) -> For:
        return For(
            CHUNK, Literal(start), CBinary("<", Id(CHUNK), Id(TEAM)), Literal("1"), tuple(body), (pragma,)
        )

    def _cut(self, chunk: CExpr) -> CExpr:
        rows = CBinary("-", Id(HIGH), Id(LOW))
        return _plus(Id(LOW), CBinary("/", CBinary("*", rows, chunk), Id(TEAM)))

    def _part(self) -> tuple[Stmt, ...]:
        """All steps on a part of the rows, those that the next part does not need left out."""
        later = _less(Id(self.step), Id(self.first))
        last = CBinary("==", Id(CHUNK), _less(Id(TEAM), Literal("1")))
        behind = _times(_less(Id(UPTO), Id(self.first)), Literal(str(self._outer.step)))
        far = _plus(Id(HERE_HIGH), _plus(behind, Literal(str(self._outer.longest))))
        end = Ternary(last, far, Id(HERE_HIGH))
        back = _times(later, Literal(str(self._outer.step)))
        front = _plus(Id(FRONT), Id(AT_ONCE))
        until = Ternary(last, front, _call(MIN_I64.function, front, Id(HERE_HIGH)))
        against = _times(later, Literal(str(self.skewed.order.against.step)))
        side = Ternary(CBinary(">", Id(CHUNK), Literal("0")), _plus(Id(HERE_LOW), against), BEFORE)
        call = self._call(_less(Id(FRONT), back), _less(until, back), side, BEYOND)
        rows = For(
            FRONT,
            Id(HERE_LOW),
            CBinary("<", Id(FRONT), Id(DONE)),
            Id(AT_ONCE),
            (self._steps(call),),
        )
        whole = (Declare("const ptrdiff_t", DONE, end), rows)
        if self._inner is None:
            return whole
        aside = _times(_less(Id(UPTO), Id(self.first)), Literal(str(self._inner.step)))
        stop = _plus(Id(f"{HIGH}1"), _plus(aside, Literal(str(self._inner.longest))))
        return (For(SIDE, Id(f"{LOW}1"), CBinary("<", Id(SIDE), stop), Id(WIDTH), whole),)

    def _gap(self) -> Stmt:
        """All steps on the rows on both sides of where a part begins."""
        later = _less(Id(self.step), Id(self.first))
        back = _times(later, Literal(str(self._outer.step)))
        against = _times(later, Literal(str(self.skewed.order.against.step)))
        here = Id(HERE_LOW)
        call = self._call(_less(here, back), BEYOND, BEFORE, _plus(here, against), whole=True)
        return self._steps(call)

    def _steps(self, call: Stmt) -> For:
        condition = CBinary("<=", Id(self.step), Id(UPTO))
        return For(self.step, Id(self.first), condition, Literal("1"), (self.given, self.here, call))

    def _call(self, *limits: CExpr, whole: bool = False) -> Stmt:
        """Compute rows; whole: all of each, not those parts alone that run at a time."""
        more: list[CExpr] = []
        if self._inner is not None:
            aside = _times(_less(Id(self.step), Id(self.first)), Literal(str(self._inner.step)))
            begin = _less(Id(SIDE), aside)
            more = [BEFORE, BEYOND] if whole else [begin, _plus(begin, Id(WIDTH))]
        arguments = (Id("_pm_given"), Id("_pm_here"), Id("_pm_scalars"), *limits, *more)
        return Evaluate(CCall(f"{ROWS}_s{self.number}", arguments))


def _number(value: float) -> CExpr:
    return Literal(f"{float(value)!r}")


def _call(function: str, *arguments: CExpr) -> CExpr:
    return CCall(function, arguments)


def _times(one: CExpr, other: CExpr) -> CExpr:
    return CBinary("*", one, other)


def _plus(one: CExpr, other: CExpr) -> CExpr:
    return CBinary("+", one, other)


def _less(one: CExpr, other: CExpr) -> CExpr:
    return CBinary("-", one, other)


def _span(high: str, low: str, ctype: str = "double") -> CExpr:
    return Cast(ctype, CBinary("-", Id(high), Id(low)))


def _or_one(value: CExpr) -> CExpr:
    """What may be divided by."""
    return CCall("__builtin_fmax", (value, Literal("1.0")))
