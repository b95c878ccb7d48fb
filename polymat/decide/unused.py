"""Options that turn out to have no effect on a pipeline: who gave them hears of it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from polymat.errors import OptionError
from polymat.graph.pipeline import Pipeline
from polymat.options import Options
from polymat.plan.library import CallPlan, FilterPlan, TransformPlan
from polymat.plan.loops import LoopPlan
from polymat.plan.tile import Plan

_MOST_NAMED = 3


def check_tile_sizes(pipeline: Pipeline, plans: Sequence[Plan], options: Options) -> None:
    """Refuse `Options.tile_sizes` where no group has tiles, and say why none has."""
    if not options.tile_sizes or any(plan.members for plan in plans):
        return
    off = next((name for name in ("tile", "fuse") if not getattr(options, name)), None)
    if off is not None:
        why, hint = f"{off}=False leaves tiles out", "leave one of the two out"
    else:
        found = dict.fromkeys(_why(plan) for plan in plans)
        why = "; ".join([*found][:_MOST_NAMED])
        hint = "tiles are for stages that share data; blas='never', kernels=False leave it to loops"
    raise OptionError(
        f"Options.tile_sizes={options.tile_sizes} has no effect: {why}",
        at=pipeline.stage(pipeline.outputs[0]).at,
        hint=hint,
    )


def check_schemes(pipeline: Pipeline, options: Options) -> None:
    """Refuse `Options.scheme` for a stage that the pipeline has not, or no more."""
    stages = {stage.name for stage in pipeline.stages}
    unknown = next((name for name in options.schemes if name not in stages), None)
    if unknown is None:
        return
    near = difflib.get_close_matches(unknown, stages, 1) or sorted(stages)[:_MOST_NAMED]
    raise OptionError(
        f"Options.scheme[{unknown!r}] has no effect: there is no stage of this name",
        at=pipeline.stage(pipeline.outputs[0]).at,
        hint=f"the stages that are computed by themselves are among {', '.join(near)}; explain() lists them",
    )


def _why(plan: Plan) -> str:
    name = plan.group.stages[-1]
    match plan:
        case CallPlan() | TransformPlan():
            return f"{name} is computed by a library"
        case FilterPlan():
            return f"{name} is a filter, whose blocks have sizes of their own"
        case LoopPlan():
            return f"{name} runs by itself, row by row"
        case _:
            return f"{name} is computed by register blocks, which have sizes of their own"
