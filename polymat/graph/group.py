"""A partition of the stages: which of them share an implementation."""

from __future__ import annotations

from dataclasses import dataclass

from polymat.graph.pipeline import Pipeline


@dataclass(frozen=True, slots=True)
class Group:
    """Stages that are implemented together, producers first."""

    stages: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """All stages of a pipeline in groups, in an order in which the groups can run."""

    pipeline: Pipeline
    groups: tuple[Group, ...]

    def __str__(self) -> str:
        return " | ".join("+".join(group.stages) for group in self.groups)
