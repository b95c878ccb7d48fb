"""The arrays between the sections of a pipeline: how many planes of each are needed at a time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.errors import LangError
from polymat.graph.circlesteps import CircleSteps
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.graph.stepwise import HeldArray
from polymat.lang.affine import Affine, computed_in
from polymat.poly.domain import Domain

MOST_PLANES = 64  # that make room for later ones; where more are needed, each step has one


@dataclass(frozen=True, slots=True)
class Uses:
    """How a stage of a circle is read from outside: at steps that sizes alone decide, or anywhere."""

    at: tuple[Affine, ...]
    anywhere: bool


def uses_of(pipeline: Pipeline, steps: CircleSteps, member: Stage) -> Uses:
    """How stages that are not of its circle read a member."""
    axis, inside = steps.axes[member.name], {stage.name for stage in steps.members}
    forms = [
        axis.step(axis.split(load.indices)[0])
        for stage in pipeline.stages
        if stage.name not in inside
        for load in stage.loads()
        if load.source.name == member.name
    ]
    sizes = pipeline.context.params
    fixed = tuple(dict.fromkeys(form for form in forms if is_fixed(form, sizes)))
    return Uses(fixed, any(not is_fixed(form, sizes) for form in forms))


def is_fixed(form: Affine, sizes: Collection[str]) -> bool:
    """Whether sizes alone decide a form."""
    return not computed_in([form]) and set(form.names()).issubset(sizes)


def held_member(pipeline: Pipeline, steps: CircleSteps, member: Stage) -> HeldArray | None:
    """The planes of a stage of a circle that stay from step to step or are read behind; None without any."""
    uses, distances = uses_of(pipeline, steps, member), steps.distances[member.name]
    is_output = member.name in pipeline.outputs
    if distances <= {0} and not (uses.at or uses.anywhere or is_output):
        return None
    high = steps.span(member)[1]
    direct = is_output and is_direct(pipeline, steps, member)
    extents = plane_extents(pipeline, steps, member)
    found = _all_planes(steps, member, extents, direct=direct)
    back = [None if apart is None else apart + 1 for apart in distances]
    back += [_from_end(high, form) for form in uses.at]
    known = [each for each in back if each is not None]
    if steps.independent:  # they run in any order, and several at a time
        return found
    if len(known) == len(back) and not uses.anywhere and not is_output and max(known) <= MOST_PLANES:
        return replace(found, planes=Affine((), max(known)))
    return found


def _all_planes(steps: CircleSteps, member: Stage, extents: tuple[Affine, ...], *, direct: bool) -> HeldArray:
    """A plane for each index of a stage, in the order of the indices; direct: the first one is that of 0."""
    axis = steps.axes[member.name]
    low, high = member.box[axis.position]
    first = Affine() if direct else low
    place, count = "output" if direct else "workspace", high - first + 1
    return HeldArray(member.name, member.dtype, place, extents, first + axis.shift, count, count, axis.sign)


def _from_end(last: Affine, step: Affine) -> int | None:
    apart = last - step
    return apart.const + 1 if apart.is_constant else None


def is_direct(pipeline: Pipeline, steps: CircleSteps, member: Stage) -> bool:
    """Whether the planes of an output lie in the caller's array one after the other, from index 0 on."""
    axis = steps.axes[member.name]
    return axis.position == 0 and not is_trimmed(pipeline, member)


def is_trimmed(pipeline: Pipeline, stage: Stage) -> bool:
    """Whether the caller's array of an output begins behind index 0."""
    return pipeline.trim and any(low != Affine() for low, _ in stage.box)


def plane_extents(pipeline: Pipeline, steps: CircleSteps, member: Stage) -> tuple[Affine, ...]:
    """The extents of what a stage of a circle computes at a step."""
    axis = steps.axes[member.name]
    _, rest = axis.split(member.box)
    _, dims = axis.split(member.dims)
    for dim in dims:
        _check_low(pipeline.context, member, dim)
    return tuple(high + 1 for _, high in rest)


def held_stage(pipeline: Pipeline, stage: Stage) -> HeldArray:
    """A stage that is of no circle and read in another section."""
    for dim in stage.dims:
        _check_low(pipeline.context, stage, dim)
    direct = stage.name in pipeline.outputs and not is_trimmed(pipeline, stage)
    return HeldArray(stage.name, stage.dtype, "output" if direct else "workspace", stage.extents)


def _check_low(context: Domain, stage: Stage, dim: str) -> None:
    if not stage.domain.assume(context).at_least_zero([-Affine.name(dim) - 1]).is_empty():
        raise LangError(
            f"{stage.name} has negative indices along {dim}, and is needed step by step",
            at=stage.at,
            hint="functions that need each other, and what they read, begin at index 0 or above; shift it",
        )
