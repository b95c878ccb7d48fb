"""Stages as C functions over ranges of their dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from polymat.codegen.c.cnames import Names
from polymat.codegen.c.ctree import (
    Binary,
    Cast,
    CExpr,
    Evaluate,
    Function,
    Id,
    Parameter,
    Stmt,
    names_in,
)
from polymat.codegen.c.rows import RowTypes
from polymat.codegen.loops.accumulators import with_accumulators
from polymat.codegen.loops.bodies import BodyWriter
from polymat.codegen.loops.extremes import with_extremes
from polymat.codegen.loops.jam import RangedLoops
from polymat.codegen.loops.joint import Part, joint_statements
from polymat.codegen.loops.lanesums import LEAST_LANES, with_lane_sums
from polymat.codegen.loops.nest import LoopWriter
from polymat.codegen.loops.nestfunction import Nest, Work, describe
from polymat.codegen.loops.prefetch import with_prefetch
from polymat.codegen.loops.quotients import split_by_quotient
from polymat.codegen.loops.ranges import Range, range_context
from polymat.codegen.loops.remainders import split_by_remainder
from polymat.codegen.loops.shifted import with_shifts
from polymat.codegen.loops.singlesums import with_single_sums
from polymat.codegen.loops.statements import (
    Statements,
    map_statements,
    partial_reduce_statements,
    partial_row_statements,
    recurrence_bodies,
    reduce_statements,
    row_statements,
    scatter_statements,
)
from polymat.codegen.loops.streamed import exceeds, with_streams
from polymat.codegen.memory.storage import TILE, Buffer
from polymat.errors import InternalError
from polymat.graph.alignment import Member
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.sharing import written_size
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import NestPlan
from polymat.poly.ast import from_union_map
from polymat.poly.order import Order
from polymat.tilesize.plain import own_names

_SUMS = {"reduce": reduce_statements, "row": row_statements}
# Operations of one point of a map.  Above the first number, arithmetic takes far longer than storing the
# result, whatever way it goes to memory; above the second, the C compiler takes long for every copy of them.
_MOST_STREAMED, _MOST_SHIFTED = 200, 1000


class NestMaker(Protocol):
    """Writes the nest of a stage for one type of plan, as `StageWriter.ranged` does for loops.

    The C function computes the points of the stage whose dimension `along[k]` lies in a range given at run
    time, `Range(k, ...)`, for every k that is not None; any of these ranges may be empty.
    """

    def __call__(
        self, writer: StageWriter, stage: Stage, plan: Any, along: Sequence[str | None], kind: str
    ) -> Nest: ...


class StageWriter:
    """Writes the nests of stages of one pipeline.

    texts: C functions that nests call and that are text already, by name.
    fences: None, or what nests that write past the caches leave to be run behind all of them.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        storage: Mapping[str, Buffer],
        names: Names,
        needs: set[str],
        aliased: set[tuple[str, str]],
        makers: Mapping[type[NestPlan], NestMaker] | None = None,
    ) -> None:
        self.pipeline = pipeline
        self.storage = storage
        self.names = names
        self.needs = needs
        self.texts: dict[str, str] = {}
        self.aliased = aliased
        self.makers = makers or {}
        self.fences: dict[str, Stmt] | None = None
        self.bodies = BodyWriter(pipeline, storage, names, needs)

    def with_storage(self, storage: Mapping[str, Buffer]) -> StageWriter:
        """A writer for the same C file that finds some arrays elsewhere, in the scratchpads of tiles say."""
        other = StageWriter(self.pipeline, storage, self.names, self.needs, self.aliased, self.makers)
        other.texts = self.texts
        return other

    def size(self, form: Affine) -> CExpr:
        """A form over the sizes in C."""
        return self.bodies.size(form)

    def nests(self, stage: Stage, plan: NestPlan) -> tuple[Nest, ...]:
        """The nests of a stage by itself, to be run one after the other."""
        if not isinstance(plan, LoopPlan):
            return (self.ranged(stage, plan, [plan.parallel] if plan.parallel else []),)
        if plan.kind == "recurrence":
            return (self._recurrence(stage, plan, plan.parallel if plan.outwards else None),)
        if plan.kind != "scatter":
            return (self.ranged(stage, plan, [plan.parallel] if plan.parallel else []),)
        outer = stage.dims[0] if stage.dims else None
        inner = stage.dims[-1] if stage.dims else None
        start = replace(plan, kind="map", order=stage.dims, parallel=outer, vector=inner)
        return (self.ranged(stage, start, [outer] if outer else [], "start"), *self._scatter(stage, plan))

    def ranged(self, stage: Stage, plan: NestPlan, along: Sequence[str | None], kind: str = "nest") -> Nest:
        """The nest of a stage over run-time ranges of the given dimensions of its result.

        kind: begins the name of the C function; without underscores, so that no two names are the same.
        Plans that are no loops are written by the maker of their type (`makers`).
        """
        if not isinstance(plan, LoopPlan):
            return self.makers[type(plan)](self, stage, plan, along, kind)
        if plan.kind == "recurrence":
            return self._recurrence(stage, plan, next((dim for dim in along if dim is not None), None), kind)
        if plan.kind == "map":
            statements = map_statements(self.bodies, stage, along, plan.order)
        else:
            statements = _SUMS[plan.kind](self.bodies, stage, along)
        box = dict(zip(stage.dims, stage.box, strict=True))
        ranges = [Range(k, *box[dim]) for k, dim in enumerate(along) if dim is not None]
        return self._independent(stage, plan, statements, ranges, kind)

    def partial(self, stage: Stage, plan: NestPlan, along: Sequence[str | None]) -> Nest:
        """The nest that accumulates what one part of the reduced dimensions contributes."""
        if not isinstance(plan, LoopPlan):
            return self.makers[type(plan)](self, stage, plan, along, "part")
        statements, ranges = self._part(stage, plan, along)
        return self._independent(stage, plan, statements, ranges, "part")

    def joint(self, parts: Sequence[tuple[Stage, LoopPlan, Member]]) -> Nest:
        """The nest of several sums over the same two loops (`TilePlan.joint`), rows in memory first."""
        written = []
        for stage, plan, member in sorted(parts, key=lambda part: part[1].kind != "row"):
            statements, ranges = self._part(stage, plan, member.dims, whole=not member.private)
            written.append(Part(stage, statements, ranges))
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
        names = own_names(stage, accumulation)
        own = [names.get(dim, dim) if dim is not None else None for dim in along]
        box = dict(zip(accumulation.dims, accumulation.box, strict=True))
        ranges = [Range(k, *box[dim]) for k, dim in enumerate(own) if dim is not None]
        if whole:
            return _SUMS[plan.kind](self.bodies, stage, along), ranges
        make = partial_reduce_statements if plan.kind == "reduce" else partial_row_statements
        return make(self.bodies, stage, accumulation, own), ranges

    def _scatter(self, stage: Stage, plan: LoopPlan) -> list[Nest]:
        nests = []
        for k, accumulation in enumerate(stage.accumulations):
            along = [plan.parallel] if plan.parallel else []
            box = dict(zip(accumulation.dims, accumulation.box, strict=True))
            ranges = [Range(0, *box[dim]) for dim in along]
            statements = scatter_statements(self.bodies, stage, accumulation, along)
            nests.append(self._independent(stage, plan, statements, ranges, f"add{k}"))
        return nests

    # ---- from statements to a function ----

    def _independent(
        self, stage: Stage, plan: LoopPlan, statements: Statements, ranges: Sequence[Range], kind: str
    ) -> Nest:
        loops = RangedLoops(self.bodies, self.needs, self.pipeline.context, plan, statements, tuple(ranges))
        body = loops.body()
        if plan.ahead and ranges and (outer := statements.items[0].ranged[ranges[0].number]) is not None:
            body = with_prefetch(self.bodies, stage, body, outer, plan.ahead)
        if plan.lanes > 1 and plan.kind == "map":
            body = self._in_rows(stage, plan, body)
        body = self._in_blocks(body)
        if plan.kind == "reduce":
            body = with_accumulators(self._in_lanes(stage, plan, body))
        box = stage.domain.assume(self.pipeline.context).is_box()
        return self.as_nest((stage,), plan, body, kind, ranges, work="even" if box else "uneven")

    def _in_blocks(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The loops with those blocked whose index is divided."""
        found = split_by_quotient(split_by_remainder(body))
        if found != body:
            self.needs.update({"min_i64", "max_i64"})
        return found

    def _in_rows(self, stage: Stage, plan: LoopPlan, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The loops of a map with its rows in explicit vectors, where that pays and is possible."""
        types = RowTypes.of(stage.dtype, plan.lanes)
        read = {load.source.name for load in stage.loads()}
        if types is None or any(self.storage[name].dtype != stage.dtype for name in read):
            return body
        written = max(written_size(part.expr) for part in stage.parts)
        if written > _MOST_SHIFTED:
            return body
        target = self.bodies.array(stage.name)
        together = {first for first, second in self.aliased if second == stage.name}
        distinct = {self.bodies.array(name) for name in read - together} - {target}
        scalars = {self.names.get("scalar", s.name) for s in self.pipeline.scalars if s.dtype == stage.dtype}
        if plan.streamed and written <= _MOST_STREAMED:
            past = exceeds(self.size, [self.storage[stage.name]], plan.streamed)
            same = {self.bodies.array(name) for name in read & together}
            for array in sorted(same):  # what is read anyway is in the cache
                past = Binary("&&", past, Binary("!=", Id(array), Id(target)))
            lines = with_streams(body, types, scalars, distinct, same, past, fence=self.fences is None)
            if lines is not None:
                if self.fences is not None:
                    self.fences[types.suffix] = Evaluate(types.streamed())
                body = lines
                self.needs.update({types.need, types.lines_need, "min_i64", "place"})
        found = with_shifts(body, types, scalars, distinct)
        if found is None:
            return body
        self.needs.update({types.need, "min_i64"})
        return found

    def _in_lanes(self, stage: Stage, plan: LoopPlan, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The loops of a sum with those around one or several sums in explicit vectors."""
        types = RowTypes.of(stage.dtype, plan.lanes)
        if types is None or types.lanes < LEAST_LANES:
            return body
        read = {load.source.name for load in stage.loads()}
        arrays = {self.bodies.array(name) for name in read if self.storage[name].dtype == stage.dtype}
        if (several := with_lane_sums(body, types, arrays)) is not None:
            self.needs.update({types.need, types.sums_need})
        body = several or body
        if (single := with_single_sums(body, types, arrays)) is not None:
            self.needs.update({types.need, types.total_need})
        body = single or body
        if (compared := with_extremes(body, types, arrays)) is not None:
            both = {f"{op}_{types.suffix}" for op in ("min", "max")}
            self.needs.update({types.need, types.total_need, types.extremes_need, "min_i64", *both})
        return compared or body

    def _recurrence(self, stage: Stage, plan: LoopPlan, along: str | None, kind: str = "nest") -> Nest:
        """All loops of a recurrence: for a part of the range of a dimension, or for all points in a team."""
        if plan.recurrence is None:
            raise InternalError(f"bug in polymat: the recurrence {stage.name} has no order")
        if along is not None:
            return self._recurrence_part(stage, plan, plan.recurrence, along, kind)
        parallel = plan.recurrence.parallel
        outermost = next((k for k, flag in enumerate(parallel) if flag), None)

        def pragmas(depth: int, innermost: bool) -> tuple[str, ...]:
            if depth == outermost:
                simd = "simd " if innermost else ""
                return (f"omp parallel for {simd}num_threads(_pm_threads) if(_pm_threads > 1)",)
            return ("omp simd",) if innermost and parallel[depth] else ()

        items = recurrence_bodies(self.bodies, stage)
        writer = LoopWriter(items, self.bodies.index_name, pragmas, self.needs)
        nests = from_union_map(plan.recurrence.schedule, self.pipeline.context, plan.order)
        return self.as_nest((stage,), plan, writer.block(nests), kind, ())

    def _recurrence_part(self, stage: Stage, plan: LoopPlan, order: Order, along: str, kind: str) -> Nest:
        """All loops of a recurrence, for a part of the range of a dimension given at run time."""
        level = stage.dims.index(along)
        part = Range(0, *stage.box[level])

        def pragmas(depth: int, innermost: bool) -> tuple[str, ...]:
            return ("omp simd",) if innermost and order.parallel[depth] else ()

        writer = LoopWriter(
            recurrence_bodies(self.bodies, stage), self.bodies.index_name, pragmas, self.needs
        )
        context = range_context(self.pipeline.context, [part])
        nests = from_union_map(order.part(level, part.begin, part.end), context, plan.order)
        work: Work = "even" if stage.domain.assume(self.pipeline.context).is_box() else "uneven"
        return self.as_nest((stage,), plan, writer.block(nests), kind, [part], work=work)

    def as_nest(
        self,
        stages: Sequence[Stage],
        plan: NestPlan,
        body: tuple[Stmt, ...],
        kind: str,
        ranges: Sequence[Range],
        *,
        work: Work = "even",
        distinct: set[str] | None = None,
    ) -> Nest:
        """The C function around a body; its parameters are what the body uses, then the ranges.

        distinct: the arrays of which it is said that they do not overlap others; None: all.  Of an array that
        is distinct from what is written the C compiler loads an element that is used twice a second time, to
        save a register.
        """
        used = names_in(body)
        distinct = set(self.storage) if distinct is None else distinct
        parameters, arguments = self.passed({stage.name for stage in stages}, used, distinct)
        for item in ranges:
            start = item.start if item.start in used else item.begin
            parameters += [Parameter("const ptrdiff_t", name) for name in (start, item.end)]
        if plan.kind == "recurrence" and not ranges:
            parameters.append(Parameter("const int", "_pm_threads"))
            body = body if plan.parallel else (Evaluate(Cast("void", Id("_pm_threads"))), *body)
        name = f"_pm_{kind}_{stages[0].name}"
        comment = "\n".join(describe(stage, plan) for stage in stages)
        function = Function("void", name, tuple(parameters), body, comment)
        blocks = any(item.start in used for item in ranges)
        block = plan.unroll if isinstance(plan, LoopPlan) and blocks else 1
        return Nest(function, tuple(arguments), tuple(ranges), work, block)

    def passed(
        self, written: set[str], used: set[str], distinct: set[str]
    ) -> tuple[list[Parameter], list[CExpr]]:
        """The parameters that a nest needs, and what is passed for them; two stages may share an array."""
        both = [pair for pair in self.aliased if pair[1] in written and self.bodies.array(pair[0]) in used]
        aliased = {name for pair in both for name in pair} | (set(self.storage) - distinct)
        arrays: dict[str, str] = {}
        for name in self.storage:
            arrays.setdefault(self.bodies.array(name), name)
        changed = {self.bodies.array(name) for name in written if name in self.storage}
        found = [
            Parameter(self._pointer(name, array in changed, aliased), array) for array, name in arrays.items()
        ]
        found += [Parameter("const ptrdiff_t", self.names.get("size", s.name)) for s in self.pipeline.sizes]
        for scalar in self.pipeline.scalars:
            found.append(Parameter(f"const {scalar.dtype.c}", self.names.get("scalar", scalar.name)))
        found += [Parameter("const ptrdiff_t", name) for name in sorted(used) if name.startswith(TILE)]
        kept = [parameter for parameter in found if parameter.name in used]
        return kept, [Id(parameter.name) for parameter in kept]

    def _pointer(self, name: str, written: bool, aliased: set[str]) -> str:
        buffer = self.storage[name]
        const = "" if written else "const "
        restrict = "" if name in aliased else "restrict "
        return f"{const}{buffer.dtype.c} *{restrict}"
