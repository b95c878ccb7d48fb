"""What is said of indices that are computed from data, where they may be outside or are not allowed."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.errors import CycleError
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Bounds, Stage
from polymat.lang.affine import Affine, computed_in


def what_clamps(indices: Sequence[Affine], element: Sequence[int], bounds: Bounds) -> str:
    """How the first index that is computed from data can be kept inside; nothing where none is."""
    for form, (low, high) in zip(indices, bounds, strict=True):
        if computed_in([form]):
            declared = f", or an integer input that is declared with values=({low}, {high})"
            return f"Clamp({form}, {low}, {high}){declared}"
    return ""


def check_places(pipeline: Pipeline, stage: Stage) -> None:
    """See that a stage which reads itself, and not at earlier steps alone, adds to affine places."""
    for item in stage.accumulations:
        if computed_in(item.target):
            raise CycleError(
                f"{pipeline.called(stage.name)} reads itself and accumulates into places that are computed "
                "from data",
                at=item.at,
                hint="read another stage or an earlier step, or accumulate into affine places",
            )
