"""Which slices wait for blocks of steps (`polymat.graph.waits`), and the loops of steps over some slices.

That pays where all slices together leave the first-level cache, or the cache of a core, at each step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from math import prod

from polymat.dataclass import dataclass
from polymat.graph.pipeline import Pipeline
from polymat.graph.sectionchanges import Held, Instead, rewritten, within
from polymat.graph.stage import Stage, ends
from polymat.graph.stepwise import ONE, ArrayView, HeldArray, Steps, StepSection, Stepwise
from polymat.graph.waited import Slices, WaitingSlices
from polymat.graph.waits import read_by_slices, slices_of_step
from polymat.lang.affine import Affine
from polymat.machine.model import Machine
from polymat.model.assumed import assumed_sizes
from polymat.plan.loops import LoopPlan
from polymat.plan.tile import Plan
from polymat.tilesize.cost import plan_cost
from polymat.tilesize.home import Home
from polymat.tilesize.register import ROWS_REDUCED
from polymat.tilesize.schemetiles import says_any
from polymat.tilesize.stagework import ROW_LOOP_SHARE, VECTOR_SHARE
from polymat.tilesize.stateplanes import kept_in_place
from polymat.tilesize.stripjoins import joined_strips
from polymat.tilesize.traffic import array_bytes

STEPS = 16  # of a block: its own slices, as many, are computed step by step
LINES = 2  # of the cache: as many slices as they have elements are what loops of a fixed length run over
ROOM_SHARE = 0.75  # of the first-level cache, for slices in work: what they read of the block passes through
LEAST_SHARE = 1.5  # of the first-level cache: all slices that are no larger stay there anyway
APART = 2.5  # times slower than rows one after the other: parts of rows beyond the first-level cache
CLEARLY = 0.85  # of the time of steps one by one: slices that wait have to be so much quicker, by prediction
KINDS = ("map", "reduce", "row")  # of loops that run over parts of a dimension, in any order

Ways = Callable[[Pipeline, str], Sequence[Plan]]


@dataclass(frozen=True, slots=True, eq=False)
class Waits:
    """Decides about the steps of a program, within a slice that threads share for one thread.

    ways: the plans of a stage of a pipeline by itself.  predict: the seconds of a pipeline.
    given: schemes of stages by the user; steps that would have other loops are taken one by one.
    """

    machine: Machine
    estimates: Mapping[str, int]
    threads: int
    ways: Ways
    predict: Callable[[Pipeline], float]
    given: Mapping[str, str] = field(default_factory=dict)

    def decided(self, stepwise: Stepwise[Pipeline]) -> Stepwise[Pipeline]:
        """Let slices wait where blocks of steps are predicted to take clearly less.

        before:  for each step: all slices
        after:   for each block of steps: its own slices; then some slices at a time, in all steps
        """

        def waiting(section: StepSection[Pipeline], held: Held) -> Instead | None:
            level = section.level
            if isinstance(level, Stepwise):
                alone = replace(self, threads=1) if section.independent else self
                return within(section, alone.decided)
            slices = None if level.apart or level.others else slices_of_step(section, held)
            made = None if slices is None else _waiting(section, slices, held, self.machine)
            if made is None or not (self._heeds(made[0]) and self._pays(level, made[0], stepwise.whole)):
                return None
            return Instead((made[0],), made[1])

        return rewritten(stepwise, waiting)

    def _heeds(self, section: StepSection[Pipeline]) -> bool:
        """Whether stages have the loops that somebody gave them, if so, where slices wait."""
        level = section.level
        assert isinstance(level, Pipeline)
        if self.given.keys().isdisjoint(stage.name for stage in level.stages):
            return True
        loops = loops_of_slices(level, self.ways) or ()
        heeding = [says_any(plan, name, self.given.get(name)) for plan in loops for name in plan.group.stages]
        return bool(loops) and all(heeding)

    def _pays(self, before: Pipeline, section: StepSection[Pipeline], whole: Pipeline) -> bool:
        """Whether all slices are predicted to take clearly less in blocks of steps."""
        level, waiting = section.level, section.together
        assert isinstance(level, Pipeline)
        assert isinstance(waiting, WaitingSlices)
        assert section.steps is not None
        sizes = assumed_sizes(level, self.estimates)
        lows, highs = waiting.span
        far = max(form.evaluate(sizes) for form in highs) + 1 - min(form.evaluate(sizes) for form in lows)
        slice_bytes = _slice_bytes(waiting, sizes)
        steps = len(section.steps.numbers(assumed_sizes(whole, self.estimates)))
        if far * slice_bytes <= waiting.least or min(steps, far) < 2 * waiting.steps:
            return False
        plans = _loops(level, self.ways)
        if plans is None:
            return False
        near = 1 if slice_bytes * waiting.slices.wide <= waiting.room else 2
        waits, goes = self._seconds(level, plans, near, waiting.steps, sizes)
        return waits < CLEARLY * min(goes, self.predict(before))

    def _seconds(
        self, level: Pipeline, plans: Sequence[LoopPlan], near: int, steps: int, sizes: Mapping[str, int]
    ) -> tuple[float, float]:
        """Of a step with slices that wait, and of one through all of them.

        What slices need comes from a cache near by, and once a block from where it lives; sums over rows stay
        in registers, and rows that are added up where they are made do until then.  What has no slices reads
        those of the block, which are near by and few.
        """
        assert level.waiting is not None
        home, machine = Home.of(level, self.machine, sizes), self.machine
        made = {each.added: level.stage(each.made) for each in joined_strips(level, plans)}
        waits = goes = 0.0
        for plan in plans:
            stage, cost = level.stage(plan.group.stages[-1]), plan_cost(level, plan, machine, sizes, 1, home)
            if level.waiting.place(stage.name) is None:
                waits, goes = waits + cost.computing, goes + cost.computing
                continue
            goes += min(cost.seconds, plan_cost(level, plan, machine, sizes, self.threads, home).seconds)
            in_registers = stage.is_reduction and stage.dtype.kind == "f"
            faster = VECTOR_SHARE / ROW_LOOP_SHARE if in_registers else 1.0
            moved = cost.bytes - (array_bytes(made[stage.name], sizes) if stage.name in made else 0.0)
            moving = moved / machine.bandwidth(near) * (APART if near > 1 else 1.0)
            if home.level > near:
                moving += home.seconds(moved / steps, machine, self.threads) * self.threads
            waits += replace(cost, computing=cost.computing * faster, moving=moving).seconds / self.threads
        return waits, goes


def _slice_bytes(waiting: WaitingSlices, sizes: Mapping[str, int]) -> float:
    arrays = ((each, [max(form.evaluate(sizes), 0) for form in forms]) for each, forms in waiting.arrays)
    return float(sum(each * prod(extents) for each, extents in arrays))


def _waiting(
    section: StepSection[Pipeline], slices: Slices, held: Held, machine: Machine
) -> tuple[StepSection[Pipeline], Held] | None:
    """A section whose slices wait, with the arrays that change for that; None where something allows none.

    All that stages tell each other is in arrays between the sections then.  What slices read that have none
    has a plane for each step of a block.
    """
    level, steps = section.level, section.steps
    assert isinstance(level, Pipeline)
    assert steps is not None
    span = ends(level.stage(name).box[place] for name, place in slices.stages)
    if any(steps.name in form.names() for side in span for form in side):
        return None
    whole = {stage.name for stage in read_by_slices(section, slices)}
    views = dict(zip(level.outputs, section.outputs, strict=True))
    changed: dict[str, HeldArray] = {}
    for stage in level.stages:
        if stage.name not in views:
            made = _told(level, stage, steps, held, stage.name in whole)
            if made is None:
                return None
            changed[made.name] = made
            views[stage.name] = ArrayView(made.name, Affine.name(steps.name))
        elif stage.name in whole and held[views[stage.name].array].is_folded:
            old = held[views[stage.name].array]
            changed[old.name] = replace(old, planes=old.planes + STEPS)
    states = {name: old for name, old in level.states.items() if name not in whole}
    slices = _in_lines(slices, max(level.stage(name).dtype.size for name, _ in slices.stages), machine)
    alone = replace(level, outputs=tuple(views), states=states, apart=True, waiting=slices)
    waiting = WaitingSlices(
        slices,
        span,
        tuple(_arrays(alone, slices, views, {**held, **changed})),
        steps=STEPS,
        room=int(ROOM_SHARE * machine.l1_bytes),
        least=int(LEAST_SHARE * machine.l1_bytes),
    )
    return replace(section, level=alone, outputs=tuple(views.values()), together=waiting), changed


def _in_lines(slices: Slices, size: int, machine: Machine) -> Slices:
    """Slices of elements of so many bytes with their loops: over lines of the cache, in vectors."""
    wide = LINES * machine.line_bytes // size
    return replace(slices, wide=wide, lanes=min(machine.lanes(size), wide))


def _told(level: Pipeline, stage: Stage, steps: Steps, held: Held, of_block: bool) -> HeldArray | None:
    """The array of a stage that only others of the same step read; None where it has negative indices."""
    for dim in stage.dims:
        if not stage.domain.assume(level.context).at_least_zero([-Affine.name(dim) - 1]).is_empty():
            return None
    name, number = stage.name, 1
    while name in held:
        name, number = f"{stage.name}_{number}", number + 1
    count = steps.last[0] - steps.first[0] + 1
    planes = Affine((), STEPS + 1) if of_block else ONE
    if count == planes:
        return None
    return HeldArray(name, stage.dtype, "workspace", stage.extents, steps.first[0], planes, count)


def _arrays(
    level: Pipeline, slices: Slices, views: Mapping[str, ArrayView], held: Held
) -> Iterator[tuple[int, tuple[Affine, ...]]]:
    """The bytes of an element of what slices have, of all its planes, and the extents of one slice."""
    once = {stage.name for stage, _ in kept_in_place(level)}
    for name, place in slices.stages:
        stage, each = level.stage(name), held[views[name].array]
        several = each.planes.const if each.is_folded and each.planes.is_constant and name not in once else 1
        yield stage.dtype.size * several, (*stage.extents[:place], *stage.extents[place + 1 :])


def loops_of_slices(pipeline: Pipeline, ways: Ways) -> tuple[LoopPlan, ...] | None:
    """The loops of the stages of a step whose slices wait, of some slices where stages have any.

    None where one of them has no loops that are independent of each other, or none waits.
    """
    slices = pipeline.waiting
    plans = None if slices is None else _loops(pipeline, ways)
    if slices is None or plans is None:
        return None
    pairs = zip(pipeline.stages, plans, strict=True)
    return tuple(_over_slices(stage, plan, slices.place(stage.name)) for stage, plan in pairs)


def _loops(pipeline: Pipeline, ways: Ways) -> tuple[LoopPlan, ...] | None:
    """The loops of each stage by itself; None where one has none that are independent of each other."""
    found = []
    for stage in pipeline.stages:
        plans = (plan.part(stage.name) for plan in ways(pipeline, stage.name))
        plan = next((each for each in plans if isinstance(each, LoopPlan) and each.kind in KINDS), None)
        if plan is None or stage.segments is not None:
            return None
        found.append(plan)
    return tuple(found)


def _over_slices(stage: Stage, plan: LoopPlan, place: int | None) -> LoopPlan:
    """The loops of a stage over some slices, or over all there is of it."""
    if place is None:
        return plan
    some = replace(plan, parallel=stage.dims[place], ahead=0, streamed=0, cut=1, within=())
    if plan.kind == "row" and len(stage.dims) == 1:
        return replace(some, unroll=1, addends=ROWS_REDUCED)
    return replace(some, unroll=1) if plan.kind == "map" else some
