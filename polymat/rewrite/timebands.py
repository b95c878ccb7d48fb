"""Recurrences over time in bands of several steps, or in steps that follow each other over their rows.

One step after another passes over memory each time; the steps of a band are a chain of stages like any other,
whose tiles keep what lies between them in a cache.  Overlapped tiling of the thesis on PolyMage's matrix
extension, section 3.1, then tiles time.  Whichever way is predicted to take least is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from types import MappingProxyType

from polymat.dataclass import dataclass
from polymat.graph.banded import Bandable, bandable, banded
from polymat.graph.circlesteps import CircleSteps, circle_steps
from polymat.graph.elimination import find_elimination
from polymat.graph.followers import with_followers
from polymat.graph.lonepoints import takes_steps_by_points
from polymat.graph.pipeline import Pipeline
from polymat.graph.sections import in_sections, sections_if_any
from polymat.graph.stage import Stage, loads_of
from polymat.graph.stepwise import StepSection, Stepwise
from polymat.lang.affine import Affine

Predict = Callable[[Pipeline], float]
"""The predicted seconds of a pipeline."""

SIZES = (4, 8)  # steps of a band that are tried
MOST_STAGES = 16  # of a band
CLEARLY = 0.8  # of the time of steps otherwise: bands have to be so much quicker, by prediction
BRANCHES = 3.0  # times the prediction that loops take at least which tell points apart innermost
GAIN = 1.25  # of it, below which steps follow each other: their loops pass over memory less often


@dataclass(frozen=True, slots=True)
class Followed:
    """Steps that follow each other: how many share a pass over the arrays, and the seconds of each."""

    steps: int
    seconds: float


Following = Callable[[StepSection[Pipeline], Stepwise[Pipeline]], Followed | None]
"""What the steps of a section are predicted to take so; None where they may not."""


Whole = Callable[[Stepwise[Pipeline]], float]
"""The predicted seconds of all sections."""


def in_bands(
    pipeline: Pipeline,
    predict: Predict,
    following: Following | None = None,
    whole: Whole | None = None,
    *,
    looped: Mapping[str, Collection[str]] = MappingProxyType({}),
    points: bool = False,
) -> Pipeline:
    """Run recurrences in the way whose steps are predicted to take least: one by one, in bands, or following.

    Bands are for those whose last states alone are read.  following: without it no steps follow each other.
    whole: without it a function that reads itself alone is a nest of loops, steps and all; with it, where
    there is no other recurrence, it runs step by step where that is predicted to be quicker.
    looped: the dimensions along which stages have loops that the user says: with one along its steps a
    recurrence stays as it is, and without it runs step by step, but in no bands.  points: where no point
    needs another one, steps are left to the pass `points`, in no bands.

    before:  u(t, i, j) reads u(t - 1, ., .), and u(T, ., .) is all that is read
    after:   eight stages at a time, the first of which reads what the last of the band before came to; or the
             same, whose steps are to follow each other
    """
    changed, joined = pipeline, _followers(pipeline)
    for names in _recurrences(pipeline):
        steps = None if joined & {*names} else circle_steps(pipeline, names)
        if steps is None or _has_loops_of_steps(steps, looped):
            continue
        if points and takes_steps_by_points(_circled(changed, steps), names):
            changed = _circled(changed, steps)
        else:
            changed = _quickened(changed, steps, predict, following, whole, looped.keys())
    return changed


def _quickened(
    pipeline: Pipeline,
    steps: CircleSteps,
    predict: Predict,
    following: Following | None,
    whole: Whole | None,
    given: Collection[str],
) -> Pipeline:
    """The pipeline with one of its recurrences in the way that is quickest; given: stages with schemes.

    Bands are not tried where as many steps follow each other as the longest have: they pass more often.
    """
    names = [member.name for member in steps.members]
    circled = _circled(pipeline, steps)
    follow = None if following is None else _follow(circled, names, predict, following)
    chosen = bandable(pipeline, steps) if {*given}.isdisjoint(names) else None
    longest = max(SIZES, default=0)
    found = None
    if chosen is not None and (follow is None or follow.steps < longest):
        found = _quickest(pipeline, chosen, predict)
    if follow is not None and (found is None or found.seconds >= CLEARLY * follow.seconds):
        return replace(circled, followed=(*pipeline.followed, *names))
    if found is None:
        if whole is None:
            return pipeline
        return circled if _is_quicker_stepwise(pipeline, circled, predict, whole) else pipeline
    seconds = f"{found.seconds:.3g} s a step, {found.alone:.3g} s one by one"
    note = f"{', '.join(names)} in bands of {found.size} steps: {seconds}"
    return replace(found.pipeline, notes=(*pipeline.notes, note))


def _recurrences(pipeline: Pipeline) -> Iterator[tuple[str, ...]]:
    """The circles of a pipeline, and the functions that read themselves alone."""
    for stage in pipeline.stages:
        if stage.circle and stage.name == stage.circle[0]:
            yield stage.circle
        elif not stage.circle and stage.reads_itself and not stage.is_reduction and len(stage.dims) > 1:
            yield (stage.name,)


def _has_loops_of_steps(steps: CircleSteps, looped: Mapping[str, Collection[str]]) -> bool:
    """Whether a stage of a recurrence has a loop of the user's along the dimension of its steps."""
    along = {member.name: member.dims[steps.axes[member.name].position] for member in steps.members}
    return any(dim in looped.get(name, ()) for name, dim in along.items())


def _followers(pipeline: Pipeline) -> set[str]:
    """The recurrences that take the steps of a circle with it, which is what they run like."""
    names = dict.fromkeys(stage.circle for stage in pipeline.stages if stage.circle)
    found = [circle_steps(pipeline, each) for each in names]
    known = [steps for steps in found if steps is not None]
    together = with_followers(pipeline, known) if len(known) == len(found) else known
    members = {member.name for steps in together for member in steps.members}
    return members - {name for each in names for name in each}


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """Bands of a size, with the predicted seconds of a step in one and of a step by itself."""

    size: int
    pipeline: Pipeline
    seconds: float
    alone: float


def _quickest(pipeline: Pipeline, chosen: Bandable, predict: Predict) -> _Found | None:
    """The bands whose steps are quickest; None where all steps are about as quick one by one.

    What bands save is passes over memory, of a band one.  So a longer one saves at most so much more than a
    shorter one as there are fewer, and is not tried where that would not do either.
    """
    alone = _body(_circled(pipeline, chosen.steps), chosen.last, predict)
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
        if seconds < CLEARLY * alone and (best is None or seconds < best.seconds):
            best = _Found(size, made, seconds, alone)
    return best


def _passes_saved(size: int) -> float:
    """The part of the passes over memory that bands of a size do not make."""
    return 1 - 1 / size


def _circled(pipeline: Pipeline, steps: CircleSteps) -> Pipeline:
    """The pipeline whose recurrence is a circle, also where it is of one stage."""
    names = tuple(member.name for member in steps.members)
    stages = (
        replace(each, circle=names) if each.name in names and each.circle != names else each
        for each in pipeline.stages
    )
    return pipeline.with_stages(tuple(stages))


def _follow(
    pipeline: Pipeline, names: Sequence[str], predict: Predict, following: Following
) -> Followed | None:
    """The cost of all steps of a circle that go on with others, where they follow each other over their rows.

    None where they do not, or would clearly be quicker one by one.  Not where they become products, many
    steps at a time, nor where a function that is no circle by itself cannot run in sections.
    """
    sections, stepped = _stepped(pipeline, names)
    if sections is None:
        return None
    found = [following(section, sections) for section in stepped]
    known = [each for each in found if each is not None]
    if not known or len(known) < len(found):
        return None
    seconds = sum(each.seconds for each in known)
    alone = sum(predict(section.level) for section in stepped if isinstance(section.level, Pipeline))
    return Followed(min(each.steps for each in known), seconds) if seconds < GAIN * alone else None


def _is_quicker_stepwise(pipeline: Pipeline, circled: Pipeline, predict: Predict, whole: Whole) -> bool:
    """Whether the one function of a pipeline that reads itself is quicker step by step than as a nest."""
    names = [name for each in _recurrences(pipeline) for name in each]
    if len(names) != 1 or pipeline.stage(names[0]).circle or not _tells_apart(pipeline.stage(names[0])):
        return False
    return _stepwise(circled, names, whole) < BRANCHES * predict(pipeline)


def _tells_apart(stage: Stage) -> bool:
    """Whether a nest of all steps of a stencil asks at each point which part of a definition it has."""
    own = [[e for e in loads_of(part) if e.source.name == stage.name] for part in stage.parts]
    here = [Affine.name(dim) for dim in stage.dims]
    apart = (i - at for loads in own for e in loads for i, at in zip(e.indices, here, strict=True))
    return sum(map(bool, own)) > 1 and all(form.is_constant for form in apart)


def _stepwise(pipeline: Pipeline, names: Sequence[str], whole: Whole) -> float:
    """Seconds of a pipeline in sections; infinite where there are none, or a step is a recurrence itself."""
    sections, stepped = _stepped(pipeline, names)
    levels = [section.level for section in stepped]
    if sections is None or not levels:
        return inf
    plain = all(isinstance(e, Pipeline) and not any(s.reads_itself for s in e.stages) for e in levels)
    return whole(sections) if plain else inf


def _stepped(
    pipeline: Pipeline, names: Sequence[str]
) -> tuple[Stepwise[Pipeline] | None, list[StepSection[Pipeline]]]:
    """The sections of a pipeline, and those that take steps of a circle that go on with others."""
    if any(find_elimination(pipeline.stage(name), pipeline) is not None for name in names):
        return None, []
    sections = sections_if_any(pipeline)
    if sections is None:
        return None, []
    own = [s for s in sections.sections if isinstance(s.level, Pipeline) and {*names} & {*s.level.outputs}]
    made = {view.array for section in own for view in section.outputs}
    going = [section for section in own if made & {view.array for view in section.inputs}]
    return sections, [section for section in going if section.steps is not None]


def _body(pipeline: Pipeline, last: Affine, predict: Predict) -> float:
    """Predicted seconds of what runs at most steps, the last of which is known; infinite where nothing is."""
    sections = in_sections(pipeline)
    if not isinstance(sections, Stepwise):
        return inf
    steps = ((section.level, section.steps) for section in sections.sections)
    levels = [level for level, each in steps if each is not None and each.last == (last,)]
    level = levels[-1] if levels else None
    return predict(level) if isinstance(level, Pipeline) else inf
