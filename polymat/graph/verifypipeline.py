"""What must hold of a pipeline: accesses in bounds, every point defined once, recurrences orderable."""

from __future__ import annotations

import re
from collections.abc import Sequence

from polymat.errors import BoundsError, CoverageError, ShapeError
from polymat.graph.accesses import loads_with_domains
from polymat.graph.circlesteps import takes_steps
from polymat.graph.pipeline import Pipeline
from polymat.graph.pointtext import point_text, with_sizes
from polymat.graph.stage import Accumulation, Bounds, Part, Stage
from polymat.graph.verifycomputed import check_places, what_clamps, what_limits
from polymat.graph.verifyorder import check_circle, check_order
from polymat.lang.affine import Affine, computed_in
from polymat.lang.expr import Load
from polymat.lang.function import MAX_RANK
from polymat.poly.access import Access
from polymat.poly.domain import Domain
from polymat.poly.freed import freed

_PARAMETERS = re.compile(r"^\[[^]]*\] -> ")


def verify(pipeline: Pipeline) -> Pipeline:
    """Return the pipeline if it is sound, else raise the error that says where it is not."""
    readable = {
        array.name: Domain.box(
            pipeline.context.params,
            [f"d{k}" for k in range(len(array.extents))],
            [(Affine(), extent - 1) for extent in array.extents],
        )
        for array in pipeline.inputs
    }
    bounds: dict[str, Bounds] = {
        array.name: tuple((Affine(), extent - 1) for extent in array.extents) for array in pipeline.inputs
    }
    readable.update((stage.name, stage.domain) for stage in pipeline.stages)
    bounds.update((stage.name, stage.bounds) for stage in pipeline.stages)
    for stage in pipeline.stages:
        _check_coverage(pipeline, stage)
        for domain, expr in stage.expressions():
            for where, load in loads_with_domains(domain, expr):
                name = load.source.name
                _check_load(pipeline, stage, where, load, readable[name], bounds[name])
        for accumulation in stage.accumulations:
            _check_target(pipeline, stage, accumulation)
        if stage.name in pipeline.outputs:
            _check_output(pipeline, stage)
        if stage.circle:
            check_circle(pipeline, stage)
        elif stage.reads_itself and not takes_steps(pipeline, stage):
            check_places(pipeline, stage)
            check_order(pipeline, stage)
    return pipeline


def _example_text(example: dict[str, int], dims: Sequence[str], sizes: Sequence[str]) -> str:
    """`at i = 3 with N = 3`; of a stage without dimensions `with N = 0`."""
    where = [
        f"{word} {point_text(example, names)}" for word, names in (("at", dims), ("with", sizes)) if names
    ]
    return " ".join(where) or "there"


def _shown(indices: Sequence[Affine | int]) -> str:
    return ", ".join(str(form) for form in indices)


def _indices_text(domain: Domain, bounds: Bounds) -> str:
    """`has indices 0..N-1` for a rectangle, isl's text for any other shape."""
    sides = [side for pair in bounds for side in pair]
    simple = bounds and all(set(side.names()) <= set(domain.params) for side in sides)
    if simple and Domain.box(domain.params, domain.dims, bounds).equals(domain):
        return "has indices " + ", ".join(f"{low}..{high}".replace(" ", "") for low, high in bounds)
    return f"is defined on {_PARAMETERS.sub('', str(domain))}"


def _check_load(
    pipeline: Pipeline, stage: Stage, domain: Domain, load: Load, target: Domain, bounds: Bounds
) -> None:
    where = domain.assume(pipeline.context)
    example = _outside(where, load.indices, target)
    if example is None:
        return
    name, (point, element) = pipeline.called(load.source.name), example
    sizes = [n for n in where.params if n in point]
    raise BoundsError(
        f"{pipeline.called(stage.name)} reads {name}({_shown(load.indices)}) outside {name}: "
        f"{_example_text(point, where.dims, sizes)}{_values_text(point, load.indices)} "
        f"this is {name}({_shown(element)}), "
        f"and {name} {_indices_text(target, bounds)}",
        at=load.at,
        hint=_what_helps(where, load, target, {name: point[name] for name in sizes})
        or what_clamps(load.indices, element, bounds)
        or what_limits(load.indices, bounds, pipeline)
        or "narrow the interval, put the access under a Case or Select, or give constraints= on the sizes",
    )


def _outside(
    where: Domain, indices: Sequence[Affine], target: Domain
) -> tuple[dict[str, int], tuple[int, ...]] | None:
    """A point at which indices may name an element outside of an array, and that element.

    Values that indices are computed from are in the point by their own texts.
    """
    if Access.of(where, indices).outside(target).is_empty():
        return None
    free, forms = freed(where, indices)
    example = Access.of(free, forms).outside(target).example()
    if example is None:
        return None
    texts = zip(free.dims[len(where.dims) :], computed_in(indices), strict=True)
    point = example | {str(atom): example[dim] for dim, atom in texts if dim in example}
    return point, tuple(int(form.evaluate(example)) for form in forms)


def _values_text(point: dict[str, int], indices: Sequence[Affine]) -> str:
    """` and a(i) = 7`, for the values that indices are computed from."""
    return "".join(f" and {atom} = {point[str(atom)]}" for atom in computed_in(indices))


def _what_helps(where: Domain, load: Load, target: Domain, sizes: dict[str, int]) -> str:
    """The small bounds on sizes, one where that is enough, that rule out every such read; else nothing."""

    def ruled_out(bounds: dict[str, int]) -> bool:
        larger = where.at_least_zero([Affine.name(size) - most - 1 for size, most in bounds.items()])
        return Access.of(larger, load.indices).outside(target).example() is None

    tried = [{size: least + more} for size, least in sizes.items() for more in range(4)]
    tried += [{size: least + more for size, least in sizes.items()} for more in range(4)]
    found = next(filter(ruled_out, tried), None)
    if found is None:
        return ""
    for size in sizes if len(found) > 1 else ():
        rest = {other: most for other, most in found.items() if other != size}
        found = rest if ruled_out(rest) else found
    conditions = ", ".join(f"Condition({size}, '>', {most})" for size, most in found.items())
    return f"compile(..., constraints=[{conditions}]), or a Case or Select for sizes that small"


def _check_target(pipeline: Pipeline, stage: Stage, accumulation: Accumulation) -> None:
    where, target = accumulation.domain.assume(pipeline.context), accumulation.target
    example = _outside(where, target, stage.domain)
    if example is None:
        return
    name, (point, element) = pipeline.called(stage.name), example
    raise BoundsError(
        f"{name} accumulates into {name}({_shown(target)}) outside its domain: "
        f"{_example_text(point, (*where.dims, *where.params), ())}{_values_text(point, target)} "
        f"this is {name}({_shown(element)}), "
        f"and {name} {_indices_text(stage.domain, stage.bounds)}",
        at=accumulation.at,
        hint=what_clamps(target, element, stage.bounds),
    )


def _check_output(pipeline: Pipeline, stage: Stage) -> None:
    context, name = pipeline.context, pipeline.called(stage.name)
    if len(stage.dims) > MAX_RANK:
        raise ShapeError(
            f"the output {name} has {len(stage.dims)} dimensions, an array has at most {MAX_RANK}",
            at=stage.at,
        )
    for dim, (low, _) in zip(stage.dims, stage.bounds, strict=True):
        negative = stage.domain.assume(context).at_least_zero([-Affine.name(dim) - 1]).example()
        if negative is not None:
            raise BoundsError(
                f"the output {name} has the negative lower bound {low} for {dim}: "
                f"{point_text(negative, (*stage.dims, *context.params))}",
                at=stage.at,
                hint="the array of an output starts at index 0; shift the domain",
            )


def _check_coverage(pipeline: Pipeline, stage: Stage) -> None:
    context, name = pipeline.context, pipeline.called(stage.name)
    if len(stage.parts) == 1 and stage.parts[0].condition is None and not stage.parts[0].fills:
        return
    seen: list[Part] = []
    for part in stage.parts:
        here = part.domain.assume(context)
        for other in seen:
            twice = here.intersect(other.domain).example()
            if twice is not None:
                raise CoverageError(
                    f"two cases of {name} define the point {point_text(twice, stage.dims)}"
                    f"{with_sizes(twice, context)}",
                    at=part.at,
                    hint=f"the other case is at {other.at}",
                )
        seen.append(part)
    rest = stage.domain.assume(context)
    for part in stage.parts:
        rest = rest.subtract(part.domain)
    never = rest.example()
    if never is not None:
        raise CoverageError(
            f"no case of {name} defines the point {point_text(never, stage.dims)}"
            f"{with_sizes(never, context)}",
            at=stage.at,
            hint="add a Case, or give the function a default=",
        )
