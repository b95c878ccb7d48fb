"""Recurrences slice by slice, all steps of one before the next slice, where that is predicted to be quicker.

Step by step, loops run over all slices at once, which may be vectors and pass over memory at every step; a
slice by itself stays in a cache of a core, may become products of its own, and meets no other thread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from math import inf, prod
from types import MappingProxyType

from polymat.errors import LangError
from polymat.graph.circlesteps import SliceGroup, recurrences
from polymat.graph.lonepoints import takes_steps_by_points
from polymat.graph.pipeline import Pipeline
from polymat.graph.sections import in_sections
from polymat.graph.slices import slices_of
from polymat.graph.stepwise import Stepwise
from polymat.machine.model import MEMORY, Machine
from polymat.model.stepcalls import CUT_STEP_SECONDS
from polymat.model.team import sharing_seconds
from polymat.options import Options

Predict = Callable[[Pipeline], float]
"""The predicted seconds of a pipeline without circles, on as many threads as it has."""

CLEARLY = 0.8  # of the time of steps that go through all slices: slices have to be so much quicker


def in_slices(
    pipeline: Pipeline,
    prices: Prices,
    sizes: Mapping[str, int],
    *,
    looped: Mapping[str, Collection[str]] = MappingProxyType({}),
    points: bool = False,
) -> Pipeline:
    """Run recurrences slice by slice where that is predicted to take clearly less.

    looped: dimensions along which the user has said what loops some stages have, so that no slices are along
    these.  Loops that leave a dimension out are those within a slice, and predicted as such.  points: where
    no point of a circle needs another one, its steps are left to the pass `points`, in no slices.

    before:  for each step: a(t, z, .), for every z
    after:   for each z: a(t, z, .), for every step; the steps of one z are a computation of its own
    """
    changed, tried = pipeline, set[SliceGroup]()
    for names in recurrences(pipeline):
        taken = {*changed.followed, *(name for group in changed.sliced for name, _ in group)}
        alone = points and looped.keys().isdisjoint(names) and takes_steps_by_points(changed, names)
        if not alone and not taken & {*names}:
            found = [group for group in slices_of(changed, names) if group not in tried]
            tried |= {*found}
            free = [group for group in found if _is_free(changed, group, looped)]
            changed = _quickest(changed, names, free, prices, sizes)
    return changed


def _is_free(pipeline: Pipeline, group: SliceGroup, looped: Mapping[str, Collection[str]]) -> bool:
    """Whether no stage has loops of the user's along the dimension that would be cut into slices."""
    return not any(pipeline.stage(name).dims[place] in looped.get(name, ()) for name, place in group)


def _quickest(
    pipeline: Pipeline,
    names: tuple[str, ...],
    groups: Sequence[SliceGroup],
    prices: Prices,
    sizes: Mapping[str, int],
) -> Pipeline:
    """The pipeline with a recurrence in the quickest slices; itself where none are clearly quicker."""
    if not groups:
        return pipeline
    alone = prices.seconds(pipeline, sizes)
    others = [replace(pipeline, sliced=(*pipeline.sliced, group)) for group in groups]
    seconds, found = min(((prices.seconds(other, sizes), k) for k, other in enumerate(others)))
    if seconds >= CLEARLY * alone:
        return pipeline
    dim = pipeline.stage(names[0]).dims[dict(groups[found])[names[0]]]
    note = f"{', '.join(names)} slice by slice along {dim}: {seconds:.3g} s, {alone:.3g} s step by step"
    return replace(others[found], notes=(*pipeline.notes, note))


class Prices:
    """Predicted seconds of whole pipelines in sections; alone: predicts for one thread, which has a slice."""

    def __init__(
        self, predict: Predict, machine: Machine, options: Options, alone: Predict | None = None
    ) -> None:
        self.predict = predict
        self.alone = alone or predict
        self.machine = machine
        self.threads = machine.team(options.threads)

    def seconds(self, pipeline: Pipeline, sizes: Mapping[str, int]) -> float:
        """Of a pipeline, in sections where it has some; infinite where it cannot be split."""
        try:
            return self.of(in_sections(pipeline), sizes, self.predict)
        except LangError:
            return inf

    def of(self, level: Pipeline | Stepwise[Pipeline], sizes: Mapping[str, int], predict: Predict) -> float:
        """Of a pipeline without circles, or of sections, by some prediction of each."""
        if isinstance(level, Pipeline):
            return predict(level)
        total = 0.0
        for section in level.sections:
            if section.steps is None:
                total += self.of(section.level, sizes, predict)
                continue
            numbers = section.steps.numbers(sizes)
            times = len(numbers)
            middle = {**sizes, **section.steps.at((numbers.start + numbers.stop - 1) // 2, sizes)}
            shared = section.independent and self.threads > 1 and times > 1
            one = CUT_STEP_SECONDS + self.of(section.level, middle, self.alone if shared else predict)
            if shared:
                rounds = self._rounds(times, section.level, middle)
                total += sharing_seconds(self.machine) + rounds * one
            else:
                total += times * one
        return total

    def _rounds(self, times: int, level: Pipeline | Stepwise[Pipeline], sizes: Mapping[str, int]) -> float:
        """Of so many slices, those that follow each other on all threads.

        Slices that no core's own cache holds are as much quicker together as the memory that they share gives
        several threads more than one.
        """
        team = min(self.threads, times)
        held = _bytes(level, sizes)
        if held <= self.machine.capacity(2, team):
            return -(-times // team)
        shared = 3 if held <= self.machine.capacity(3, team) else MEMORY
        more = self.machine.bandwidth(shared, team) / self.machine.bandwidth(shared)
        return max(times / max(more, 1.0), -(-times // team))


def _bytes(level: Pipeline | Stepwise[Pipeline], sizes: Mapping[str, int]) -> float:
    """What a slice reads and makes, at most."""
    whole = level if isinstance(level, Pipeline) else level.whole
    arrays = [(each.dtype.size, each.extents) for each in whole.inputs]
    if isinstance(level, Pipeline):
        arrays += [(each.dtype.size, each.extents) for each in level.stages]
    else:
        arrays += [(each.dtype.size, (each.planes, *each.extents)) for each in level.held]
    counts = [(size, [max(float(form.evaluate(sizes)), 0.0) for form in forms]) for size, forms in arrays]
    return sum((size * prod(extents) for size, extents in counts), 0.0)
