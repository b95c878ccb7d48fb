"""Recurrences over time in bands of several steps.

One step after another passes over memory each time; the steps of a band are a chain of stages like any other,
whose tiles keep what lies between them in a cache.  Overlapped tiling of the thesis on PolyMage's matrix
extension, section 3.1, then tiles time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

from polymat.dataclass import dataclass
from polymat.graph.banded import Bandable, banded
from polymat.graph.circlesteps import CircleSteps
from polymat.graph.pipeline import Pipeline
from polymat.graph.sections import in_sections
from polymat.graph.stepwise import Stepwise
from polymat.lang.affine import Affine

Predict = Callable[[Pipeline], float]
"""The predicted seconds of a pipeline."""

SIZES = (4, 8)  # steps of a band that are tried
MOST_STAGES = 16  # of a band
CLEARLY = 0.8  # of the time of steps otherwise: bands have to be so much quicker, by prediction


def longest_band() -> int:
    """The steps of the longest band that is tried."""
    return max(SIZES, default=0)


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """Bands of a size, with the predicted seconds of a step in one and of a step by itself."""

    size: int
    pipeline: Pipeline
    seconds: float
    alone: float

    def are_quicker_than(self, seconds: float) -> bool:
        """Whether their steps are clearly quicker than steps that take so long."""
        return self.seconds < CLEARLY * seconds

    @property
    def text(self) -> str:
        """In words, for notes."""
        return f"in bands of {self.size} steps: {self.seconds:.3g} s a step, {self.alone:.3g} s one by one"


def quickest_bands(pipeline: Pipeline, chosen: Bandable, predict: Predict) -> Bands | None:
    """The bands whose steps are quickest; None where all steps are about as quick one by one.

    What bands save is passes over memory, of a band one.  So a longer one saves at most so much more than a
    shorter one as there are fewer, and is not tried where that would not do either.
    """
    alone = _body(circled(pipeline, chosen.steps), chosen.last, predict)
    if alone == inf:
        return None
    members = len(chosen.steps.members)
    best, saved, before = None, inf, 1
    for size in SIZES:
        if not chosen.has(size) or size * members > MOST_STAGES:
            continue
        most = saved * _passes_saved(size) / _passes_saved(before) if before > 1 else inf
        if alone - most >= CLEARLY * alone:
            break
        made = banded(pipeline, chosen, size)
        seconds = _body(made, chosen.bands(size), predict) / size
        saved, before = alone - seconds, size
        found = Bands(size, made, seconds, alone)
        if found.are_quicker_than(alone) and (best is None or seconds < best.seconds):
            best = found
    return best


def _passes_saved(size: int) -> float:
    """The part of the passes over memory that bands of a size do not make."""
    return 1 - 1 / size


def circled(pipeline: Pipeline, steps: CircleSteps) -> Pipeline:
    """The pipeline whose recurrence is a circle, also where it is of one stage."""
    names = tuple(member.name for member in steps.members)
    stages = (
        replace(each, circle=names) if each.name in names and each.circle != names else each
        for each in pipeline.stages
    )
    return pipeline.with_stages(tuple(stages))


def _body(pipeline: Pipeline, last: Affine, predict: Predict) -> float:
    """Predicted seconds of what runs at most steps, the last of which is known; infinite where nothing is."""
    sections = in_sections(pipeline)
    if not isinstance(sections, Stepwise):
        return inf
    steps = ((section.level, section.steps) for section in sections.sections)
    levels = [level for level, each in steps if each is not None and each.last == (last,)]
    level = levels[-1] if levels else None
    return predict(level) if isinstance(level, Pipeline) else inf
