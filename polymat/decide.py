"""Which stages are fused and how each group is carried out: where fusion and tile sizes meet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from polymat.callplans import CallPlanner
from polymat.fusion.alignment import align
from polymat.fusion.dag import Dag
from polymat.fusion.joins import joinable_edges, siblings
from polymat.fusion.legality import choices_of, live_outs
from polymat.fusion.partition import partition
from polymat.fusion.reads import Reads
from polymat.fusion.separate import separate
from polymat.graph.alignment import Fusable, Refused
from polymat.graph.group import Group, Grouping
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.idiom.plan import CallPlan
from polymat.idiom.profit import is_mapped
from polymat.machine.model import Machine
from polymat.options import Options
from polymat.tilesize.cost import PlanCost, home_level, plan_cost
from polymat.tilesize.decision import decision
from polymat.tilesize.describe import stage_nest
from polymat.tilesize.epilogue import EpiloguePlan, plan_epilogue
from polymat.tilesize.estimates import Estimates
from polymat.tilesize.kernel import KernelPlan, is_worth, plan_kernel
from polymat.tilesize.papercost import PaperCost
from polymat.tilesize.paperplan import PaperPlan, PaperPlanner, aligned_nest
from polymat.tilesize.plain import plan_stage
from polymat.tilesize.planner import UNKNOWN_EXTENT, can_be_private, plan_alone, plan_tiles
from polymat.tilesize.register import unrolled
from polymat.tilesize.schedule import Considered, Decision, Plan, Schedule, TilePlan
from polymat.tilesize.sweeps import back_and_forth
from polymat.tilesize.switches import switched
from polymat.tilesize.team import team_cost


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """The best plan of a group with its cost, and what that is made of or why there is none.

    others: the plans that were predicted to be slower.
    """

    cost: float
    plan: Plan | None
    why: PlanCost | PaperCost | Refused | str
    others: tuple[tuple[float, Plan], ...] = ()

    @property
    def terms(self) -> str:
        """The terms of the cost in words."""
        if isinstance(self.why, str):
            return self.why
        if isinstance(self.why, Refused):
            return f"refused: {self.why.reason}"
        instead = ", ".join(f"{seconds:.3g} s as {_way(plan)}" for seconds, plan in self.others)
        return f"{self.why.explain()}; instead of {instead}" if instead else self.why.explain()


def _way(plan: Plan) -> str:
    """How a group would be carried out, in a few words."""
    if isinstance(plan, TilePlan):
        return f"tiles along {', '.join(plan.dims)}"
    calls = ", ".join(plan.routines)
    return f"calls of {calls}" if calls else f"{plan.kind} loops"


class Decider:
    """Plans and their predicted seconds for groups of one pipeline, each found once."""

    def __init__(
        self, pipeline: Pipeline, machine: Machine, estimates: Mapping[str, int], options: Options
    ) -> None:
        self.pipeline = pipeline
        self.machine = machine
        self.estimates = Estimates(estimates)
        self.options = options
        self.threads = options.threads or machine.cores
        self.reads = Reads.of(pipeline)
        self.plans: dict[tuple[str, ...], Priced] = {}
        self.dag = Dag.of_pipeline(pipeline)
        self.level = home_level(pipeline, machine, self.estimates)
        self.assumed = Estimates({size.name: UNKNOWN_EXTENT for size in pipeline.sizes} | dict(estimates))
        self.calls = CallPlanner(pipeline, machine, self.assumed, options, self.threads)
        self.papers = PaperPlanner(pipeline, machine, self.assumed, thesis=options.cost == "paper")

    def grouping(self) -> Grouping:
        """The partition into groups of least cost."""
        if not (self.options.fuse and self.options.tile) or len(self.pipeline.stages) < 2:
            return separate(self.pipeline)
        joins = [*joinable_edges(self.reads, self.dag)]
        if self.options.siblings:
            joins += siblings(self.reads, self.dag)
        return partition(self.pipeline, self.cost, joins=joins)

    def schedule(self, grouping: Grouping) -> Schedule:
        """The plan of every group, what speaks for it, and every group that was priced."""
        plans = tuple(self._plan(group.stages) for group in grouping.groups)
        if self.options.cost == "time":
            plans = back_and_forth(self.pipeline, plans)
        considered = tuple(
            Considered(stages, priced.cost, priced.terms) for stages, priced in self.plans.items()
        )
        decisions = tuple(map(self._decision, plans))
        return Schedule(grouping, plans, team_cost(self.machine), decisions, considered)

    def cost(self, stages: tuple[str, ...]) -> float:
        """What a group costs: predicted seconds, or the papers' figure; infinite when it may not be fused."""
        return self._best(stages).cost

    def _plan(self, stages: tuple[str, ...]) -> Plan:
        plan = self._best(stages).plan
        assert plan is not None  # the partition has no groups of infinite cost
        return plan

    def _decision(self, plan: Plan) -> Decision:
        names = plan.group.stages
        stages = [self.pipeline.stage(name) for name in names]
        alignment = align(self.reads, names)
        live = live_outs(self.reads, names)
        nest = (
            stage_nest(stages[0], self.assumed)
            if len(stages) == 1
            else aligned_nest(stages, alignment, live, self.assumed)
        )
        priced = self._best(names)
        seconds = priced.cost if self.options.cost == "time" else self._plan_cost(plan).seconds
        return decision(
            plan, nest, stages, self.machine, self.assumed, self.threads, terms=priced.terms, seconds=seconds
        )

    def _best(self, stages: tuple[str, ...]) -> Priced:
        if stages not in self.plans:
            self.plans[stages] = (
                self._by_time(stages) if self.options.cost == "time" else self._by_paper(stages)
            )
        return self.plans[stages]

    def _by_time(self, stages: tuple[str, ...]) -> Priced:
        """The quickest plan of a group, by prediction."""
        candidates = self._alone(stages) if len(stages) == 1 else self._together(stages)
        call = self.calls.plan(stages)
        if call is not None:
            forced = self.options.blas if isinstance(call, CallPlan) else self.options.fft
            others = [] if isinstance(candidates, Refused) or forced == "always" else candidates
            candidates = [*others, call]
        more = [self.calls.merged(stages), self._epilogue(stages)]
        if self.options.blas != "always" and any(more):
            others = [] if isinstance(candidates, Refused) else candidates
            candidates = [*others, *(plan for plan in more if plan is not None)]
        if isinstance(candidates, Refused):
            return Priced(math.inf, None, candidates)
        plans = [switched(plan, self.pipeline, self.estimates, self.options) for plan in candidates]
        costs = [self._plan_cost(plan) for plan in plans]
        found = [Priced(cost.seconds, plan, cost) for cost, plan in zip(costs, plans, strict=True)]
        if not found:
            return Priced(math.inf, None, Refused("no code can be generated for any of its tilings"))
        best = min(found, key=lambda priced: priced.cost)
        slower = sorted((cost.seconds, k) for k, cost in enumerate(costs) if plans[k] is not best.plan)
        return replace(best, others=tuple((seconds, plans[k]) for seconds, k in slower))

    def _by_paper(self, stages: tuple[str, ...]) -> Priced:
        """The plan of a group that the papers' algorithms choose; the thesis maps products to libraries."""
        call = self.calls.plan(stages) if self.options.cost == "paper" else None
        always = self.options.blas == "always"
        if isinstance(call, CallPlan) and (always or is_mapped(call.idiom, self.assumed)):
            return Priced(0.0, call, "mapped to a library, which costs the partition nothing")
        found = self._paper(stages)
        if found.plan is None:
            return Priced(math.inf, None, found.cost)
        plan = switched(found.plan, self.pipeline, self.estimates, self.options)
        return Priced(found.value, plan, found.cost)

    def _paper(self, stages: tuple[str, ...]) -> PaperPlan:
        choices = choices_of(self.reads, self.dag, stages)
        if isinstance(choices, Refused) or not self.options.tile:
            if len(stages) == 1:
                return self.papers.untiled(stages[0])
            reason = choices.reason if isinstance(choices, Refused) else "nothing is tiled"
            return PaperPlan(PaperCost(math.inf, reason=reason), None)
        usable = [choice for choice in choices.all() if self._is_usable(choice)]
        return self.papers.tiled(stages, choices.alignment, choices.live_outs, usable)

    def _plan_cost(self, plan: Plan) -> PlanCost:
        return plan_cost(self.pipeline, plan, self.machine, self.estimates, self.threads, self.level)

    def _alone(self, stages: tuple[str, ...]) -> list[Plan]:
        group, stage = Group(stages), self.pipeline.stage(stages[0])
        plan = plan_alone(group, stage, self.pipeline.context)
        if isinstance(plan, TilePlan) and not (self.options.tile and self.options.private):
            plan = unrolled(stage, plan_stage(group, stage, self.pipeline.context))
        kernel = self._kernel(group, stage) if self.options.kernels else None
        return [plan] if kernel is None else [plan, kernel]

    def _kernel(self, group: Group, stage: Stage) -> KernelPlan | None:
        """A contraction around register blocks, where there is enough to do."""
        plan = plan_kernel(group, stage, self.pipeline.context, self.machine, self.estimates)
        return plan if plan is not None and is_worth(plan, self.estimates) else None

    def _epilogue(self, stages: tuple[str, ...]) -> EpiloguePlan | None:
        """A contraction around register blocks, and its readers on every complete part of the result."""
        if len(stages) < 2 or not self.options.kernels or not self.dag.is_convex(self.dag.mask(stages)):
            return None
        kernel = self._kernel(Group(stages), self.pipeline.stage(stages[0]))
        live = live_outs(self.reads, stages)
        return None if kernel is None else plan_epilogue(self.pipeline, kernel, live)

    def _together(self, stages: tuple[str, ...]) -> list[Plan] | Refused:
        choices = choices_of(self.reads, self.dag, stages)
        if isinstance(choices, Refused):
            return choices
        usable = [choice for choice in choices.all() if self._is_allowed(choice)]
        return [self._tiles(stages, choice) for choice in usable]

    def _is_usable(self, choice: Fusable) -> bool:
        """Whether code can be generated for a choice, and `Options` does not switch it off."""
        if not self.options.overlap and any(margin != (0, 0) for margin in choice.margins):
            return False
        privates: Sequence[str] = choice.privates
        return all(can_be_private(self.pipeline.stage(name)) for name in privates)

    def _is_allowed(self, choice: Fusable) -> bool:
        return self._is_usable(choice) and (self.options.private or not choice.privates)

    def _tiles(self, stages: tuple[str, ...], choice: Fusable) -> Plan:
        return plan_tiles(
            self.pipeline,
            Group(stages),
            choice.dims,
            choice.members,
            self.machine,
            self.estimates,
            roll=self.options.rolling,
        )
