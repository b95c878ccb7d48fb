"""Options that turn out to have no effect on a pipeline: who gave them hears of it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from polymat.errors import OptionError
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.options import Options
from polymat.plan.library import CallPlan, FilterPlan, TransformPlan
from polymat.plan.loops import LoopPlan
from polymat.plan.schemeplan import SchemePlan
from polymat.plan.tile import Plan
from polymat.product.matching import contraction_of
from polymat.product.schemetext import Misfit
from polymat.tilesize.schemetiles import misfit_of_tiles, tiles_of_scheme

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


def check_schemes(
    pipeline: Pipeline, plans: Sequence[Plan], options: Options, assumed: Mapping[str, int]
) -> None:
    """Refuse `Options.scheme` for what is no stage of the pipeline, or no more, or has no such loops."""
    by_stage = {name: plan for plan in plans for name in plan.group.stages}
    for name, text in options.schemes.items():
        plan = by_stage.get(name)
        if plan is None:
            near = difflib.get_close_matches(name, by_stage, 1) or sorted(by_stage)[:_MOST_NAMED]
            raise OptionError(
                f"Options.scheme[{name!r}] has no effect: there is no stage of this name",
                at=pipeline.stage(pipeline.outputs[0]).at,
                hint=f"explain() lists the stages, {', '.join(near)} among them",
            )
        if isinstance(plan, SchemePlan) or contraction_of(pipeline.stage(name), pipeline.context, assumed):
            continue
        member = next((each for each in plan.members if each.stage == name), None)
        stage = pipeline.stage(name)
        wrong = _of_no_tiles(stage, plan, text) if member is None else misfit_of_tiles(member, text)
        if wrong is not None:
            told = f"Options.scheme[{name!r}] does not fit: {wrong.problem}"
            raise OptionError(told, at=stage.at, hint=wrong.hint)


def _of_no_tiles(stage: Stage, plan: Plan, text: str) -> Misfit:
    """Why the scheme of a stage that is in no tiles is none."""
    scheme = tiles_of_scheme(stage.dims, text)
    hint = "schemes are for sums of products of two arrays, and for tiles of fused stages"
    return scheme if isinstance(scheme, Misfit) else Misfit(_why(plan), hint)


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
