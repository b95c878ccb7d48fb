"""What speaks for the plans of a schedule, worked out where somebody asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from polymat.fusion.alignment import align
from polymat.fusion.legality import live_outs
from polymat.fusion.reads import Reads
from polymat.graph.pipeline import Pipeline
from polymat.machine.model import Machine
from polymat.model.describe import stage_nest
from polymat.plan.schedule import Decision
from polymat.plan.tile import Plan
from polymat.tilesize.decision import decision
from polymat.tilesize.paperplan import aligned_nest


@dataclass(frozen=True, slots=True, eq=False)
class Reasons:
    """The plans of a schedule, and all that the models are asked with.

    priced: each plan with the terms of its cost, and its predicted seconds.
    """

    pipeline: Pipeline
    reads: Reads
    machine: Machine
    assumed: Mapping[str, int]
    threads: int
    priced: tuple[tuple[Plan, str, float], ...]

    def decisions(self) -> tuple[Decision, ...]:
        """The reasons for each plan: its price, and what the models say of it."""
        return tuple(self._decision(*each) for each in self.priced)

    def _decision(self, plan: Plan, terms: str, seconds: float) -> Decision:
        names = plan.group.stages
        stages = [self.pipeline.stage(name) for name in names]
        alignment, live = align(self.reads, names), live_outs(self.reads, names)
        nest = (
            stage_nest(stages[0], self.assumed)
            if len(stages) == 1
            else aligned_nest(stages, alignment, live, self.assumed)
        )
        return decision(
            plan, nest, stages, self.machine, self.assumed, self.threads, terms=terms, seconds=seconds
        )
