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
    """A stage that reads itself knows all of its places beforehand: they say in which order it can run."""
    name = pipeline.called(stage.name)
    for load in stage.loads():
        if load.source.name in (stage.circle or (stage.name,)) and computed_in(load.indices):
            shown = ", ".join(map(str, load.indices))
            other = pipeline.called(load.source.name)
            what = "itself" if other == name else f"{other}, which needs it,"
            raise CycleError(
                f"{name} reads {what} at {other}({shown}), which is computed from data",
                at=load.at,
                hint="the indices of a recurrence are affine: what it reads must be known to come before it",
            )
    for item in stage.accumulations:
        if computed_in(item.target):
            raise CycleError(
                f"{name} reads itself and accumulates into places that are computed from data",
                at=item.at,
                hint="read another stage, or accumulate into affine places",
            )
