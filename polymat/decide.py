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
from polymat.tilesize.cost import home_level, plan_seconds
from polymat.tilesize.plain import plan_stage
from polymat.tilesize.planner import can_be_private, plan_alone, plan_tiles
from polymat.tilesize.schedule import Plan, Schedule


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

    def grouping(self) -> Grouping:
        """The partition into groups of least predicted time."""
        if not self.options.fuse or len(self.pipeline.stages) < 2:
            return separate(self.pipeline)
        joins = [*joinable_edges(self.reads, self.dag), *siblings(self.reads, self.dag)]
        return partition(self.pipeline, self.seconds, joins=joins)

    def schedule(self, grouping: Grouping) -> Schedule:
        """The plan of every group."""
        return Schedule(grouping, tuple(self._plan(group.stages) for group in grouping.groups))

    def seconds(self, stages: tuple[str, ...]) -> float:
        """Predicted seconds of a group; infinite when it may not be fused."""
        return self._best(stages)[0]

    def _plan(self, stages: tuple[str, ...]) -> Plan:
        plan = self._best(stages)[1]
        assert plan is not None  # the partition has no groups of infinite cost
        return plan

    def _best(self, stages: tuple[str, ...]) -> tuple[float, Plan | None]:
        if stages not in self.plans:
            candidates = self._alone(stages) if len(stages) == 1 else self._together(stages)
            found = [(self._seconds(plan), plan) for plan in candidates]
            self.plans[stages] = min(found, key=lambda pair: pair[0], default=(math.inf, None))
        return self.plans[stages]

    def _seconds(self, plan: Plan) -> float:
        return plan_seconds(self.pipeline, plan, self.machine, self.estimates, self.threads, self.level)

    def _alone(self, stages: tuple[str, ...]) -> list[Plan]:
        group, stage = Group(stages), self.pipeline.stage(stages[0])
        if not self.options.tile:
            return [plan_stage(group, stage, self.pipeline.context)]
        return [plan_alone(group, stage, self.pipeline.context)]

    def _together(self, stages: tuple[str, ...]) -> list[Plan]:
        choices = choices_of(self.reads, self.dag, stages)
        if isinstance(choices, Refused):
            return []
        usable = [choice for choice in choices.all() if self._is_usable(choice)]
        return [self._tiles(stages, choice) for choice in usable]

    def _is_usable(self, choice: Fusable) -> bool:
        privates: Sequence[str] = choice.privates
        return not choice.copies and all(can_be_private(self.pipeline.stage(name)) for name in privates)

    def _tiles(self, stages: tuple[str, ...], choice: Fusable) -> Plan:
        return plan_tiles(
            self.pipeline, Group(stages), choice.dims, choice.members, self.machine, self.estimates
        )
