"""What `Options` takes away from a plan, or forces on it, after it was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Accumulation, Stage
from polymat.lang.affine import Affine
from polymat.model.extents import extent, tile_size
from polymat.options import Options
from polymat.plan.epilogue import EpiloguePlan
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import NestPlan
from polymat.plan.tile import Plan, TilePlan
from polymat.tilesize.plain import IN_ORDER
from polymat.tilesize.schemetiles import products_of, sizes_by_schemes
from polymat.tilesize.tileshape import on_grid

MOST_SCRATCH_BYTES = 1 << 26  # of the arrays of one forced tile: a thread has to find room for them


def switched(plan: Plan, pipeline: Pipeline, estimates: Mapping[str, int], options: Options) -> Plan:
    """The plan without unrolling and vectors where they are switched off, and with the forced tile sizes."""
    match plan:
        case TilePlan():
            loops = {name: _nest(inner, options) for name, inner in plan.loops.items()}
            changed = any(loops[name] is not inner for name, inner in plan.loops.items())
            plan = _forced(replace(plan, loops=loops) if changed else plan, pipeline, estimates, options)
            return plan if options.vector and options.unroll else replace(plan, row_loop=None)
        case _:
            return _nest(plan, options)


def _nest(plan: NestPlan, options: Options) -> NestPlan:
    match plan:
        case LoopPlan():
            return _loops(plan, options)
        case EpiloguePlan(readers=readers):
            return replace(plan, readers={name: _nest(inner, options) for name, inner in readers.items()})
        case _:
            return plan


def _loops(plan: LoopPlan, options: Options) -> LoopPlan:
    if not options.unroll:
        plan = replace(_row_by_row(plan), unroll=1, addends=1, planes=None)
    if not options.outwards and plan.outwards and plan.recurrence is not None:
        parallel = zip(plan.order, plan.recurrence.parallel, strict=True)
        inner = next((dim for dim, flag in parallel if flag), None)
        plan = replace(plan, parallel=inner, outwards=False, reason=IN_ORDER)
    return plan if options.vector else replace(plan, vector=None, lanes=1)


def _row_by_row(plan: LoopPlan) -> LoopPlan:
    """The plan without a loop of rows that take turns."""
    plain = None if plan.recurrence is None else plan.recurrence.plain
    if plain is None:
        return plan
    return replace(plan, order=plan.order[: len(plain.parallel)], recurrence=plain, reason=IN_ORDER)


def _forced(plan: TilePlan, pipeline: Pipeline, estimates: Mapping[str, int], options: Options) -> TilePlan:
    """The plan with the sizes of `options`: those that no scheme names no larger than known extents.

    Sizes whose scratchpads no thread should be asked to find room for are halved, the largest first: those
    that no scheme names before the others.
    """
    products = products_of(pipeline, options.schemes, estimates)
    named = sizes_by_schemes(plan.members, options.schemes, products)
    if not options.tile_sizes and not named:
        return plan
    sizes = options.tile_sizes or plan.sizes
    wanted = [named.get(k, sizes[min(k, len(sizes) - 1)]) for k in range(len(plan.dims))]
    stages = {member.stage: pipeline.stage(member.stage) for member in plan.members}
    for level in {*range(len(plan.dims))} - {*named}:
        forms = [
            form.scale(member.scale(level))
            for member in plan.members
            if (own := member.dims[level]) is not None
            and (form := dim_extent(stages[member.stage], own)) is not None
        ]
        if forms and all(name in estimates for form in forms for name in form.names()):
            longest = max(extent(form, estimates) for form in forms)
            wanted[level] = max(1, min(wanted[level], int(longest)))
    scratch = [member for member in plan.members if member.scratch]
    size_of = tile_size(stages, scratch, estimates)
    while max(wanted) > 1 and size_of(wanted) > MOST_SCRATCH_BYTES:
        free = [level for level, size in enumerate(wanted) if size > 1 and level not in named]
        largest = max(free or range(len(wanted)), key=wanted.__getitem__)
        wanted[largest] = (wanted[largest] + 1) // 2
    reason = f"{plan.reason}; tile sizes by Options.{'scheme' if named else 'tile_sizes'}"
    loop = plan.row_loop.of_rows(wanted[0]) if plan.row_loop else None
    return replace(
        plan, sizes=on_grid(wanted, plan.members), crossing=None, reason=reason, row_loop=loop, forced=True
    )


def dim_extent(stage: Stage, dim: str) -> Affine | None:
    """The extent of a dimension of a stage, one of the result or a reduced one; None of any other."""
    items: list[Stage | Accumulation] = [stage, *stage.accumulations]
    for item in items:
        if dim in item.dims:
            low, high = item.box[item.dims.index(dim)]
            return high - low + 1
    return None
