"""Slices of recurrences: along a dimension that no read crosses, each index is a computation of its own.

Steps then run within a slice, whose states may stay in a cache of a core, and threads share the slices out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from polymat.graph.circles import own_index
from polymat.graph.circlesteps import SliceGroup, slice_steps
from polymat.graph.followers import names_read
from polymat.graph.heldarrays import is_trimmed
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage, loads_of

Positions = Mapping[str, int]


def slices_of(pipeline: Pipeline, names: Collection[str]) -> Iterator[SliceGroup]:
    """The ways to cut a recurrence into slices, with all that is made or read slice by slice beside it.

    names: its stages.  A slice has the points with one index along a dimension of each stage.  What stages
    read of each other lies in their own slice, by the affine forms of the indices, or isl where these differ.

    before:  a(t, z, i) = f(a(t - 1, z, .)), with a(0, z, i) = start(z, i); out(z, i) = a(T, z, i)
    after:   for each z: start, every step of a, and out
    """
    members = [stage for stage in pipeline.stages if stage.name in names]
    if set(names) & {*pipeline.outputs} or not members[0].dims:
        return
    for first in range(len(members[0].dims)):
        positions = _aligned(members, {members[0].name: first})
        if positions is None or not _may_be_sliced(pipeline, members, positions):
            continue
        if slice_steps(pipeline, _group(pipeline, positions)) is None:
            continue
        group = _group(pipeline, _grown(pipeline, positions))
        if _keeps_steps(pipeline, group) and slice_steps(pipeline, group) is not None:
            yield group


def _group(pipeline: Pipeline, positions: Positions) -> SliceGroup:
    return tuple((each.name, positions[each.name]) for each in pipeline.stages if each.name in positions)


def _aligned(stages: Sequence[Stage], known: Positions) -> Positions | None:
    """The dimension of each stage that reads lay upon each other; None where one has none.

    known: that of some of them, and of others that they read or are read by.
    """
    found = dict(known)
    pending = True
    while pending:
        pending = False
        for stage in stages:
            for name, place in _linked(stage, found):
                if name not in found and any(each.name == name for each in stages):
                    found[name] = place
                    pending = True
    return found if all(each.name in found for each in stages) else None


def _linked(stage: Stage, found: Positions) -> Iterator[tuple[str, int]]:
    """The stages that a stage reads, or itself, with the dimension that goes with one that is known."""
    for item in stage.definitions():
        for load in loads_of(item):
            name = load.source.name
            if load.source.is_input or name == stage.name:
                continue
            if stage.name in found:
                own = own_index(stage, item, found[stage.name])
                yield from ((name, k) for k, form in enumerate(load.indices) if form == own)
            elif name in found:
                read = load.indices[found[name]]
                places = range(len(stage.dims))
                yield from ((stage.name, k) for k in places if own_index(stage, item, k) == read)


def _may_be_sliced(pipeline: Pipeline, stages: Sequence[Stage], positions: Positions) -> bool:
    """Whether slices of stages that are outputs lie in the caller's arrays one after the other."""
    outputs = [stage for stage in stages if stage.name in pipeline.outputs]
    return all(positions[each.name] == 0 and not is_trimmed(pipeline, each) for each in outputs)


def _grown(pipeline: Pipeline, positions: Positions) -> Positions:
    """With what reads slices alone, or is made for them alone, and needs nothing else that needs them."""
    found, pending = dict(positions), True
    while pending:
        pending = False
        for unit in _units(pipeline):
            if unit[0].name in found:
                continue
            more = _joined(pipeline, unit, found)
            if more is not None:
                found |= more
                pending = True
    return found


def _units(pipeline: Pipeline) -> Iterator[tuple[Stage, ...]]:
    """The stages of a pipeline that take no steps of other slices yet, those of a circle together."""
    taken = {*pipeline.followed, *(name for group in pipeline.sliced for name, _ in group)}
    for stage in pipeline.stages:
        names = stage.circle or (stage.name,)
        if stage.name == names[0] and not taken & {*names}:
            yield tuple(map(pipeline.stage, names))


def _joined(pipeline: Pipeline, unit: tuple[Stage, ...], found: Positions) -> Positions | None:
    """Slices of further stages; None where these go with none."""
    names = {stage.name for stage in unit}
    reads = {name for stage in unit for name in names_read(stage)} - names
    readers = {each.name for each in pipeline.stages if names & names_read(each)} - names
    private = readers <= found.keys() and readers and not names & {*pipeline.outputs}
    if not (reads & found.keys() or private) or (_dependents(pipeline, found) - found.keys() - names) & reads:
        return None
    near = [pipeline.stage(name) for name in (*found, *names)]
    positions = _aligned([stage for stage in near if names & {stage.name, *names_read(stage)}], found)
    if positions is None or not _may_be_sliced(pipeline, unit, positions):
        return None
    alike = all(_keeps_to_slices(one, positions, {*found} if one in unit else names) for one in near)
    within = all(_keeps_to_slices(one, positions, names) for one in unit)
    return {name: positions[name] for name in names} if alike and within else None


def _keeps_to_slices(stage: Stage, positions: Positions, names: Collection[str]) -> bool:
    """Whether all that a stage reads of some is in its own slice."""
    for item in stage.definitions():
        own = own_index(stage, item, positions[stage.name])
        for load in loads_of(item):
            name = load.source.name
            if not load.source.is_input and name in names and load.indices[positions[name]] != own:
                return False
    return True


def _dependents(pipeline: Pipeline, names: Collection[str]) -> set[str]:
    """All stages that need some."""
    found = set(names)
    for stage in pipeline.stages:
        if found & names_read(stage):
            found |= {stage.name, *stage.circle}
    return found


def _keeps_steps(pipeline: Pipeline, group: SliceGroup) -> bool:
    """Whether nothing outside reads a recurrence, of which all steps would have to stay."""
    names = {name for name, _ in group}
    steps = {name for name in names if pipeline.stage(name).circle or pipeline.stage(name).reads_itself}
    outside = {name for each in pipeline.stages if each.name not in names for name in names_read(each)}
    return not steps & outside
