"""Options that turn out to have no effect on a pipeline: who gave them hears of it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from polymat.dataclass import dataclass
from polymat.decide.schemeplans import MODELLED
from polymat.errors import Location, OptionError, counted
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.machine.model import Machine
from polymat.model.assumed import assumed_sizes
from polymat.options import Options
from polymat.plan.library import CallPlan, FilterPlan, TransformPlan
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import MergedPlan
from polymat.plan.registerblocks import own_kernel
from polymat.plan.schedule import Schedule
from polymat.plan.schemeplan import SchemePlan
from polymat.plan.tile import Plan, TilePlan
from polymat.product.kernelfit import UserKernels
from polymat.product.scheme import Scheme
from polymat.product.schemetext import Misfit, read_scheme
from polymat.tilesize.loopschemes import other_vectors, tiled_loops
from polymat.tilesize.namedgroups import alternatives, misfit_of_group, schemes_among
from polymat.tilesize.schemeplanner import misfit_error, plan_loops, plan_merged
from polymat.tilesize.schemetiles import (
    is_for_one,
    misfit_of_plan,
    products_of,
    says,
    sizes_by_schemes,
    with_inner_loops,
)

_MOST_NAMED = 3


def check_effects(
    schedules: Sequence[Schedule],
    options: Options,
    estimates: Mapping[str, int],
    machine: Machine,
    name: str,
) -> None:
    """Refuse `Options.tile_sizes`, `bands`, `blocks` and `scheme` where no group does what they say.

    schedules: of all sections of the program, in all orders of its products.  name: of the program.
    """
    every = [each for schedule in schedules for each in (schedule, *(other for _, other in schedule.others))]
    planned = [Planned(schedule.grouping.pipeline, plan) for schedule in every for plan in schedule.plans]
    _check_tile_sizes(planned, options)
    _check_bands(planned, options)
    _check_microkernels(planned, options, name)
    _check_blocks(planned, options)
    _check_schemes(planned, options, estimates, machine)


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """The plan of a group of a pipeline."""

    pipeline: Pipeline
    plan: Plan

    @property
    def at(self) -> Location | None:
        """Where the first output of the pipeline is defined."""
        return self.pipeline.stage(self.pipeline.outputs[0]).at


def _first_at(planned: Sequence[Planned]) -> Location | None:
    """Where the first output is defined; None where no stage is left, of sizes without points."""
    return planned[0].at if planned else None


def _check_tile_sizes(planned: Sequence[Planned], options: Options) -> None:
    """Say why no group has tiles, where sizes of them are given, or where there are too many of these."""
    if not options.tile_sizes:
        return
    if any(each.plan.members for each in planned):
        _check_count(planned, options.tile_sizes)
        return
    off = next((name for name in ("tile", "fuse") if not getattr(options, name)), None)
    if off is not None:
        why, hint = f"{off}=False leaves tiles out", "leave one of the two out"
    else:
        found = dict.fromkeys(_why(each.plan) for each in planned)
        why = "; ".join([*found][:_MOST_NAMED])
        hint = "tiles are for stages that share data; blas='never', kernels=False leave it to loops"
    raise OptionError(
        f"Options.tile_sizes={options.tile_sizes} has no effect: {why}", at=_first_at(planned), hint=hint
    )


def _check_count(planned: Sequence[Planned], sizes: Sequence[int]) -> None:
    """Say where there are more sizes than any stage in tiles has dimensions, whatever of these are tiled."""
    stages = [each.pipeline.stage(member.stage) for each in planned for member in each.plan.members]
    most = max(stages, key=lambda stage: len(stage.dims))
    if len(sizes) > len(most.dims):
        given = f"Options.tile_sizes={sizes} has {counted(len(sizes), 'size')}"
        text = f"{given}, of which tiles take {len(most.dims)} at most"
        raise OptionError(text, at=most.at, hint=f"outermost first they run along {', '.join(most.dims)}")


def _check_bands(planned: Sequence[Planned], options: Options) -> None:
    """Say where bands are no bands, or are left out; where no recurrence has any, their pass has said it."""
    off = next((f"{name}=False" for name in ("tile", "fuse") if not getattr(options, name)), None)
    if off is None and options.cost != "time":
        off = f"cost={options.cost!r}"
    if "bands" in options.skip:
        off = "skip"
    if options.bands and (off is not None or options.bands == 1):
        why = "a band of one step is that step" if options.bands == 1 else f"{off} leaves them out"
        text = f"Options.bands={options.bands} has no effect: {why}"
        raise OptionError(text, at=_first_at(planned), hint="0, the default, is as many as pay")


def _check_microkernels(planned: Sequence[Planned], options: Options, name: str) -> None:
    """Say which microkernel no scheme calls, and which has the name of another one or of an array."""
    texts = (each for text in options.schemes.values() for each in alternatives(text))
    called = {scheme.kernel for scheme in schemes_among(texts)}
    taken = {name}
    for each in planned if options.microkernels else ():
        taken |= {*each.pipeline.extents, *(size.name for size in each.pipeline.sizes)}
    for kernel in options.microkernels:
        at, has = _first_at(planned), f"Options.microkernels has {kernel.name}"
        if kernel.name not in called:
            hint = f"Call({kernel.name}) is the last atom of a scheme, behind U and V"
            raise OptionError(f"{has}, which no scheme calls", at=at, hint=hint)
        if kernel.name in taken:
            hint = "each name in C is one thing's"
            raise OptionError(f"{has}, a name that something else has", at=at, hint=hint)
        taken.add(kernel.name)


def _check_blocks(planned: Sequence[Planned], options: Options) -> None:
    """Say why no stage has loops of the model, or blocks of the ranking, where these are asked for."""
    chosen = (each.plan for each in planned if _has_blocks_of(each.plan, options.blocks))
    if options.blocks == "shares" or any(
        options.schemes.keys().isdisjoint(plan.group.stages) for plan in chosen
    ):
        return
    if options.blas == "always":
        why = "blas='always' leaves products to a library"
    else:
        free = "no stage that Options.scheme leaves free" if options.schemes else "no stage"
        boxes = " in one type of real numbers over a box" if options.blocks in MODELLED else ""
        why = f"{free} is a sum of products of two arrays{boxes}"
    raise OptionError(
        f"Options.blocks={options.blocks!r} has no effect: {why}",
        at=_first_at(planned),
        hint="blocks='shares', the default, has blocks for all other products",
    )


def _has_blocks_of(plan: Plan, policy: str) -> bool:
    """Whether a policy of `Options.blocks` decides something of a plan.

    A library's call counts where it leaves some sizes to blocks of ours.
    """
    if policy in MODELLED:
        return isinstance(plan, SchemePlan)
    return any(own_kernel(plan.part(member.stage)) is not None for member in plan.members) or (
        own_kernel(plan) is not None
    )


def _check_schemes(
    planned: Sequence[Planned], options: Options, estimates: Mapping[str, int], machine: Machine
) -> None:
    """Say why a scheme is for no stage of the program, or no more, or for none with such loops."""
    by_stage: dict[str, list[Planned]] = {}
    for each in planned:
        for name in each.plan.group.stages:
            by_stage.setdefault(name, []).append(each)
    for name, text in options.schemes.items():
        if name not in by_stage:
            near = difflib.get_close_matches(name, by_stage, 1) or sorted(by_stage)[:_MOST_NAMED]
            raise OptionError(
                f"Options.scheme[{name!r}] has no effect: there is no stage of this name",
                at=_first_at(planned),
                hint=f"explain() lists the stages, {', '.join(near)} among them",
            )
        found = by_stage[name]  # several sections may have a stage, one with such loops is enough
        for one in alternatives(text):
            every = (_misfit(each, name, one, options, estimates, machine) for each in found)
            wrong = [misfit for misfit in every if misfit is not None]
            if len(wrong) == len(found):
                raise misfit_error(found[-1].pipeline.stage(name), wrong[-1])


def _misfit(
    found: Planned,
    name: str,
    text: str,
    options: Options,
    estimates: Mapping[str, int],
    machine: Machine,
) -> Misfit | None:
    """Why a stage has no such loops; those of contractions were checked when they were planned."""
    plan = found.plan
    if says(plan, name, text):
        return None
    products = products_of(found.pipeline, options.schemes, estimates)
    wanted, every = (
        sizes_by_schemes(plan.members, each, products) for each in ({name: text}, options.schemes)
    )
    if any(every[level] != size for level, size in wanted.items()):
        return Misfit("the scheme of another stage in the same tiles has other sizes", "one stage says them")
    wrong, scheme = misfit_of_plan(plan, name, text), read_scheme(text)
    if wrong is None and isinstance(plan.part(name), LoopPlan) and isinstance(scheme, Scheme):
        return other_vectors(scheme.own, machine.lanes(found.pipeline.stage(name).dtype.size))
    if wrong is None or isinstance(scheme, Misfit) or misfit_of_group(plan.group.stages, name, scheme):
        return wrong
    stage, assumed = found.pipeline.stage(name), assumed_sizes(found.pipeline, estimates)
    user = UserKernels.of(options.microkernels, found.pipeline)
    if isinstance(plan, TilePlan):
        within = with_inner_loops(plan, found.pipeline, machine, assumed, {name: text}, user)
        return within if isinstance(within, Misfit) else wrong
    if isinstance(plan, MergedPlan) and scheme.fused:
        made = plan_merged(plan, scheme, found.pipeline.context, machine, assumed, user)
        return made if isinstance(made, Misfit) else wrong
    if len(plan.group.stages) == 1 and is_for_one(scheme, name):
        own = plan_loops(found.pipeline, stage, scheme, machine, assumed, user)
        return own if isinstance(own, Misfit) else wrong
    return wrong if plan.members or scheme.words("Call") else _of_no_tiles(stage, plan, scheme)


def _of_no_tiles(stage: Stage, plan: Plan, scheme: Scheme) -> Misfit:
    """Why sizes of tiles are none of a stage that is in no tiles."""
    found = tiled_loops(scheme)
    if isinstance(found, Misfit):
        return found
    none = next((loop.dim for loop in scheme.loops if loop.kind == "T" and loop.dim not in stage.dims), None)
    if none is not None:
        return Misfit(f"nothing is tiled along {none}", f"tiles run along {', '.join(stage.dims)}")
    hint = "fuse(a) names the stages that share tiles, R(x) the loops of a stage by itself"
    return Misfit(_why(plan), hint)


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
