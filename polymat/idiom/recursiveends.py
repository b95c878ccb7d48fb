"""What is kept of recursive filters in a row: the last result, and the last samples of every signal."""

from __future__ import annotations

from polymat.dataclass import dataclass
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.idiom.recursion import Recursion
from polymat.idiom.recursive import match_recursion
from polymat.lang.affine import Affine
from polymat.lang.expr import Const, Load
from polymat.poly.domain import Domain


@dataclass(frozen=True, slots=True, eq=False)
class Ending:
    """A stage that keeps the last samples of every signal of a chain, the newest first.

    chain, channels: its dimensions for those of the chain.  age: that for how many steps from the end.
    """

    stage: Stage
    chain: str
    channels: tuple[str, ...]
    age: str


def match_result(stage: Stage, found: Recursion, context: Domain) -> tuple[str, ...] | None:
    """A stage that is the last result of a chain: its dimensions for channels and time, in that order."""
    load = _copied(stage, found)
    if load is None or len(stage.parts) != 1 or stage.dtype != found.stage.dtype:
        return None
    names = []
    for dim, form, bounds in zip(found.stage.dims, load.indices, found.stage.box, strict=True):
        if dim == found.chain:
            if form != Affine((), found.count):
                return None
            continue
        own = next((d for d in stage.dims if form == Affine.name(d)), None)
        if own is None or own in names or stage.box[stage.dims.index(own)] != bounds:
            return None
        names.append(own)
    whole = stage.domain.assume(context)
    return tuple(names) if len(names) == len(stage.dims) and whole.is_box() else None


def match_ending(stage: Stage, found: Recursion, context: Domain) -> Ending | None:
    """A stage that is the last samples of every signal of a chain, and zero before the start."""
    load = _copied(stage, found)
    if load is None or stage.dtype != found.stage.dtype or not stage.domain.assume(context).is_box():
        return None
    names: dict[str, str] = {}
    ages = [d for d in stage.dims if stage.box[stage.dims.index(d)][1].is_constant]
    for dim, form, bounds in zip(found.stage.dims, load.indices, found.stage.box, strict=True):
        if dim == found.time:
            back = bounds[1] - form
            own = next((d for d in ages if back == Affine.name(d)), None)
        else:
            own = next((d for d in stage.dims if form == Affine.name(d)), None)
            own = own if own is not None and stage.box[stage.dims.index(own)] == bounds else None
        if own is None or own in names.values():
            return None
        names[dim] = own
    age = names[found.time]
    low, high = stage.box[stage.dims.index(age)]
    if len(names) != len(stage.dims) or low != Affine() or high.const >= found.section.depth:
        return None
    begins = stage.domain.at_least_zero([load.indices[found.stage.dims.index(found.time)]]).assume(context)
    copied = next(part for part in stage.parts if part.expr == load)
    if not copied.domain.assume(context).equals(begins) or found.chain is None:
        return None
    channels = tuple(names[dim] for dim in found.channels)
    return Ending(stage, names[found.chain], channels, age)


def _copied(stage: Stage, found: Recursion) -> Load | None:
    """The one element of a recurrence that a stage copies; None if it is anything else, but for zeros."""
    if stage.is_reduction:
        return None
    loads = [part.expr for part in stage.parts if isinstance(part.expr, Load)]
    others = [part.expr for part in stage.parts if not isinstance(part.expr, Load)]
    zeros = all(isinstance(each, Const) and each.value == 0 for each in others)
    return loads[0] if len(loads) == 1 and zeros and loads[0].source == found.stage.ref else None


def kept_of_chains(pipeline: Pipeline) -> frozenset[str]:
    """The stages that keep some results of recursive filters in a row, whose results have no array then."""
    found: set[str] = set()
    for stage in pipeline.stages:
        chain = match_recursion(stage, pipeline.context, pipeline.extents)
        if chain is not None and chain.chain is not None:
            readers = (each for each in pipeline.stages if each is not stage)
            found |= {each.name for each in readers if any(x.source.name == stage.name for x in each.loads())}
    return frozenset(found)
