"""The loops of steps that follow each other over the rows of their arrays.

Rounds of some steps go over all rows in blocks.  Threads take rounds by turns, and each waits before a block
until the thread of the round before is done with all that this block needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Braces,
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
)
from polymat.codegen.c.formulas import FormulaWriter
from polymat.codegen.c.needs import MAX_I64, MIN_I64, Piece
from polymat.codegen.nestshares import WORK
from polymat.codegen.sectionloops import FROM, UPTO, SectionLoops, call, less
from polymat.dataclass import dataclass
from polymat.graph.skewed import SkewedSteps
from polymat.lang.names import RESERVED_PREFIX
from polymat.plan.followingsteps import (
    EXTENTS,
    MOST_TEAM,
    at_once,
    count,
    following,
    known,
    team,
    threads,
    work,
)
from polymat.product.formula import Formula

LOWS = ("_pm_low", "_pm_low1")  # the first indices along both dimensions
SIZES = ("_pm_height", "_pm_width")  # of a block
NUMBERS, PLACES = ("_pm_fronts", "_pm_sides"), ("_pm_front", "_pm_side")  # of blocks
AHEAD = ("_pm_ahead", "_pm_ahead1")  # blocks that the round before is ahead
STEPS, ROUNDS, BLOCKS = "_pm_steps", "_pm_rounds", "_pm_blocks"
TEAM, MEMBERS, CHUNK, ROUND = "_pm_team_size", "_pm_members", "_pm_chunk", "_pm_round"
DONE = "_pm_done"
ONE = Literal("1")


@dataclass(frozen=True, eq=False)
class SkewedLoops(SectionLoops):
    """Writes the loops of a section whose steps follow each other."""

    skewed: SkewedSteps

    @property
    def _levels(self) -> range:
        return range(len(self.skewed.order.along))

    def statements(self) -> tuple[Stmt, ...]:
        """Take the steps, as many as follow each other at a time, where the arrays are large enough."""
        self.needs.update({MAX_I64, MIN_I64, Piece.PLACE, Piece.PROGRESS})
        decided, writer = following(self.skewed), self._writer()
        before = [*writer.declared((decided.follow,))]
        done = Assign(Id(self.first), "=", _plus(Id(self.last), ONE))
        follow = If(writer.expr(decided.follow), (*self._shares(before), *self._loops(), done))
        return (Block((*self._numbers(), *before, follow)),)

    # ---- how many at a time ----

    def _writer(self) -> FormulaWriter:
        """Writes the decisions, with what is asked for them."""
        named = [count, threads, *(name for level in self._levels for name in EXTENTS[level])]
        given: dict[str, CExpr] = {each.name: Id(f"{RESERVED_PREFIX}{each.name}") for each in named}
        given |= {team.name: _double(Id(TEAM)), work.name: Id(WORK)}
        given |= {name: Literal(repr(value)) for name, value in known(self.skewed).items()}
        return FormulaWriter(given=given, prefix=RESERVED_PREFIX)

    def _numbers(self) -> Iterator[Declare]:
        """What sizes and the call give for the decisions."""
        for level in self._levels:
            yield from self._extent(level)
        steps = _plus(less(Id(self.last), Id(self.first)), ONE)
        yield Declare("const double", f"{RESERVED_PREFIX}{count.name}", _double(steps))
        yield Declare("const double", f"{RESERVED_PREFIX}{threads.name}", _double(Id("_pm_threads")))

    def _extent(self, level: int) -> Iterator[Declare]:
        """Where indices along a dimension begin and end, and the bytes of all arrays at one of them."""
        extent, size = EXTENTS[level]
        first, last = self.ends(self.skewed.spans[level])
        yield Declare("const ptrdiff_t", LOWS[level], first)
        far = _double(less(last, Id(LOWS[level])))
        yield Declare("const double", f"{RESERVED_PREFIX}{extent.name}", far)
        total = self.bytes_of((each, extents[level + 1 :]) for each, extents in self.skewed.arrays)
        yield Declare("const double", f"{RESERVED_PREFIX}{size.name}", total)

    def _shares(self, before: Sequence[Declare]) -> Iterator[Stmt]:
        """The threads that take part, the rounds that they take, and the blocks of these."""
        decided, writer = following(self.skewed), self._writer()
        yield from self.work(Id(self.first))
        named = {each.name for each in before}
        shared = [each for each in writer.declared((decided.crew, decided.worth)) if each.name not in named]
        yield from shared
        named |= {each.name for each in shared}
        crew, worth = map(writer.expr, (decided.crew, decided.worth))
        yield Declare("const int", TEAM, self.team(worth, Cast("int", crew)))
        taken = decided.taken
        sizes = zip((SIZES[level] for level in self._levels), (at_once, taken.width), strict=False)
        wanted: Mapping[str, Formula] = {
            STEPS: taken.steps,
            ROUNDS: taken.rounds,
            **dict(sizes),
            **dict(zip(NUMBERS, (taken.fronts, taken.sides), strict=True)),
        }
        yield from (each for each in writer.declared([*wanted.values()]) if each.name not in named)
        for name, formula in wanted.items():
            yield Declare("const ptrdiff_t", name, Cast("ptrdiff_t", writer.expr(formula)))

    # ---- rounds ----

    def _loops(self) -> Iterator[Stmt]:
        """The rounds of all threads, each of which may have fewer companions than it was to have."""
        for level, along in zip(self._levels, self.skewed.order.along, strict=True):
            far = _plus(_times(Id(STEPS), Literal(str(along.step))), less(Id(SIZES[level]), ONE))
            yield Declare("const ptrdiff_t", AHEAD[level], CBinary("/", far, Id(SIZES[level])))
        yield Declare("const ptrdiff_t", BLOCKS, _times(Id(NUMBERS[0]), Id(NUMBERS[1])))
        nothing = Braces((Braces((Literal("0"),)),))
        yield Declare("_pm_progress", f"{DONE}[{MOST_TEAM}]", nothing)
        member = CBinary("<", Id(CHUNK), Id(MEMBERS))
        goes_on = CBinary("&&", member, CBinary("<", Id(ROUND), Id(ROUNDS)))
        rounds = For(ROUND, Id(CHUNK), goes_on, Id(MEMBERS), tuple(self._round()))
        members = Declare("const ptrdiff_t", MEMBERS, CCall("omp_get_num_threads", ()))
        pragma = f"omp parallel for num_threads({TEAM}) if({TEAM} > 1) schedule(static, 1)"
        chunks = CBinary("<", Id(CHUNK), Id(TEAM))
        yield For(CHUNK, Literal("0"), chunks, ONE, (members, rounds), (pragma,))

    def _round(self) -> Iterator[Stmt]:
        """Take the steps of a round, block by block."""
        yield Declare("const ptrdiff_t", FROM, _plus(Id(self.first), _times(Id(ROUND), Id(STEPS))))
        after = less(_plus(Id(FROM), Id(STEPS)), ONE)
        yield Declare("const ptrdiff_t", UPTO, call(MIN_I64.function, after, Id(self.last)))
        limits = [each for level in self._levels for each in self._limits(level)]
        block: tuple[Stmt, ...] = (self._wait(), self.steps(*limits), self._tell())
        for level in self._levels:
            more = CBinary("<", Id(PLACES[level]), Id(NUMBERS[level]))
            block = (For(PLACES[level], Literal("0"), more, ONE, block),)
        yield from block

    def _limits(self, level: int) -> tuple[CExpr, CExpr]:
        """Where the indices of a step in a block begin and end along a dimension."""
        later = less(Id(self.step), Id(FROM))
        back = _times(later, Literal(str(self.skewed.order.along[level].step)))
        begin = less(_plus(Id(LOWS[level]), _times(Id(PLACES[level]), Id(SIZES[level]))), back)
        return begin, _plus(begin, Id(SIZES[level]))

    def _wait(self) -> Stmt:
        """Wait until the round before is done with the blocks whose fronts are no further than this one's."""
        ends = [
            call(MIN_I64.function, _plus(Id(place), Id(ahead)), less(Id(number), ONE))
            for place, ahead, number in zip(PLACES, AHEAD, NUMBERS, strict=True)
        ][: len(self._levels)]
        needed = _place(ends)
        before = less(Id(ROUND), ONE)
        whole = _times(CBinary("/", before, Id(MEMBERS)), Id(BLOCKS))
        other = _plus(Id(DONE), CBinary("%", before, Id(MEMBERS)))
        wait = Evaluate(CCall("_pm_progress_wait", (other, _plus(whole, needed))))
        several = CBinary(">", Id(MEMBERS), ONE)
        return If(CBinary("&&", several, CBinary(">", Id(ROUND), Literal("0"))), (wait,))

    def _tell(self) -> Stmt:
        """Tell the thread of the next round that this block is done."""
        whole = _times(CBinary("/", Id(ROUND), Id(MEMBERS)), Id(BLOCKS))
        here = _place([Id(PLACES[level]) for level in self._levels])
        tell = CCall("_pm_progress_tell", (_plus(Id(DONE), Id(CHUNK)), _plus(whole, here)))
        return If(CBinary(">", Id(MEMBERS), ONE), (Evaluate(tell),))


def _place(blocks: Sequence[CExpr]) -> CExpr:
    """How many blocks of a round are done when one is: those of all rows before those of the next lines."""
    done = _plus(blocks[0], ONE)
    return done if len(blocks) == 1 else _plus(_times(blocks[1], Id(NUMBERS[0])), done)


def _times(one: CExpr, other: CExpr) -> CExpr:
    return CBinary("*", one, other)


def _plus(one: CExpr, other: CExpr) -> CExpr:
    return CBinary("+", one, other)


def _double(value: CExpr) -> CExpr:
    return Cast("double", value)
