"""A partition of the stages: which of them share an implementation; every stage alone where none do."""

from __future__ import annotations

from polymat.dataclass import dataclass
from polymat.graph.pipeline import Pipeline


@dataclass(frozen=True, slots=True)
class Group:
    """Stages that are implemented together, producers first."""

    stages: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """All stages of a pipeline in groups, in an order in which the groups can run.

    guarantee: in words, what is sure of its cost; nothing where there was nothing to choose.
    """

    pipeline: Pipeline
    groups: tuple[Group, ...]
    guarantee: str = ""

    @property
    def summary(self) -> str:
        """The groups on one line: `f+g | h`."""
        return " | ".join("+".join(group.stages) for group in self.groups)

    def __str__(self) -> str:
        return f"{self.summary}\nnote: {self.guarantee}" if self.guarantee else self.summary


def separate(pipeline: Pipeline) -> Grouping:
    """Every stage alone: what the optimiser is measured against."""
    return Grouping(pipeline, tuple(Group((stage.name,)) for stage in pipeline.stages))
