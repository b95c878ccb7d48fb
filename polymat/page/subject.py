"""The subject of a page: the levels of one compilation."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.codegen.program import Program
from polymat.dataclass import dataclass
from polymat.graph.pipeline import Pipeline
from polymat.graph.stepwise import Stepwise
from polymat.page.sources import put_into
from polymat.plan.schedule import Schedule
from polymat.request import Request


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """The levels that a page shows beside the report.

    elsewhere: stages of the definition that other sections compute, where there are sections.
    """

    built: Pipeline
    schedule: Schedule
    program: Program
    request: Request
    elsewhere: frozenset[str] = frozenset()

    def put_into(self, stages: Sequence[str]) -> tuple[str, ...]:
        """The stages of the definition that have no array: those that these stages compute in their place."""
        kept = {stage.name for stage in self.schedule.grouping.pipeline.stages} | self.elsewhere
        return put_into(self.built, kept, stages)


@dataclass(frozen=True, slots=True, eq=False)
class StepwiseSubject:
    """The levels of what runs in sections, some of them once a step."""

    built: Pipeline
    stepwise: Stepwise[Schedule]
    program: Program
    request: Request
