"""The subject of a page: the levels of one compilation."""

from __future__ import annotations

from dataclasses import dataclass

from polymat.codegen.program import Program
from polymat.graph.pipeline import Pipeline
from polymat.plan.schedule import Schedule
from polymat.request import Request


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """The levels that a page shows beside the report."""

    built: Pipeline
    schedule: Schedule
    program: Program
    request: Request
