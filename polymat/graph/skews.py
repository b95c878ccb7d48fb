"""Steps that run over the rows of their arrays one behind the other, so that rows stay in a cache meanwhile.

before:  step t over all rows, then step t + 1 over all rows, ...
after:   some rows of step t, then of step t + 1 those that lie so far behind that all they need is there and
         nothing that they write is needed any more, then of step t + 2, ...; then the next rows of step t

Which order is right follows from how far rows lie apart that need each other: rows that are read must have
been written, and what is written over must have been read.  Nothing is computed twice, or kept elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from polymat.dataclass import dataclass
from polymat.graph.pipeline import Pipeline
from polymat.graph.skewed import Skew, Skews
from polymat.graph.stage import Stage
from polymat.graph.stepwise import ArrayView, HeldArray, StepSection
from polymat.lang.affine import Affine
from polymat.lang.expr import Load

MOST_BEHIND = 64  # rows that one step may have to stay behind the one before


@dataclass(frozen=True, slots=True)
class _Need:
    """A point of `sink`, `steps` later than `source`, comes after the points of that which lie so far away.

    apart: the index of the source less that of the sink, along each dimension; None where that is open.
    """

    source: int
    sink: int
    steps: int
    apart: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class StepArrays:
    """The arrays of a step: inputs and outputs by name, as planes of arrays that are held, by name."""

    inputs: Mapping[str, ArrayView]
    outputs: Mapping[str, ArrayView]
    held: Mapping[str, HeldArray]
    step: Affine

    def plane(self, load: Load) -> tuple[str, int | None]:
        """The output whose array a load reads, and how many steps earlier; none: nobody changes that array.

        The number is None where it depends on the step.
        """
        name = load.source.name
        if not load.source.is_input:
            return name, 0
        view = self.inputs[name]
        writer = next((key for key, each in self.outputs.items() if each.array == view.array), "")
        apart = None if view.step is None else self.step - view.step
        return writer, apart.const if apart is not None and apart.is_constant else None

    def planes(self, output: str) -> int | None:
        """How many steps later the plane of an output is written again; 0: never, None: that is open."""
        held = self.held[self.outputs[output].array]
        if not held.is_folded:
            return 0
        return held.planes.const if held.planes.is_constant else None


def find_skews(stages: Sequence[Stage], arrays: StepArrays) -> Skews | None:
    """The order of steps of these stages, as they run one after the other; None where there is none.

    Each is computed point by point from what others made, itself an array that is held, and reads of arrays
    that change rows a fixed number of rows away.
    """
    if not all(_is_plain(stage) and stage.name in arrays.outputs for stage in stages):
        return None
    if any(view.step != arrays.step for view in arrays.outputs.values()):
        return None
    needs = [*_needs(stages, arrays)]
    if None in needs:
        return None
    known = [need for need in needs if need is not None]
    outer = _skew(known, len(stages), 0)
    if outer is None:
        return None
    names = tuple(stage.name for stage in stages)
    inner = _skew(known, len(stages), 1) if all(len(stage.dims) > 2 for stage in stages) else None
    return Skews(names, (outer,) if inner is None else (outer, inner))


def _is_plain(stage: Stage) -> bool:
    alone = all(load.source.is_input or load.source.name != stage.name for load in stage.loads())
    return alone and bool(stage.dims) and not stage.is_reduction


def _needs(stages: Sequence[Stage], arrays: StepArrays) -> Iterator[_Need | None]:
    """What has to come before what; None where that is open."""
    places = {stage.name: place for place, stage in enumerate(stages)}
    for sink, stage in enumerate(stages):
        for load in stage.loads():
            name, back = arrays.plane(load)
            if not name:
                continue
            source, planes = places.get(name), arrays.planes(name)
            if source is None or back is None or planes is None or back < 0:
                yield None
                continue
            apart = tuple(_apart(stage, load, level) for level in range(2))
            yield _Need(source, sink, back, apart)
            if planes:
                later = next(
                    each
                    for each in range(planes - back, 2 * planes + 1, planes)
                    if each > 0 or (each == 0 and source >= sink)
                )
                yield _Need(sink, source, later, tuple(None if each is None else -each for each in apart))


def _apart(stage: Stage, load: Load, level: int) -> int | None:
    """How much larger the index of what is read is than that of the point; None where that depends."""
    if level >= min(len(stage.dims), len(load.indices)):
        return None
    form = load.indices[level] - Affine.name(stage.dims[level])
    return form.const if form.is_constant else None


def _skew(needs: Sequence[_Need], count: int, level: int) -> Skew | None:
    """The least skew along a dimension by which all comes in order."""
    if any(need.apart[level] is None for need in needs):
        return None
    for step in range(MOST_BEHIND + 1):
        lags = _lags(needs, count, level, step)
        if lags is not None:
            return Skew(step, lags)
    return None


def _lags(needs: Sequence[_Need], count: int, level: int, step: int) -> tuple[int, ...] | None:
    """Lags of stages where steps are so far behind each other: longest paths; None where a circle grows."""
    lags = [0] * count
    for _ in range(count + 1):
        before = tuple(lags)
        for need in needs:
            apart = need.apart[level] or 0
            lags[need.sink] = max(lags[need.sink], lags[need.source] + apart - step * need.steps)
        if tuple(lags) == before:
            return before
    return None


def skews_of(
    section: StepSection[Any], pipeline: Pipeline, stages: Sequence[Stage], held: Mapping[str, HeldArray]
) -> Skews | None:
    """The order of the steps of a section whose pipeline runs these stages; None where it has none."""
    if section.steps is None:
        return None
    inputs = {array.name: view for array, view in zip(pipeline.inputs, section.inputs, strict=True)}
    outputs = dict(zip(pipeline.outputs, section.outputs, strict=True))
    return find_skews(stages, StepArrays(inputs, outputs, held, Affine.name(section.steps.name)))
