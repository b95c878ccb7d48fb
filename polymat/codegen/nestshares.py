"""How a nest is shared out to threads: how many take part, and which part of its range each of them runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce

from polymat.codegen.c.ctree import (
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
    Ternary,
)
from polymat.codegen.c.needs import MIN_I64, Need, Piece
from polymat.codegen.cutranges import in_grid, piece_of
from polymat.codegen.loops.nestfunction import MOST_PIECES, PIECES, NestFunction
from polymat.codegen.loops.work import stage_work
from polymat.codegen.memory.pads import ThreadScratch
from polymat.codegen.trailingthreads import TrailingThreads
from polymat.dataclass import dataclass
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.model.team import BLOCKS, TeamCost
from polymat.options import Options
from polymat.plan.blockedsteps import EliminationPlan
from polymat.plan.library import TransformPlan
from polymat.plan.nest import NestPlan
from polymat.plan.tile import Plan
from polymat.poly.trailing import Trail

CHUNKS_PER_THREAD = 8  # of a triangle, so that threads finish together
# Operations of vectorised loops in the time of a transform, a point and each doubling of their number.
A_POINT = 20.0
FIRST, LAST, TEAM, WORK = "_pm_first", "_pm_last", "_pm_team_size", "_pm_operations"
CHUNK = "_pm_chunk"
THREADS = Id("_pm_threads")


def team_worth(
    cost: TeamCost,
    threshold: float | None,
    work: CExpr,
    most: CExpr = THREADS,
    speed: float = 1.0,
    *,
    times: CExpr | None = None,
) -> CExpr:
    """The threads that some work is worth: above a threshold all, or else those that pay for themselves.

    most: threads that it can be shared among.  speed: of the work, as a multiple of that of vectorised loops.
    times: how often it is done, one after the other, by threads that are woken up once; None: once.
    """
    if threshold is not None:
        return CCall("_pm_team", (most, work, Literal(f"{float(threshold)!r}")))
    awake, asleep = (Literal(f"{each!r}") for each in cost.worth(speed))
    waking = asleep if times is None else CBinary("/", asleep, times)
    return CCall("_pm_team_paying", (most, work, awake, waking))


def least_worth(least: float, options: Options) -> float:
    """The least work of a call that may be shared out to threads: by cost, or what the user says."""
    return least if options.parallel_threshold is None else float(options.parallel_threshold)


def repeated(steps: For, last: CExpr) -> tuple[Stmt, ...]:
    """A loop over steps which says how many there are: threads are woken up once for all of them."""
    count = CBinary("+", CBinary("-", last, steps.start), Literal("1"))
    several = CBinary(">", THREADS, Literal("1"))

    def told(times: CExpr) -> If:
        return If(several, (Evaluate(CCall("_pm_team_times", (times,))),))

    return told(CCall("_pm_extent", (count,))), steps, told(Literal("1.0"))


@dataclass(frozen=True)
class Shares:
    """Writes how nests are run by a team; size: a form over the sizes in C."""

    size: Callable[[Affine], CExpr]
    needs: set[Need]
    options: Options
    cost: TeamCost

    def declared(
        self, stages: Sequence[Stage], speed: float = 1.0, *, fixed: bool, uneven: bool = False
    ) -> tuple[Declare, ...]:
        """The team that the work of some stages is worth now, and the pieces that it is cut into.

        speed: operations a second against those of vectorised loops.  fixed: the order of sums depends on the
        pieces, which then follow from sizes and the number of threads alone, whatever the team.  uneven: the
        pieces are more and smaller.
        """
        work = reduce(partial(CBinary, "+"), (stage_work(stage, self.size) for stage in stages))
        pieces: CExpr = self._pieces(Id(WORK), speed) if fixed else Id(TEAM)
        if uneven:
            many = CBinary("*", Literal(str(CHUNKS_PER_THREAD)), pieces)
            pieces = Ternary(CBinary("==", pieces, Literal("1")), Literal("1"), many)
        return (
            Declare("const double", WORK, work),
            Declare("const int", TEAM, self.team(Id(WORK), speed)),
            Declare("const ptrdiff_t", PIECES, pieces),
        )

    def _pieces(self, work: CExpr, speed: float) -> CExpr:
        threads, threshold = Id("_pm_threads"), self.options.parallel_threshold
        if threshold is not None:
            return Ternary(CBinary("<", work, Literal(f"{float(threshold)!r}")), Literal("1"), threads)
        return CCall("_pm_team_pieces", (threads, work, Literal(f"{self.cost.worth(speed)[0]!r}")))

    def team(self, work: CExpr, speed: float = 1.0, times: CExpr | None = None) -> CExpr:
        """The threads that some work is worth now, of vectorised loops where nothing else is said."""
        return team_worth(self.cost, self.options.parallel_threshold, work, speed=speed, times=times)

    def least_work(self, speed: float) -> float:
        """Work below which the calling thread is alone, however many threads there are."""
        return least_worth(self.cost.worth(speed)[0], self.options)

    def run(
        self, stages: Sequence[Stage], plan: NestPlan, nest: NestFunction, scratch: ThreadScratch
    ) -> tuple[Stmt, ...]:
        """Run the nest of a group on the calling thread, or share its first range out."""
        function = nest.function.name
        first = scratch.declare(Literal("0"))
        if plan.trailing is not None:
            return self._trailing(stages, plan, nest, plan.trailing)
        if not nest.ranges and isinstance(plan, TransformPlan):
            return (self._transform(plan, nest),)
        if nest.pieces:
            return (Block((*first, *self._in_pieces(stages, plan, nest))),)
        if isinstance(plan, EliminationPlan):
            return (Block((*first, *self._team_within(stages, plan, nest, scratch))),)
        if not nest.ranges:
            team = (self._band_team(stages[-1], plan),) if plan.kind == "recurrence" else ()
            call = Evaluate(CCall(function, (*nest.arguments, *team)))
            return (Block((*first, call)),) if first else (call,)
        low, high = (self.size(nest.ranges[0].low), self.size(nest.ranges[0].high + 1))
        begin, end = Declare("const ptrdiff_t", FIRST, low), Declare("const ptrdiff_t", LAST, high)
        shared = self.declared(stages, self.speed(plan), fixed=plan.by_blocks, uneven=nest.work == "uneven")
        serial = Evaluate(CCall(function, (*nest.arguments, Id(FIRST), Id(LAST), *self._whole(nest))))
        alone = CBinary("==", Id(PIECES), Literal("1"))
        split = If(alone, (*first, serial), self._chunks(nest, scratch))
        return (Block((begin, end, *shared, split)),)

    def _trailing(
        self, stages: Sequence[Stage], plan: NestPlan, nest: NestFunction, trailing: Trail
    ) -> tuple[Stmt, ...]:
        """Let threads take the outermost iterations of a nest by turns."""
        work, speed = stage_work(stages[-1], self.size), self.speed(plan)
        team = partial(team_worth, self.cost, self.options.parallel_threshold, speed=speed)
        meeting = self.cost.meeting * speed if self.options.parallel_threshold is None else 0.0
        return TrailingThreads(
            nest, trailing, stages[-1].box, self.size, self.needs, team, work, meeting
        ).statements()

    def _whole(self, nest: NestFunction) -> Iterator[CExpr]:
        """All of the ranges that are not shared out."""
        for part in nest.ranges[1:]:
            yield from (self.size(part.low), self.size(part.high + 1))

    def _team_within(
        self, stages: Sequence[Stage], plan: NestPlan, nest: NestFunction, scratch: ThreadScratch
    ) -> tuple[Stmt, ...]:
        """Run a nest that shares the larger of its parts out to a team, by their work."""
        speed = self.speed(plan)
        team = self.declared(stages, speed, fixed=True)
        least = Literal(f"{self.least_work(speed)!r}")
        arguments = (*nest.arguments, scratch.apart, Id(PIECES), Id(TEAM), least)
        return (*team, Evaluate(CCall(nest.function.name, arguments)))

    def _in_pieces(self, stages: Sequence[Stage], plan: NestPlan, nest: NestFunction) -> tuple[Stmt, ...]:
        """Run a nest that shares itself out to as many threads as its work is worth."""
        self.needs.add(MIN_I64)
        team = self.declared(stages, self.speed(plan), fixed=False)
        pieces = CCall(MIN_I64.function, (Id(PIECES), Literal(str(MOST_PIECES))))
        return (*team, Evaluate(CCall(nest.function.name, (*nest.arguments, pieces))))

    def _transform(self, plan: TransformPlan, nest: NestFunction) -> Stmt:
        """Run a transform without a batch, which shares itself out to a team."""
        lengths: list[CExpr] = [
            CCall("_pm_extent", (self.size(axis.length),)) for axis in plan.transform.axes
        ]
        points = reduce(partial(CBinary, "*"), lengths)
        self.needs.update({Piece.MATH, Piece.PLACE})
        depth = CCall("log2", (CBinary("+", points, Literal("1.0")),))
        work = CBinary("*", CBinary("*", Literal(f"{A_POINT!r}"), points), depth)
        team = (
            Declare("const double", WORK, work),
            Declare("const int", TEAM, self.team(Id(WORK))),
            Declare("const int", PIECES, self._pieces(Id(WORK), 1.0)),
        )
        run = Evaluate(CCall(nest.function.name, (*nest.arguments, Id(PIECES), Id(TEAM))))
        return Block((*team, run))

    def _band_team(self, stage: Stage, plan: NestPlan) -> CExpr:
        """What the work between two entries of the parallel loop of a recurrence is worth."""
        outer = plan.order.index(plan.parallel) if plan.parallel in plan.order else len(plan.order)
        extents = (self.size(high - low + 1) for low, high in stage.box[:outer])
        bands: list[CExpr] = [CCall("_pm_extent", (extent,)) for extent in extents]
        times = reduce(partial(CBinary, "*"), bands) if bands else None
        return self.team(stage_work(stage, self.size, skip=outer), self.speed(plan), times)

    def speed(self, plan: Plan) -> float:
        """Operations a second against those of vectorised loops, as predicted."""
        usual = 1 / self.cost.lanes if plan.kind in ("scatter", "recurrence") else 1.0
        by_blocks = plan.by_blocks or plan.kernels
        return self.cost.speed(plan.group.stages, BLOCKS if by_blocks else usual)

    def _chunks(self, nest: NestFunction, scratch: ThreadScratch) -> tuple[Stmt, ...]:
        """Share the pieces of the range out to the team."""
        kind = "dynamic" if nest.work == "uneven" else "static"
        self.needs.add(MIN_I64)
        ends, chunk = (Id(FIRST), Id(LAST)), Id(CHUNK)
        laid: tuple[Stmt, ...] = ()
        rows: tuple[Stmt, ...] = ()
        if nest.grid is not None:
            laid, rows, within = in_grid(nest, nest.grid, ends, chunk, self.size, self.needs)
        else:
            piece = piece_of(nest.work, nest.block, ends, (chunk, Id(PIECES)), self.needs, nest.balance)
            within = (*piece, *self._whole(nest))
        call = Evaluate(CCall(nest.function.name, (*nest.arguments, *within)))
        loop = For(
            CHUNK,
            Literal("0"),
            CBinary("<", chunk, Id(PIECES)),
            Literal("1"),
            (*scratch.declare(CCall("omp_get_thread_num", ())), *rows, call),
            (f"omp parallel for num_threads({TEAM}) schedule({kind}, 1)",),
        )
        return (*laid, loop)
