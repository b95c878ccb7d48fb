"""The figures of a group at some sizes: its price, its operations, and what its tiles touch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from polymat.dataclass import dataclass
from polymat.decide.followedcosts import FollowedCosts
from polymat.fusion.alignment import align
from polymat.fusion.legality import live_outs
from polymat.fusion.reads import Reads
from polymat.graph.pipeline import Pipeline
from polymat.machine.model import Machine
from polymat.model.describe import stage_nest
from polymat.model.footprint import bytes_touched
from polymat.model.loopnest import LoopNest
from polymat.model.movement import Movement
from polymat.plan.registerblocks import own_kernel
from polymat.plan.tile import Plan, TilePlan
from polymat.tilesize.cost import PlanCost, plan_cost
from polymat.tilesize.decision import decision
from polymat.tilesize.home import Home
from polymat.tilesize.kernelplanner import blocking_of
from polymat.tilesize.paperplan import aligned_nest


def nest_of(pipeline: Pipeline, reads: Reads, stages: Sequence[str], sizes: Mapping[str, int]) -> LoopNest:
    """The nest of the stages of a group, as the models see it."""
    found = [pipeline.stage(name) for name in stages]
    if len(found) == 1:
        return stage_nest(found[0], sizes)
    names = tuple(stages)
    return aligned_nest(found, align(reads, names), live_outs(reads, names), sizes)


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A part of a group that is computed at a time, in words, and the bytes that it touches."""

    what: str
    bytes: float


@dataclass(frozen=True, slots=True, eq=False)
class GroupFigures:
    """The figures that models have for a group at some sizes.

    cost: of its plan.  flops: operations of the definition; None where it is computed in another way, as
    transforms are.  pieces: that caches should hold, innermost first.  whole: bytes of everything that it
    touches.  movement: bytes out of every level of memory; None where the models of loops do not know them.
    element_bytes: of the widest number.
    """

    cost: PlanCost
    flops: float | None
    pieces: tuple[Held, ...]
    whole: float
    movement: Movement | None
    element_bytes: int


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """Answers for the groups of a pipeline at some sizes.

    together: where several steps of it run together, and costs: what its plans then cost, by their stages.
    """

    pipeline: Pipeline
    reads: Reads
    machine: Machine
    sizes: Mapping[str, int]
    threads: int
    home: Home
    together: FollowedCosts | None = None
    costs: Mapping[tuple[str, ...], PlanCost] = field(default_factory=dict)

    @staticmethod
    def at(pipeline: Pipeline, machine: Machine, sizes: Mapping[str, int], threads: int) -> Figures:
        """For these sizes, of all that the pipeline has, on so many threads."""
        home = Home.of(pipeline, machine, sizes, as_measured=True)
        return Figures(pipeline, Reads.of(pipeline), machine, sizes, threads, home)

    def chosen(self, plan: Plan) -> PlanCost:
        """The predicted time of a plan of the schedule, of a step together with others where that is so."""
        found = self.costs.get(plan.group.stages)
        return self.price(plan) if found is None else found

    def price(self, plan: Plan) -> PlanCost:
        """The predicted time of a plan, of a step by itself."""
        return plan_cost(self.pipeline, plan, self.machine, self.sizes, self.threads, self.home)

    def of(self, plan: Plan) -> GroupFigures:
        """All figures of the group of a plan."""
        stages = [self.pipeline.stage(name) for name in plan.group.stages]
        nest = nest_of(self.pipeline, self.reads, plan.group.stages, self.sizes)
        cost = self.chosen(plan)
        told = decision(
            plan, nest, stages, self.machine, self.sizes, self.threads, terms="", seconds=cost.seconds
        )
        pieces = tuple(Held(what, _bytes(nest, sizes)) for what, sizes in self._pieces(plan, nest))
        return GroupFigures(
            cost,
            self._flops(plan, nest),
            pieces,
            _bytes(nest, nest.extents),
            self._movement(told.movement) if plan.by_definition else None,
            max((r.element_bytes // r.parts for r in nest.references()), default=8),
        )

    def _movement(self, alone: Movement) -> Movement:
        return alone if self.together is None else self.together.movement(alone)

    def _flops(self, plan: Plan, nest: LoopNest) -> float | None:
        """Operations of the stages that are computed at all points."""
        if plan.at_few_points:
            stages = tuple(name for name in plan.group.stages if name not in plan.at_few_points)
            nest = nest_of(self.pipeline, self.reads, stages, self.sizes)
        return nest.flops if plan.counts_as_defined else None

    def _pieces(self, plan: Plan, nest: LoopNest) -> Iterator[tuple[str, dict[str, int]]]:
        """Parts of the nest that are computed at a time, innermost first, and how long they are."""
        extents = nest.extents
        kernel = own_kernel(plan)
        if isinstance(plan, TilePlan):
            if plan.by_definition:
                sizes = {d: min(size, extents[d]) for d, size in plan.tile_sizes.items() if d in extents}
                yield "one tile", extents | sizes
        elif kernel is not None and not kernel.pairs and {*kernel.contraction.bounds} == {*extents}:
            _, (inner, outer) = blocking_of(kernel, self.sizes).bands(extents)
            yield "one register block", extents | outer | inner
            yield "one block of the operands", extents | outer
        elif plan.order and plan.order[0] in extents and len(extents) > 1:
            yield f"one iteration of {plan.order[0]}", extents | {plan.order[0]: 1}


def _bytes(nest: LoopNest, sizes: Mapping[str, int]) -> float:
    return sum(bytes_touched(group, dict(sizes)) for group in nest.classes)
