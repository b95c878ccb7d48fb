"""Slices that may wait: what a step does to them follows from themselves and from slices in front.

before:  for each step k: the column k, then what it changes in every column behind it
after:   for each block of steps: that in its own columns; then for some columns behind it at a time all these
         steps, so that the columns stay in a cache meanwhile

Column j at step k needs nothing of the columns between k and j, and what it needs of columns up to k is
still there when the block is done: it has planes for all its steps, or does not change any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from polymat.dataclass import dataclass
from polymat.graph.accesses import loads_with_domains
from polymat.graph.circles import own_index
from polymat.graph.pipeline import Pipeline
from polymat.graph.skews import StepArrays
from polymat.graph.stage import Part, Stage, loads_of
from polymat.graph.stepwise import HeldArray, StepSection
from polymat.graph.waited import Slices
from polymat.lang.affine import Affine, computed_in
from polymat.lang.expr import Load
from polymat.poly.delays import least_value
from polymat.poly.domain import Domain

Places = Mapping[str, int]


def slices_of_step(
    section: StepSection[Any], held: Mapping[str, HeldArray], *, staying: bool = True
) -> Slices | None:
    """The slices of the steps of a section that may wait; None without any, or where nothing is in front.

    staying: what they read of slices in front has to be there when a block of steps is done.
    """
    level = section.level
    if section.steps is None or section.independent or not isinstance(level, Pipeline):
        return None
    inputs = {array.name: view for array, view in zip(level.inputs, section.inputs, strict=True)}
    outputs = dict(zip(level.outputs, section.outputs, strict=True))
    step = Affine.name(section.steps.name)
    if any(view.step != step for view in outputs.values()):
        return None
    reads = _Reads(level, StepArrays(inputs, outputs, held, step), step, staying)
    states = [stage for stage in level.stages if reads.is_state(stage)]
    for stage in states:
        for place in reversed(range(len(stage.dims))):
            found = reads.slices({stage.name: place})
            if found is not None:
                return found
    return None


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """A read of a stage of the step: at this step, or so many before.

    own: the index of the slice that reads; read: of the slice that is read; where: the points.
    """

    name: str
    back: int
    own: Affine | None
    read: Affine
    where: Domain


@dataclass(frozen=True, slots=True, eq=False)
class _Reads:
    """Answers for the reads of one step."""

    level: Pipeline
    arrays: StepArrays
    step: Affine
    staying: bool

    def is_state(self, stage: Stage) -> bool:
        """Whether a stage reads what it was at earlier steps."""
        planes = map(self.arrays.plane, stage.loads())
        return any(name == stage.name and back != 0 for name, back in planes)

    def slices(self, known: Places) -> Slices | None:
        """The slices that begin with those of one stage; None where something crosses them."""
        places = self._grown(known)
        fronts = [self._front(stage, places) for stage in self.level.stages]
        ends = [end for each in fronts if each is not None for end in each]
        if None in fronts or not ends:
            return None
        named = ((stage.name, places[stage.name]) for stage in self.level.stages if stage.name in places)
        return Slices(next(self.step.names()), tuple(named), max(ends))

    def _grown(self, known: Places) -> Places:
        """With the stages that read slices, each from its own."""
        found = dict(known)
        pending = True
        while pending:
            more = {
                stage.name: place
                for stage in self.level.stages
                if stage.name not in found
                for place in [self._own_place(stage, found)]
                if place is not None
            }
            found |= more
            pending = bool(more)
        return found

    def _own_place(self, stage: Stage, places: Places) -> int | None:
        """The dimension of a stage along which it reads slices, each from its own; None without one."""
        for place in range(len(stage.dims)):
            for item in stage.definitions():
                own = own_index(stage, item, place)
                for load in loads_of(item):
                    name, _ = self.arrays.plane(load)
                    if name in places and load.indices[places[name]] == own:
                        return place
        return None

    def _front(self, stage: Stage, places: Places) -> list[int] | None:
        """How far behind the step slices are that a stage reads beside its own; None where they change."""
        found = []
        for read in self._of_slices(stage, places):
            if read is None:
                return None
            if read.own == read.read:
                continue
            if computed_in([read.read]):
                return None
            least = least_value(read.where, self.step - read.read)
            if least is None:
                if read.where.is_empty():
                    continue
                return None
            stays = read.back <= 1 and self._stays(read.name, places, read.back - 1 - least)
            if stage.name in places and self.staying and not stays:
                return None  # or changed before these steps, where it is of longer ago
            found.append(-least)
        return found

    def _of_slices(self, stage: Stage, places: Places) -> Iterator[_Read | None]:
        """What a stage reads of slices; None where it is open of which step."""
        place = places.get(stage.name)
        for item in stage.definitions():
            own = None if place is None else own_index(stage, item, place)
            domain = item.domain.assume(self.level.context)
            for expr in item.values():
                for where, load in loads_with_domains(domain, expr):
                    name, back = self.arrays.plane(load)
                    if name not in places:
                        continue
                    if back is None or back < 0:
                        yield None
                    else:
                        yield _Read(name, back, own, load.indices[places[name]], where)

    def _stays(self, name: str, places: Places, upto: int) -> bool:
        """Whether a step copies all slices of a stage up to step + upto from the step before."""
        stage = self.level.stage(name)
        if stage.is_reduction:
            return False
        dim = Affine.name(stage.dims[places[name]])
        quiet = [part for part in stage.parts if self._copies(stage, part)]
        for part in stage.parts:
            front = part.domain.assume(self.level.context).at_least_zero([self.step + upto - dim])
            if part not in quiet and not front.is_empty():
                return False
        return True

    def _copies(self, stage: Stage, part: Part) -> bool:
        own = tuple(map(Affine.name, stage.dims))
        return (
            isinstance(part.expr, Load)
            and part.expr.indices == own
            and self.arrays.plane(part.expr) == (stage.name, 1)
        )


def read_by_slices(section: StepSection[Any], slices: Slices) -> list[Stage]:
    """The stages without slices that those with slices read, which need them of all steps of a block."""
    level, sliced = section.level, {name for name, _ in slices.stages}
    assert isinstance(level, Pipeline)
    outputs = dict(zip(level.outputs, section.outputs, strict=True))
    written = {view.array: name for name, view in outputs.items()}
    views = zip(level.inputs, section.inputs, strict=True)
    before = {array.name: written.get(view.array, "") for array, view in views}
    loads = [load.source for stage in level.stages if stage.name in sliced for load in stage.loads()]
    read = {before[source.name] if source.is_input else source.name for source in loads}
    return [stage for stage in level.stages if stage.name in read - sliced]


def behind_front(stage: Stage, slices: Slices) -> Stage:
    """A stage with the slices alone that lie behind the front of a step."""
    place = slices.place(stage.name)
    assert place is not None
    dim, first = stage.dims[place], slices.behind

    def behind(domain: Domain, index: Affine) -> Domain:
        return domain.at_least_zero([index - first])

    parts = tuple(replace(part, domain=behind(part.domain, Affine.name(dim))) for part in stage.parts)
    sums = tuple(replace(a, domain=behind(a.domain, a.target[place])) for a in stage.accumulations)
    (_, high), bounds = stage.box[place], list(stage.bounds)
    bounds[place] = (first, high)
    return replace(
        stage,
        bounds=tuple(bounds),
        domain=behind(stage.domain, Affine.name(dim)),
        parts=tuple(part for part in parts if not part.domain.is_empty()),
        accumulations=sums,
    )
