"""What speaks for the plans of a schedule, worked out where somebody asks for it."""

from __future__ import annotations

from collections.abc import Mapping

from polymat.dataclass import dataclass
from polymat.decide.figures import nest_of
from polymat.fusion.reads import Reads
from polymat.graph.pipeline import Pipeline
from polymat.machine.model import Machine
from polymat.plan.schedule import Decision
from polymat.plan.tile import Plan
from polymat.tilesize.decision import decision


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
        nest = nest_of(self.pipeline, self.reads, names, self.assumed)
        return decision(
            plan, nest, stages, self.machine, self.assumed, self.threads, terms=terms, seconds=seconds
        )
