"""Which stages are fused and how each group is carried out: where fusion and tile sizes meet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from polymat.fusion.dag import Dag
from polymat.fusion.joins import joinable_edges, siblings
from polymat.fusion.legality import choices_of
from polymat.fusion.partition import partition
from polymat.fusion.reads import Reads
from polymat.fusion.separate import separate
from polymat.graph.alignment import Fusable, Refused
from polymat.graph.group import Group, Grouping
from polymat.graph.pipeline import Pipeline
from polymat.machine.model import Machine
from polymat.options import Options
from polymat.tilesize.cost import home_level, plan_cost
from polymat.tilesize.papercost import PaperCost
from polymat.tilesize.paperplan import PaperPlan, PaperPlanner
from polymat.tilesize.plain import plan_stage
from polymat.tilesize.planner import can_be_private, plan_alone, plan_tiles
from polymat.tilesize.register import unrolled
from polymat.tilesize.schedule import Plan, Schedule, TilePlan
from polymat.tilesize.switches import switched
from polymat.tilesize.team import team_cost


class Decider:
    """Plans and their predicted seconds for groups of one pipeline, each found once."""

    def __init__(
        self, pipeline: Pipeline, machine: Machine, estimates: Mapping[str, int], options: Options
    ) -> None:
        self.pipeline = pipeline
        self.machine = machine
        self.estimates = estimates
        self.options = options
        self.threads = options.threads or machine.cores
        self.reads = Reads.of(pipeline)
        self.plans: dict[tuple[str, ...], tuple[float, Plan | None]] = {}
        self.dag = Dag.of_pipeline(pipeline)
        self.level = home_level(pipeline, machine, estimates)
        self.papers = PaperPlanner(pipeline, machine, estimates, thesis=options.cost == "paper")

    def grouping(self) -> Grouping:
        """The partition into groups of least cost."""
        if not (self.options.fuse and self.options.tile) or len(self.pipeline.stages) < 2:
            return separate(self.pipeline)
        joins = [*joinable_edges(self.reads, self.dag)]
        if self.options.siblings:
            joins += siblings(self.reads, self.dag)
        return partition(self.pipeline, self.cost, joins=joins)

    def schedule(self, grouping: Grouping) -> Schedule:
        """The plan of every group."""
        plans = tuple(self._plan(group.stages) for group in grouping.groups)
        return Schedule(grouping, plans, team_cost(self.machine))

    def cost(self, stages: tuple[str, ...]) -> float:
        """What a group costs: predicted seconds, or the papers' figure; infinite when it may not be fused."""
        return self._best(stages)[0]

    def _plan(self, stages: tuple[str, ...]) -> Plan:
        plan = self._best(stages)[1]
        assert plan is not None  # the partition has no groups of infinite cost
        return plan

    def _best(self, stages: tuple[str, ...]) -> tuple[float, Plan | None]:
        if stages not in self.plans:
            self.plans[stages] = (
                self._by_time(stages) if self.options.cost == "time" else self._by_paper(stages)
            )
        return self.plans[stages]

    def _by_time(self, stages: tuple[str, ...]) -> tuple[float, Plan | None]:
        """The quickest plan of a group, by prediction."""
        candidates = self._alone(stages) if len(stages) == 1 else self._together(stages)
        plans = [switched(plan, self.pipeline, self.estimates, self.options) for plan in candidates]
        found = [(self._seconds(plan), plan) for plan in plans]
        return min(found, key=lambda pair: pair[0], default=(math.inf, None))

    def _by_paper(self, stages: tuple[str, ...]) -> tuple[float, Plan | None]:
        """The plan of a group that the papers' algorithms choose."""
        found = self._paper(stages)
        if found.plan is None:
            return math.inf, None
        return found.value, switched(found.plan, self.pipeline, self.estimates, self.options)

    def _paper(self, stages: tuple[str, ...]) -> PaperPlan:
        choices = choices_of(self.reads, self.dag, stages)
        if isinstance(choices, Refused) or not self.options.tile:
            if len(stages) == 1:
                return self.papers.untiled(stages[0])
            reason = choices.reason if isinstance(choices, Refused) else "nothing is tiled"
            return PaperPlan(PaperCost(math.inf, reason=reason), None)
        usable = [choice for choice in choices.all() if self._is_usable(choice)]
        return self.papers.tiled(stages, choices.alignment, choices.live_outs, usable)

    def _seconds(self, plan: Plan) -> float:
        return plan_cost(self.pipeline, plan, self.machine, self.estimates, self.threads, self.level).seconds

    def _alone(self, stages: tuple[str, ...]) -> list[Plan]:
        group, stage = Group(stages), self.pipeline.stage(stages[0])
        plan = plan_alone(group, stage, self.pipeline.context)
        if isinstance(plan, TilePlan) and not (self.options.tile and self.options.private):
            plan = unrolled(stage, plan_stage(group, stage, self.pipeline.context))
        return [plan]

    def _together(self, stages: tuple[str, ...]) -> list[Plan]:
        choices = choices_of(self.reads, self.dag, stages)
        if isinstance(choices, Refused):
            return []
        usable = [choice for choice in choices.all() if self._is_allowed(choice)]
        return [self._tiles(stages, choice) for choice in usable]

    def _is_usable(self, choice: Fusable) -> bool:
        """Whether code can be generated for a choice, and `Options` does not switch it off."""
        if not self.options.overlap and any(margin != (0, 0) for margin in choice.margins):
            return False
        privates: Sequence[str] = choice.privates
        return not choice.copies and all(can_be_private(self.pipeline.stage(name)) for name in privates)

    def _is_allowed(self, choice: Fusable) -> bool:
        return self._is_usable(choice) and (self.options.private or not choice.privates)

    def _tiles(self, stages: tuple[str, ...], choice: Fusable) -> Plan:
        return plan_tiles(
            self.pipeline, Group(stages), choice.dims, choice.members, self.machine, self.estimates
        )
