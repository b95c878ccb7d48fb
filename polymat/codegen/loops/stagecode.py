"""Stages as C functions over ranges of their dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from polymat.codegen.c.cnames import Names
from polymat.codegen.c.ctree import Stmt
from polymat.codegen.c.needs import Need
from polymat.codegen.c.vectorloops import VECTORS, Pragma, SharedOut
from polymat.codegen.loops.accumulators import with_accumulators
from polymat.codegen.loops.askingrows import asking_rows
from polymat.codegen.loops.explicitvectors import (
    in_blocks,
    in_lanes,
    in_registers,
    in_rows,
    in_words,
    with_lookups,
)
from polymat.codegen.loops.jam import RangedLoops
from polymat.codegen.loops.jointloops import JointPart, joint_statements
from polymat.codegen.loops.nestfunction import NestFunction, Work
from polymat.codegen.loops.nestloops import LoopWriter
from polymat.codegen.loops.nestwriter import NestWriter
from polymat.codegen.loops.pieces import PieceLoops
from polymat.codegen.loops.placesfirst import places_first
from polymat.codegen.loops.prefetch import with_prefetch
from polymat.codegen.loops.ranges import Range, range_context
from polymat.codegen.loops.requests import Requests
from polymat.codegen.loops.segmentloops import between_bounds, rows_of_loop, without_choice
from polymat.codegen.loops.shortsums import in_short_sums
from polymat.codegen.loops.statements import (
    Statements,
    map_statements,
    over_same_points,
    partial_reduce_statements,
    partial_row_statements,
    recurrence_bodies,
    reduce_statements,
    row_statements,
    scatter_statements,
)
from polymat.codegen.loops.stays import unless_in_place
from polymat.codegen.loops.trailingloops import TrailingLoops
from polymat.codegen.loops.turningloops import in_turns
from polymat.codegen.loops.wholerows import as_one_loop
from polymat.codegen.memory.storage import Buffer
from polymat.errors import InternalError
from polymat.graph.aligned import Member
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import NestPlan
from polymat.poly.ast import from_union_map
from polymat.poly.order import Order
from polymat.tilesize.plain import own_names

_SUMS = {"reduce": reduce_statements, "row": row_statements}


class NestMaker(Protocol):
    """Writes the nest of a stage for one type of plan, as `StageWriter.ranged` does for loops.

    The C function computes the points of the stage whose dimension `along[k]` lies in a range given at run
    time, `Range(k, ...)`, for every k that is not None; any of these ranges may be empty.
    """

    def __call__(
        self, writer: StageWriter, stage: Stage, plan: Any, along: Sequence[str | None], kind: str
    ) -> NestFunction: ...


class StageWriter(NestWriter):
    """Writes the nests of stages of one pipeline.

    makers: who writes the nests of plans that are no loops, by the type of the plan.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        storage: Mapping[str, Buffer],
        names: Names,
        needs: set[Need],
        aliased: set[tuple[str, str]],
        makers: Mapping[type[NestPlan], NestMaker] | None = None,
    ) -> None:
        super().__init__(pipeline, storage, names, needs, aliased)
        self.makers = makers or {}

    def with_storage(self, storage: Mapping[str, Buffer]) -> StageWriter:
        """A writer for the same C file that finds some arrays elsewhere, in the scratchpads of tiles say."""
        other = StageWriter(self.pipeline, storage, self.names, self.needs, self.aliased, self.makers)
        other.texts = self.texts
        return other

    def nests(self, stage: Stage, plan: NestPlan) -> tuple[NestFunction, ...]:
        """The nests of a stage by itself, to be run one after the other."""
        match plan:
            case LoopPlan(kind="recurrence"):
                return (self._recurrence(stage, plan, plan.parallel if plan.outwards else None),)
            case LoopPlan(kind="scatter"):
                return self._scattered(stage, plan)
            case _:
                along = [plan.parallel, *plan.beside] if plan.parallel else []
                return (self.ranged(stage, plan, along),)

    def _scattered(self, stage: Stage, plan: LoopPlan) -> tuple[NestFunction, ...]:
        """The start values of a stage, then what is added wherever the target is."""
        outer = stage.dims[0] if stage.dims else None
        inner = stage.dims[-1] if stage.dims else None
        start = replace(plan, kind="map", order=stage.dims, parallel=outer, vector=inner)
        return (self.ranged(stage, start, [outer] if outer else [], "start"), *self._scatter(stage, plan))

    def ranged(
        self, stage: Stage, plan: NestPlan, along: Sequence[str | None], kind: str = "nest"
    ) -> NestFunction:
        """The nest of a stage over run-time ranges of the given dimensions of its result.

        kind: begins the name of the C function; without underscores, so that no two names are the same.
        Plans that are no loops are written by the maker of their type (`makers`).
        """
        if not isinstance(plan, LoopPlan):
            return self.makers[type(plan)](self, stage, plan, along, kind)
        if plan.kind == "recurrence":
            return self._recurrence(stage, plan, next((dim for dim in along if dim is not None), None), kind)
        if plan.kind == "map":
            maps = partial(map_statements, self.bodies, along=along, order=plan.order, vector=plan.vector)
            make = partial(maps, planes=plan.planes)
        else:
            make = partial(_SUMS[plan.kind], self.bodies, along=along, order=plan.order)
        places = [(k, stage.dims.index(dim)) for k, dim in enumerate(along) if dim is not None]
        return self._independent(stage, plan, make, [Range(k, *stage.box[at]) for k, at in places], kind)

    def partial(self, stage: Stage, plan: NestPlan, along: Sequence[str | None]) -> NestFunction:
        """The nest that accumulates what one part of the reduced dimensions contributes."""
        if not isinstance(plan, LoopPlan):
            return self.makers[type(plan)](self, stage, plan, along, "part")
        ranges = self._part(stage, plan, along)[1]
        return self._independent(stage, plan, lambda item: self._part(item, plan, along)[0], ranges, "part")

    def joint(self, parts: Sequence[tuple[Stage, LoopPlan, Member]]) -> NestFunction:
        """The nest of several sums over the same two loops (`TilePlan.joint`), rows in memory first."""
        written = []
        for stage, plan, member in sorted(parts, key=lambda part: part[1].kind != "row"):
            statements, ranges = self._part(stage, plan, member.dims, whole=not member.private)
            written.append(JointPart(stage, statements, ranges))
        types = {self.bodies.array(name): buffer.dtype.c for name, buffer in self.storage.items()}
        statements, plan = joint_statements(written, self.names, types), parts[0][1]
        first, *others = written
        assert all(other.ranges == first.ranges for other in others), "joint sums have the same ranges"
        vector = statements.levels[-1] if plan.vector else None
        loops = RangedLoops(
            self.bodies,
            self.needs,
            self.pipeline.context,
            replace(plan, vector=vector),
            statements,
            tuple(first.ranges),
        )
        stages = [part.stage for part in written]
        read = [{load.source.name for load in stage.loads()} for stage in stages]
        distinct = set(self.storage) - {stage.name for stage in stages} - set.intersection(*read)
        return self.as_nest(stages, plan, loops.body(), "nest", first.ranges, distinct=distinct)

    def _part(
        self, stage: Stage, plan: LoopPlan, along: Sequence[str | None], *, whole: bool = False
    ) -> tuple[Statements, list[Range]]:
        """A part of a sum over ranges of its loops; whole: with all that is needed to compute a result."""
        accumulation = stage.accumulations[0]
        if plan.kind == "scatter":
            box = dict(zip(accumulation.dims, accumulation.box, strict=True))
            ranges = [Range(k, *box[dim]) for k, dim in enumerate(along) if dim is not None]
            return scatter_statements(self.bodies, stage, (accumulation,), along), ranges
        names = own_names(stage, accumulation)
        own = [names.get(dim, dim) if dim is not None else None for dim in along]
        box = dict(zip(accumulation.dims, accumulation.box, strict=True))
        ranges = [Range(k, *box[dim]) for k, dim in enumerate(own) if dim is not None]
        if whole:
            return _SUMS[plan.kind](self.bodies, stage, along), ranges
        make = partial_reduce_statements if plan.kind == "reduce" else partial_row_statements
        return make(self.bodies, stage, accumulation, own), ranges

    def _scatter(self, stage: Stage, plan: LoopPlan) -> list[NestFunction]:
        nests = []
        along = [plan.parallel] if plan.parallel else []
        for some in over_same_points(stage, plan.parallel, plan.cut):
            first = stage.accumulations[some.start]
            box = dict(zip(first.dims, first.box, strict=True))
            ranges = [Range(0, *box[dim]) for dim in along]

            def make(item: Stage, some: range = some) -> Statements:
                items = [item.accumulations[k] for k in some]
                return scatter_statements(self.bodies, item, items, along, plan.order)

            nest = self._independent(stage, plan, make, ranges, f"add{some.start}")
            nests.append(replace(nest, block=plan.cut))
        return nests

    # ---- from statements to a function ----

    def _independent(
        self,
        stage: Stage,
        plan: LoopPlan,
        make: Callable[[Stage], Statements],
        ranges: Sequence[Range],
        kind: str,
    ) -> NestFunction:
        """make: the statements of the stage, or of the same stage within its segments."""
        statements = make(stage)
        loops = RangedLoops(self.bodies, self.needs, self.pipeline.context, plan, statements, tuple(ranges))

        def ahead(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
            outer = statements.items[0].ranged[ranges[0].number] if plan.ahead and ranges else None
            return body if outer is None else with_prefetch(self.bodies, stage, body, outer, plan)

        if plan.kind == "map":
            body = as_one_loop(PieceLoops(loops, self.size, self.needs, ahead).body())
            body = unless_in_place(body, self._at_one_place(stage))
        else:
            body = self._within_segments(stage, loops, make) or as_one_loop(ahead(loops.body()))
        if plan.vector is not None and plan.kind == "map":
            body = in_rows(self, stage, plan, body)
        if plan.kind == "map":
            body = with_lookups(self, in_words(self, stage, body))
        body = in_registers(self, stage, plan, body)
        if plan.kind == "scatter":
            body = places_first(body, self.bodies.array(stage.name), stage.dtype.c, self.needs)
        body = in_blocks(self, body)
        requests = Requests.of(plan, self.bodies, loops.along)
        if plan.kind == "row" and requests is not None:
            body = asking_rows(body, requests, stage.dtype.size)
        if plan.kind == "reduce":
            body = in_short_sums(self, stage, body, ranges)
            body = with_accumulators(in_lanes(self, stage, plan, body, requests))
        box = stage.domain.assume(self.pipeline.context).is_box()
        nest = self.as_nest((stage,), plan, body, kind, ranges, work="even" if box else "uneven")
        if plan.parallel is None or not ranges or ranges[0].number != 0 or plan.kind == "map":
            return nest
        return replace(nest, balance=rows_of_loop(stage, plan.parallel, self.bodies))

    def _at_one_place(self, stage: Stage) -> set[tuple[str, str]]:
        """The arrays, by their names in C, over which a stage may be written, each with that of the stage."""
        written = self.bodies.array(stage.name)
        return {(self.bodies.array(read), written) for read, name in self.aliased if name == stage.name}

    def _within_segments(
        self, stage: Stage, loops: RangedLoops, make: Callable[[Stage], Statements]
    ) -> tuple[Stmt, ...] | None:
        """The loops between bounds that data give, where points run one by one; None of other stages."""
        if stage.segments is None or loops.plan.unroll > 1 or loops.plan.addends > 1:
            return None
        body = replace(loops, statements=make(without_choice(stage))).body()
        return between_bounds(body, stage, self.bodies, self.needs, self.checks)

    def _recurrence(
        self, stage: Stage, plan: LoopPlan, along: str | None, kind: str = "nest"
    ) -> NestFunction:
        """All loops of a recurrence: for a part of the range of a dimension, or for all points in a team."""
        if plan.recurrence is None:
            raise InternalError(f"bug in polymat: the recurrence {stage.name} has no order")
        if along is not None:
            return self._recurrence_part(stage, plan, plan.recurrence, along, kind)
        parallel = plan.recurrence.parallel
        outermost = next((k for k, flag in enumerate(parallel) if flag), None)

        def pragmas(depth: int, innermost: bool) -> tuple[Pragma, ...]:
            if depth == outermost and plan.parallel is not None and plan.trailing is None:
                return (SharedOut("_pm_threads", innermost),)
            return (VECTORS,) if innermost and parallel[depth] else ()

        order = plan.recurrence
        items = recurrence_bodies(self.bodies, stage, alone=order.runs_alone)
        loops = LoopWriter if plan.trailing is None else TrailingLoops
        writer = loops(items, self.bodies.index_name, pragmas, self.needs)
        nests = from_union_map(order.schedule, self.pipeline.context, plan.order, turns=order.turns)
        return self.as_nest((stage,), plan, in_turns(self, stage, plan, writer.block(nests)), kind, ())

    def _recurrence_part(
        self, stage: Stage, plan: LoopPlan, order: Order, along: str, kind: str
    ) -> NestFunction:
        """All loops of a recurrence, for a part of the range of a dimension given at run time."""
        level = stage.dims.index(along)
        part = Range(0, *stage.box[level])

        def pragmas(depth: int, innermost: bool) -> tuple[Pragma, ...]:
            return (VECTORS,) if innermost and order.parallel[depth] else ()

        items = recurrence_bodies(self.bodies, stage, alone=order.runs_alone)
        writer = LoopWriter(items, self.bodies.index_name, pragmas, self.needs)
        context = range_context(self.pipeline.context, [part])
        nests = from_union_map(order.part(level, part.begin, part.end), context, plan.order)
        work: Work = "even" if stage.domain.assume(self.pipeline.context).is_box() else "uneven"
        return self.as_nest((stage,), plan, writer.block(nests), kind, [part], work=work)
