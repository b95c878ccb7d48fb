"""Plans of groups by their names, and with other tiles and blocks: decisions that somebody else made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf

from polymat.decide.decider import Decider
from polymat.errors import OptionError, PolymatError, counted
from polymat.graph.group import Group, Grouping
from polymat.graph.pipeline import Pipeline
from polymat.graph.selection import GroupChoice, Selection
from polymat.model.extents import tile_size
from polymat.plan.epilogue import EpiloguePlan
from polymat.plan.kernel import KernelPlan
from polymat.plan.nest import MergedPlan
from polymat.plan.registerblocks import kernel_of
from polymat.plan.schedule import Schedule
from polymat.plan.schemeplan import SchemePlan
from polymat.plan.tile import Plan, TilePlan
from polymat.product.blocks import holds
from polymat.product.scheme import Scheme
from polymat.tilesize.kernelplanner import described, kernel_operations
from polymat.tilesize.switches import MOST_SCRATCH_BYTES
from polymat.tilesize.tileshape import on_grid

TUNED = "chosen by measuring"
BY_SCHEME = "scheme"  # the way of a contraction in loops of its own
AT_ALL_SIZES = "at all sizes"  # of library calls, whatever they are predicted to take


class UnfitError(PolymatError):
    """A choice is for another program than this one."""


class Ways:
    """The plans of the groups of one pipeline, by names that stay the same from one compilation to another.

    always: decides the same where libraries are called wherever there may be a call.
    """

    def __init__(self, decider: Decider, always: Decider) -> None:
        self.decider = decider
        self.always = always
        self._known: dict[tuple[str, ...], dict[str, Plan]] = {}
        self._listed: dict[tuple[str, ...], tuple[GroupChoice, ...]] = {}

    @property
    def pipeline(self) -> Pipeline:
        """The pipeline of all of them."""
        return self.decider.pipeline

    def listed(self, stages: tuple[str, ...]) -> tuple[GroupChoice, ...]:
        """How a group may be computed, the best by prediction first; nothing where it may not be."""
        if stages not in self._listed:
            self._list(stages)
        return self._listed[stages]

    def plan(self, chosen: GroupChoice) -> Plan:
        """The plan of a choice; an `UnfitError` where the group has none of that name."""
        if chosen.scheme:
            return self._by_scheme(chosen)
        self.listed(chosen.stages)
        plan = self._known[chosen.stages].get(chosen.way)
        if plan is None:
            raise UnfitError(f"{'+'.join(chosen.stages)} cannot be computed as {chosen.way}")
        plan = with_tiles(plan, chosen.sizes, self.pipeline) if chosen.sizes else plan
        return self._with_blocks(plan, chosen) if chosen.blocks else plan

    def modelled(self, stages: tuple[str, ...]) -> SchemePlan | None:
        """The plan of a contraction by the scheme of the model of data movement, where one may be tried."""
        planner = self.decider.candidates.planner
        return planner.modelled(stages[0]) if len(stages) == 1 and planner.is_open(stages[0]) else None

    def ranked(self, stages: tuple[str, ...]) -> tuple[Scheme, ...]:
        """The schemes of a contraction as the ranker orders variants of the model's; empty of others."""
        if self.modelled(stages) is None:
            return ()
        return self.decider.candidates.planner.ranked(stages[0])

    def _by_scheme(self, chosen: GroupChoice) -> Plan:
        name, planner = chosen.stages[0], self.decider.candidates.planner
        if len(chosen.stages) > 1 or not planner.is_open(name):
            raise UnfitError(f"{'+'.join(chosen.stages)} has no scheme of its own")
        try:
            plan = planner.by_scheme(name, chosen.scheme)
        except OptionError as error:
            raise UnfitError(f"{name} does not run as {chosen.scheme}: {error.message}") from error
        return replace(plan, reason=f"{chosen.scheme}, {TUNED}")

    def seconds(self, chosen: GroupChoice) -> float:
        """Predicted seconds of a choice."""
        return self.decider.seconds(self.plan(chosen))

    def schedule(self, choice: Selection, told: str = "") -> Schedule:
        """The schedule that carries a choice out, with what is told of it."""
        grouping = self.grouping(choice)
        schedule = self.decider.schedule(grouping, tuple(map(self.plan, choice.groups)))
        return replace(schedule, notes=(*schedule.notes, told)) if told else schedule

    def grouping(self, choice: Selection) -> Grouping:
        """The partition of a choice; an `UnfitError` where it is none of this pipeline."""
        names = [name for group in choice.groups for name in group.stages]
        if sorted(names) != sorted(stage.name for stage in self.pipeline.stages):
            raise UnfitError("the stages of a choice are not those of the program")
        return Grouping(self.pipeline, tuple(Group(each.stages) for each in choice.groups), TUNED)

    def usual(self, grouping: Grouping) -> Selection:
        """The choice that the decider makes by itself."""
        return Selection(tuple(self.listed(group.stages)[0] for group in grouping.groups))

    def _list(self, stages: tuple[str, ...]) -> None:
        known: dict[str, Plan] = {}
        listed: list[GroupChoice] = []
        for way, plan in self._named(stages):
            if isinstance(plan, TilePlan) and way in known:
                listed.append(GroupChoice(stages, way, plan.sizes))
                continue
            name = next(each for each in _numbered(way) if each not in known)
            known[name] = plan
            listed.append(GroupChoice(stages, name))
        self._known[stages], self._listed[stages] = known, tuple(listed)

    def _named(self, stages: tuple[str, ...]) -> Iterable[tuple[str, Plan]]:
        if self.decider.cost(stages) == inf:
            return
        for plan in self.decider.settled(stages):
            yield manner(plan), plan
        for plan in self.always.ways(stages):
            if plan.library:
                yield f"{manner(plan)} {AT_ALL_SIZES}", plan

    def _with_blocks(self, plan: Plan, chosen: GroupChoice) -> Plan:
        kernel = kernel_of(plan)
        if kernel is None:
            raise UnfitError(f"{'+'.join(chosen.stages)} is no product, and has no blocks")
        kc, mc, nc, small = chosen.blocks
        blocks = replace(kernel.blocks, kc=kc, mc=mc, nc=nc, small=small)
        if not holds(blocks) or small > kernel.blocks.small:
            raise UnfitError(f"{'+'.join(chosen.stages)} has no room for such blocks: {chosen}")
        changed = described(replace(kernel, blocks=blocks), self.decider.assumed)
        before, now = (
            kernel_operations(each, self.decider.assumed, self.decider.threads) for each in (kernel, changed)
        )
        return _around(plan, changed, now / before if before > 0.0 else 1.0)


def _around(plan: Plan, kernel: KernelPlan, slower: float) -> Plan:
    """The plan with another kernel in it; slower: how many times as long that is predicted to take."""
    match plan:
        case MergedPlan(relative=relative, alone=alone):
            relative, alone = relative * slower, alone * slower
            return replace(plan, inner=kernel, reason=kernel.reason, relative=relative, alone=alone)
        case EpiloguePlan():
            return replace(plan, kernel=kernel, reason=plan.reason.replace(plan.kernel.reason, kernel.reason))
        case _:
            return kernel


def with_tiles(plan: Plan, sizes: Sequence[int], pipeline: Pipeline) -> TilePlan:
    """The plan with tiles of other sizes; an `UnfitError` where it has no tiles of so many dimensions."""
    if not isinstance(plan, TilePlan) or len(sizes) != len(plan.dims):
        raise UnfitError(f"{'+'.join(plan.group.stages)} has no tiles of {counted(len(sizes), 'dimension')}")
    wanted = on_grid(sizes, plan.members)
    if wanted == plan.sizes:
        return plan
    loop = plan.row_loop.of_rows(wanted[0]) if plan.row_loop else None
    reason = f"{plan.reason}; tile sizes {TUNED}"
    plan = replace(plan, sizes=wanted, nest=(), crossing=None, solved=None, row_loop=loop)
    return replace(plan, reason=reason, forced=True)


def scratch_fits(plan: TilePlan, decider: Decider) -> bool:
    """Whether a thread finds room for the scratchpads of a tile."""
    scratch = [member for member in plan.members if member.scratch]
    stages = {member.stage: decider.pipeline.stage(member.stage) for member in plan.members}
    return tile_size(stages, scratch, decider.assumed)(plan.sizes) <= MOST_SCRATCH_BYTES


def manner(plan: Plan) -> str:
    """A name that tells a plan of a group from others but for its sizes."""
    match plan:
        case TilePlan():
            return _tiles(plan)
        case MergedPlan():
            return f"merged {manner(plan.inner)}"
        case EpiloguePlan():
            return f"{manner(plan.kernel)}, then readers{' in registers' if plan.in_registers else ''}"
        case _:
            return plan.summary


def _tiles(plan: TilePlan) -> str:
    members = []
    for member in plan.members:
        marks = [word for word in ("scratch", "private") if getattr(member, word)]
        inner = plan.loops[member.stage]
        marks += [inner.summary] if inner.routines else []
        marks += ["by register blocks"] if member.stage in plan.kernels else []
        dims = ", ".join(dim or "-" for dim in member.dims)
        members.append(f"{member.stage}({dims}){''.join(f' {mark}' for mark in marks)}")
    kind = "rolling tiles" if plan.rolling else "tiles"
    rows = " in one loop over rows" if plan.row_loop else ""
    return f"{kind} along {', '.join(plan.dims)}{rows} of {', '.join(members)}"


def _numbered(way: str) -> Iterable[str]:
    yield way
    number = 2
    while True:
        yield f"{way} ({number})"
        number += 1
