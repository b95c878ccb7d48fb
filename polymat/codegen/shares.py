"""How a nest is shared out to threads: how many take part, and which part of its range each of them runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce

from polymat.codegen.c.ctree import (
    Binary,
    Block,
    Call,
    Cast,
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
from polymat.codegen.loops.nestfunction import Nest
from polymat.codegen.loops.work import stage_work
from polymat.codegen.memory.scratch import ThreadScratch
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.model.team import BLOCKS, TeamCost
from polymat.options import Options
from polymat.plan.library import TransformPlan
from polymat.plan.nest import NestPlan
from polymat.plan.tile import Plan

CHUNKS_PER_THREAD = 8  # of a triangle, so that threads finish together
# Operations of vectorised loops in the time of a transform, a point and each doubling of their number.
A_POINT = 20.0
FIRST, LAST, TEAM, WORK = "_pm_first", "_pm_last", "_pm_team_size", "_pm_operations"
CHUNK, PIECES = "_pm_chunk", "_pm_pieces"


@dataclass(frozen=True)
class Shares:
    """Writes how nests are run by a team; size: a form over the sizes in C."""

    size: Callable[[Affine], CExpr]
    needs: set[str]
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
        work = reduce(partial(Binary, "+"), (stage_work(stage, self.size) for stage in stages))
        pieces: CExpr = self._pieces(Id(WORK), speed) if fixed else Id(TEAM)
        if uneven:
            many = Binary("*", Literal(str(CHUNKS_PER_THREAD)), pieces)
            pieces = Ternary(Binary("==", pieces, Literal("1")), Literal("1"), many)
        return (
            Declare("const double", WORK, work),
            Declare("const int", TEAM, self._team(Id(WORK), speed)),
            Declare("const ptrdiff_t", PIECES, pieces),
        )

    def _pieces(self, work: CExpr, speed: float) -> CExpr:
        threads, threshold = Id("_pm_threads"), self.options.parallel_threshold
        if threshold is not None:
            return Ternary(Binary("<", work, Literal(f"{float(threshold)!r}")), Literal("1"), threads)
        return Call("_pm_team_pieces", (threads, work, Literal(f"{self.cost.awake * speed!r}")))

    def _team(self, work: CExpr, speed: float) -> CExpr:
        threshold = self.options.parallel_threshold
        if threshold is not None:
            return Call("_pm_team", (Id("_pm_threads"), work, Literal(f"{float(threshold)!r}")))
        costs = [Literal(f"{cost * speed!r}") for cost in (self.cost.awake, self.cost.asleep)]
        return Call("_pm_team_paying", (Id("_pm_threads"), work, *costs))

    def least_work(self, speed: float) -> float:
        """Work below which the calling thread is alone, however many threads there are."""
        threshold = self.options.parallel_threshold
        return self.cost.awake * speed if threshold is None else float(threshold)

    def run(
        self, stages: Sequence[Stage], plan: NestPlan, nest: Nest, scratch: ThreadScratch
    ) -> tuple[Stmt, ...]:
        """Run the nest of a group on the calling thread, or share its first range out."""
        function = nest.function.name
        first = scratch.declare(Literal("0"))
        if not nest.ranges and isinstance(plan, TransformPlan):
            return (self._transform(plan, nest),)
        if not nest.ranges:
            team = (self._band_team(stages[-1], plan),) if plan.kind == "recurrence" else ()
            call = Evaluate(Call(function, (*nest.arguments, *team)))
            return (Block((*first, call)),) if first else (call,)
        low, high = (self.size(nest.ranges[0].low), self.size(nest.ranges[0].high + 1))
        begin, end = Declare("const ptrdiff_t", FIRST, low), Declare("const ptrdiff_t", LAST, high)
        shared = self.declared(stages, self.speed(plan), fixed=plan.by_blocks, uneven=nest.work == "uneven")
        serial = Evaluate(Call(function, (*nest.arguments, Id(FIRST), Id(LAST))))
        alone = Binary("==", Id(PIECES), Literal("1"))
        split = If(alone, (*first, serial), self._chunks(nest, scratch))
        return (Block((begin, end, *shared, split)),)

    def _transform(self, plan: TransformPlan, nest: Nest) -> Stmt:
        """Run a transform without a batch, which shares itself out to a team."""
        lengths: list[CExpr] = [Call("_pm_extent", (self.size(axis.length),)) for axis in plan.transform.axes]
        points = reduce(partial(Binary, "*"), lengths)
        self.needs.update({"math", "place"})
        depth = Call("log2", (Binary("+", points, Literal("1.0")),))
        work = Binary("*", Binary("*", Literal(f"{A_POINT!r}"), points), depth)
        team = (
            Declare("const double", WORK, work),
            Declare("const int", TEAM, self._team(Id(WORK), 1.0)),
            Declare("const int", PIECES, self._pieces(Id(WORK), 1.0)),
        )
        run = Evaluate(Call(nest.function.name, (*nest.arguments, Id(PIECES), Id(TEAM))))
        return Block((*team, run))

    def _band_team(self, stage: Stage, plan: NestPlan) -> CExpr:
        """What the work between two entries of the parallel loop of a recurrence is worth."""
        outer = plan.order.index(plan.parallel) if plan.parallel in plan.order else len(plan.order)
        return self._team(stage_work(stage, self.size, skip=outer), 1 / self.cost.lanes)

    def speed(self, plan: Plan) -> float:
        """Operations a second against those of vectorised loops."""
        if plan.by_blocks:
            return BLOCKS
        return 1 / self.cost.lanes if plan.kind in ("scatter", "recurrence") else 1.0

    def _chunks(self, nest: Nest, scratch: ThreadScratch) -> tuple[Stmt, ...]:
        """Share the pieces of the range out to the team."""
        kind = "dynamic" if nest.work == "uneven" else "static"
        self.needs.add("min_i64")
        chunk = Id(CHUNK)
        bounds = [self._bound(nest, at) for at in (chunk, Binary("+", chunk, Literal("1")))]
        call = Evaluate(Call(nest.function.name, (*nest.arguments, *bounds)))
        loop = For(
            CHUNK,
            Literal("0"),
            Binary("<", chunk, Id(PIECES)),
            Literal("1"),
            (*scratch.declare(Call("omp_get_thread_num", ())), call),
            (f"omp parallel for num_threads({TEAM}) schedule({kind}, 1)",),
        )
        return (loop,)

    def _bound(self, nest: Nest, position: CExpr) -> CExpr:
        """Where the piece of that number begins; those of a triangle's rows have the same area."""
        if nest.work not in ("rising", "falling"):
            return _cut(nest.block, position)
        self.needs.add("math")
        first, last, pieces = Id(FIRST), Id(LAST), Id(PIECES)
        rising = nest.work == "rising"
        count = Cast("double", position if rising else Binary("-", pieces, position))
        root = Call("sqrt", (Binary("/", count, Cast("double", pieces)),))
        rows = Cast("ptrdiff_t", Binary("*", Cast("double", Binary("-", last, first)), root))
        return Binary("+", first, rows) if rising else Binary("-", last, rows)


def _cut(block: int, position: CExpr) -> CExpr:
    """Where a piece of the range begins: at a multiple of `block` from the first index, or at the end."""
    length: CExpr = Binary("-", Id(LAST), Id(FIRST))
    if block == 1:
        part = Binary("/", Binary("*", length, position), Id(PIECES))
        return Binary("+", Id(FIRST), part)
    size = Literal(str(block))
    blocks = Binary("/", Binary("+", length, Literal(str(block - 1))), size)
    part = Binary("*", Binary("/", Binary("*", blocks, position), Id(PIECES)), size)
    return Call("_pm_min_i64", (Binary("+", Id(FIRST), part), Id(LAST)))
