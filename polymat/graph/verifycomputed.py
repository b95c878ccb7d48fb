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


def what_limits(indices: Sequence[Affine], bounds: Bounds, pipeline: Pipeline) -> str:
    """How the first index that is a size, and no extent of an input, is kept inside; nothing without one."""
    shown = {name for array in pipeline.inputs for extent in array.extents for name in extent.names()}
    for form, (low, high) in zip(indices, bounds, strict=True):
        for size in pipeline.sizes:
            if form == Affine.name(size.name) and size.name not in shown:
                return (
                    f'Parameter({size.dtype}, "{size.name}", values=({low}, {high})), which each call checks'
                )
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
