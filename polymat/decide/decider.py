"""Which stages are fused and how each group is carried out: the cheapest of its plans."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache

from polymat.dataclass import dataclass
from polymat.decide.alikegroups import AlikeGroups
from polymat.decide.candidates import Candidates
from polymat.decide.explained import Reasons
from polymat.decide.uncalled import uncalled
from polymat.fusion.dag import Dag
from polymat.fusion.joins import joinable_edges, siblings
from polymat.fusion.partition import partition
from polymat.fusion.reads import Reads
from polymat.fusion.together import compatible, undivided
from polymat.graph.aligned import Refused
from polymat.graph.constant import kept_stages
from polymat.graph.group import Grouping, separate
from polymat.graph.pipeline import Pipeline
from polymat.idiom.librarymodel import Libraries
from polymat.machine.model import Machine
from polymat.memo import Memo, with_own_memo
from polymat.model.assumed import assumed_sizes
from polymat.model.papercost import PaperCost
from polymat.model.team import team_cost
from polymat.options import Options
from polymat.plan.schedule import Considered, Schedule
from polymat.plan.tile import Plan, TilePlan
from polymat.tilesize.cost import PlanCost, plan_cost
from polymat.tilesize.home import Home
from polymat.tilesize.pace import paces
from polymat.tilesize.schemetiles import heeds
from polymat.tilesize.shortloops import short_sizes
from polymat.tilesize.stripjoins import joined_strips
from polymat.tilesize.sweeps import back_and_forth, to_and_fro

WANTED = 1e-6  # of the time of library calls that are wanted: it still tells which of them
UNHEEDED = 1e6  # times the time of what does not do as a scheme of its stages says
NEARLY = 1e3  # times that of a group of the stages that a scheme names: what else it says can then be told of
MAPPED = 1e-9  # the papers' cost of a library call: none, but of ways with calls the one with fewer wins
CLEARLY = 0.95  # of the time that tiles take: other sizes have to be so much quicker, by prediction


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
        instead = ", ".join(f"{seconds:.3g} s as {plan.summary}" for seconds, plan in self.others)
        return f"{self.why.explain()}; instead of {instead}" if instead else self.why.explain()


class Decider:
    """Plans and their predicted seconds for groups of one pipeline, each found once."""

    def __init__(
        self,
        pipeline: Pipeline,
        machine: Machine,
        estimates: Mapping[str, int],
        options: Options,
        libraries: Libraries,
    ) -> None:
        self.memo: Memo = {}
        self.pipeline = pipeline
        self.machine = machine
        self.estimates = estimates
        self.assumed = assumed_sizes(pipeline, estimates)
        self.options = options
        self.threads = 1 if pipeline.alone else machine.team(options.threads)
        self.reads = Reads.of(pipeline)
        self.kept = kept_stages(pipeline) if options.keep else frozenset()
        self.plans: dict[tuple[str, ...], Priced] = {}
        self.looked_at: dict[tuple[str, ...], Priced] = {}  # those, and groups that are like one of them
        self.dag = Dag.of_pipeline(pipeline)
        self.home = Home.of(pipeline, machine, self.assumed)
        self.alike = AlikeGroups(pipeline, self.reads, self.dag, self.assumed, self.kept)
        self.candidates = Candidates(
            pipeline, self.reads, self.dag, machine, estimates, self.assumed, options, self.threads, libraries
        )

    @with_own_memo
    def grouping(self) -> Grouping:
        """The partition into groups of least cost."""
        if not (self.options.fuse and self.options.tile) or len(self.pipeline.stages) < 2:
            return separate(self.pipeline)
        joins = [*joinable_edges(self.reads, self.dag)]
        plans = self.candidates
        joins += [*plans.calls.joins(), *plans.recursive.joins(), *plans.positions.joins()]
        if self.options.siblings:
            joins += siblings(self.reads, self.dag)
        together = undivided(self.reads, self.dag, self._are_kept_alike)
        found = partition(self.pipeline, self.cost, joins=joins, together=together)
        there = {group.stages for group in found.groups}
        named = [stages for stages in plans.planner.groups() if self.cost(stages) < math.inf]
        if there.issuperset(named):
            return found
        together = compatible(self.dag, (*named, *together))
        return partition(self.pipeline, self.cost, joins=joins, together=together)

    @with_own_memo
    def schedule(self, grouping: Grouping, chosen: tuple[Plan, ...] = ()) -> Schedule:
        """The plan of every group, what speaks for it, and every group that was priced.

        chosen: the plans, where somebody else has decided.
        """
        plans = chosen or tuple(self._plan(group.stages) for group in grouping.groups)
        if self.options.cost == "time":
            fixed = self.candidates.planner.fixed
            plans = back_and_forth(self.pipeline, plans, self.seconds, fixed)
            if self.pipeline.waiting is None:  # or else slices take the order of blocks of steps
                plans = to_and_fro(
                    self.pipeline, plans, self.machine, self.assumed, fixed, threads=self.threads
                )
        looked_at = self.looked_at | self.plans
        considered = tuple(self._considered(*each) for each in looked_at.items())
        priced = tuple(map(self._told_of_choice if chosen else self._told, plans))
        reasons = Reasons(self.pipeline, self.reads, self.machine, self.assumed, self.threads, priced)
        notes = uncalled(self.pipeline, plans, self.candidates.calls, self.options)
        speeds = paces(self.pipeline, plans, self.machine, self.assumed, self.home)
        team = team_cost(self.machine, speeds)
        told = cache(reasons.decisions)
        joined = joined_strips(self.pipeline, plans)
        short = short_sizes(self.pipeline, self.estimates) if self.options.unroll else {}
        return Schedule(grouping, plans, team, told, considered, self.kept, notes, joined=joined, short=short)

    def cost(self, stages: tuple[str, ...]) -> float:
        """The cost of a group: predicted seconds, or the papers' figure; infinite when it may not be fused.

        Where library calls are wanted in any case, they cost next to nothing; and much where a scheme of a
        stage has no effect.  Groups that are alike cost the same, of which one is priced.
        """
        priced = self.looked_at[stages] = self._like(stages)
        if priced.plan is not None and not heeds(priced.plan, self.candidates.schemes):
            return priced.cost * (NEARLY if self.candidates.planner.is_named(stages) else UNHEEDED)
        called = priced.plan is not None and priced.plan.library == "blas"
        wanted = called and self.options.blas == "always"
        return priced.cost * WANTED if wanted else priced.cost

    def _considered(self, stages: tuple[str, ...], priced: Priced) -> Considered:
        """A group that was looked at; why one that it is like is refused names the stages of that one."""
        first = stages if stages in self.plans else self.alike.first(stages)
        told = first != stages and priced.plan is None
        of_which = f" (of {' + '.join(first)}, which it is like)" if told else ""
        return Considered(stages, priced.cost, priced.terms + of_which, priced.others)

    def _like(self, stages: tuple[str, ...]) -> Priced:
        """The price of a group, or of one that it is like but for names."""
        by_form = self.options.cost == "time" and not self.options.schemes
        return self._best(self.alike.first(stages) if by_form else stages)

    def predicted(self) -> float:
        """Predicted seconds of the partition of least cost."""
        return sum(self.cost(group.stages) for group in self.grouping().groups)

    def inside(self) -> frozenset[str]:
        """The stages that tiles keep to themselves in the partition of least cost."""
        plans = [self._best(group.stages).plan for group in self.grouping().groups]
        members = [member for plan in plans if plan is not None for member in plan.members]
        return frozenset(member.stage for member in members if member.scratch)

    def ways(self, stages: tuple[str, ...]) -> tuple[Plan, ...]:
        """The plans of a group: the best, by prediction, and the others; none where there may be no group."""
        best = self._best(stages)
        return () if best.plan is None else (best.plan, *(plan for _, plan in best.others))

    @with_own_memo
    def settled(self, stages: tuple[str, ...]) -> tuple[Plan, ...]:
        """The plans of a group that is one of the partition: those of `ways`, and tiles of other sizes."""
        return () if self._best(stages).plan is None else (self._plan(stages), *self.ways(stages)[1:])

    @with_own_memo
    def seconds(self, plan: Plan) -> float:
        """Predicted seconds of any plan of a group."""
        return self._plan_cost(plan).seconds

    def _plan(self, stages: tuple[str, ...]) -> Plan:
        priced, by_time = self._best(stages), self.options.cost == "time"
        asked = self.candidates.planner.asked(stages)
        if isinstance(priced.plan, TilePlan) and not (asked or priced.plan.solved) and by_time:
            priced = self.plans[stages] = self._resized(priced, priced.plan)
        assert priced.plan is not None  # the partition has no groups of infinite cost
        return priced.plan

    def _resized(self, priced: Priced, plan: TilePlan) -> Priced:
        """The plan of a group of the partition with the tile sizes, of all cache levels, that are quickest.

        Sizes that are predicted to be no quicker than it has are not taken for others.
        """
        plans = [plan, *self.candidates.by_level(plan)]
        costs = [self._plan_cost(each) for each in plans]
        best = min(range(len(plans)), key=lambda k: costs[k].seconds)
        best = best if costs[best].seconds < CLEARLY * costs[0].seconds else 0
        slower = [(costs[k].seconds, plans[k]) for k in range(len(plans)) if k != best]
        others = (*priced.others, *sorted(slower, key=lambda other: other[0]))
        return Priced(costs[best].seconds, plans[best], costs[best], others)

    def _told(self, plan: Plan) -> tuple[Plan, str, float]:
        """A plan with the terms of its cost, and its predicted seconds."""
        priced = self._best(plan.group.stages)
        by_time = self.options.cost == "time"
        return plan, priced.terms, priced.cost if by_time else self._plan_cost(plan).seconds

    def _told_of_choice(self, plan: Plan) -> tuple[Plan, str, float]:
        """The same of a plan that somebody else has chosen."""
        cost = self._plan_cost(plan)
        return plan, cost.explain(), cost.seconds

    def _are_kept_alike(self, *stages: str) -> bool:
        """Whether the first call alone computes all of these stages, or none of them."""
        return len(self.kept.intersection(stages)) in (0, len(stages))

    def _best(self, stages: tuple[str, ...]) -> Priced:
        if stages not in self.plans:
            if not self._are_kept_alike(*stages):
                refused = Refused("some of them are computed by the first call alone")
                self.plans[stages] = Priced(math.inf, None, refused)
            else:
                by_time = self.options.cost == "time" or self.candidates.has_scheme(stages)
                self.plans[stages] = self._by_time(stages) if by_time else self._by_paper(stages)
        return self.plans[stages]

    def _by_time(self, stages: tuple[str, ...]) -> Priced:
        """The quickest plan of a group, by prediction."""
        plans = self.candidates.of(stages)
        if isinstance(plans, Refused):
            return Priced(math.inf, None, plans)
        costs = [self._plan_cost(plan) for plan in plans]
        order = sorted(range(len(plans)), key=lambda k: (costs[k].seconds, -plans[k].numbered))
        best, *slower = order
        others = tuple((costs[k].seconds, plans[k]) for k in slower)
        return Priced(costs[best].seconds, plans[best], costs[best], others)

    def _by_paper(self, stages: tuple[str, ...]) -> Priced:
        """What is mapped to a library, by the thesis or by demand, or the plan of the papers' algorithms."""
        call = self.candidates.mapped(stages)
        if call is not None:
            return Priced(MAPPED, call, "mapped to a library, which costs the partition nothing")
        found = self.candidates.of_papers(stages)
        return Priced(found.value, found.plan, found.cost)

    def _plan_cost(self, plan: Plan) -> PlanCost:
        return plan_cost(self.pipeline, plan, self.machine, self.assumed, self.threads, self.home)
