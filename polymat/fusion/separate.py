"""Every stage as a group of its own: where fusion is switched off, and to compare with."""

from __future__ import annotations

from polymat.graph.group import Group, Grouping
from polymat.graph.pipeline import Pipeline


def separate(pipeline: Pipeline) -> Grouping:
    """Every stage alone: what the optimiser is measured against."""
    return Grouping(pipeline, tuple(Group((stage.name,)) for stage in pipeline.stages))
