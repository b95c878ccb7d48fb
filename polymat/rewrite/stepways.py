"""In which way the steps of recurrences over time run: one by one, in bands, or following each other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from math import inf

from polymat.dataclass import dataclass
from polymat.errors import OptionError
from polymat.graph.banded import bandable, banded
from polymat.graph.circlesteps import CircleSteps, circle_steps, recurrences
from polymat.graph.elimination import find_elimination
from polymat.graph.followers import with_followers
from polymat.graph.lonepoints import takes_steps_by_points
from polymat.graph.pipeline import Pipeline
from polymat.graph.sections import sections_if_any
from polymat.graph.stage import Stage, loads_of
from polymat.graph.stepwise import StepSection, Stepwise
from polymat.lang.affine import Affine
from polymat.rewrite.timebands import Predict, circled, longest_band, quickest_bands

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

ByPoints = Callable[[Pipeline | Stepwise[Pipeline]], float]
"""The predicted seconds of a pipeline, or of sections whose points take steps by themselves if they may."""


@dataclass(frozen=True, slots=True, eq=False)
class StepWays:
    """The ways in which steps of recurrences may run, and what they are predicted to take.

    predict: of a pipeline.  following: without it no steps follow each other.  whole: without it a function
    that reads itself alone is a nest of loops, steps and all; with it, where there is no other recurrence, it
    runs step by step where that is predicted to be quicker.
    looped: the dimensions along which stages have loops that the user says: with one along its steps a
    recurrence stays as it is, and without it runs step by step, but in no bands.  points: with it,
    where no point needs another one, steps are left to the pass `points`, in no bands; those of a function
    that reads itself alone where that is predicted to be quicker than its nest of loops.
    bands: of so many steps, whatever these are predicted to take, all recurrences that may; 0: as many as
    pay, by prediction.
    """

    predict: Predict
    following: Following | None = None
    whole: Whole | None = None
    looped: Mapping[str, Collection[str]] = field(default_factory=dict)
    points: ByPoints | None = None
    bands: int = 0

    def decided(self, pipeline: Pipeline) -> Pipeline:
        """Each recurrence in the way whose steps are predicted to take least.

        Bands are for those whose last states alone are read.

        before:  u(t, i, j) reads u(t - 1, ., .), and u(T, ., .) is all that is read
        after:   eight stages at a time, the first of which reads what the last of the band before came to; or
                 the same, whose steps are to follow each other
        """
        changed, joined, banded_any = pipeline, _followers(pipeline), False
        for names in _recurrences(pipeline):
            steps = None if joined & {*names} else circle_steps(pipeline, names)
            if steps is None or _has_loops_of_steps(steps, self.looped):
                continue
            made = self._in_bands(changed, steps) if self.bands else None
            if made is not None:
                changed, banded_any = made, True
            elif self._goes_by_points(changed, steps, names):
                changed = circled(changed, steps)
            else:
                changed = self._quickened(changed, steps)
        if self.bands and not banded_any:
            at = pipeline.stage(pipeline.outputs[0]).at
            why = "no recurrence steps along its first dimension to last states that alone are read"
            text = f"Options.bands={self.bands} has no effect: {why}, reading at most {self.bands} steps back"
            hint = "bands have as many steps as are read back, or more, and no more than a call takes"
            raise OptionError(text, at=at, hint=hint)
        return changed

    def _in_bands(self, pipeline: Pipeline, steps: CircleSteps) -> Pipeline | None:
        """The pipeline with a recurrence in bands as long as it is told; None where it cannot have these."""
        names = [member.name for member in steps.members]
        chosen = bandable(pipeline, steps) if {*self.looped}.isdisjoint(names) else None
        if chosen is None or not chosen.has(self.bands):
            return None
        note = f"{', '.join(names)} in bands of {self.bands} steps, as Options.bands says"
        return replace(banded(pipeline, chosen, self.bands), notes=(*pipeline.notes, note))

    def _goes_by_points(self, pipeline: Pipeline, steps: CircleSteps, names: tuple[str, ...]) -> bool:
        """Whether the points of a recurrence are to take its steps by themselves."""
        apart = circled(pipeline, steps)
        if self.points is None or not takes_steps_by_points(apart, names):
            return False
        if pipeline.stage(names[0]).circle:
            return True
        stepwise, nest = sections_if_any(apart), sections_if_any(pipeline) or pipeline
        return stepwise is None or self.points(stepwise) < self.points(nest)

    def _quickened(self, pipeline: Pipeline, steps: CircleSteps) -> Pipeline:
        """The pipeline with one of its recurrences in the way that is quickest.

        Bands are not tried where as many steps follow each other as the longest have: they pass more often.
        """
        names = [member.name for member in steps.members]
        apart = circled(pipeline, steps)
        follow = self._follow(apart, names)
        chosen = bandable(pipeline, steps) if {*self.looped}.isdisjoint(names) else None
        bands = None
        if chosen is not None and (follow is None or follow.steps < longest_band()):
            bands = quickest_bands(pipeline, chosen, self.predict)
        if follow is not None and (bands is None or not bands.are_quicker_than(follow.seconds)):
            return replace(apart, followed=(*pipeline.followed, *names))
        if bands is None:
            return apart if self._is_quicker_stepwise(pipeline, apart) else pipeline
        return replace(bands.pipeline, notes=(*pipeline.notes, f"{', '.join(names)} {bands.text}"))

    def _follow(self, pipeline: Pipeline, names: Sequence[str]) -> Followed | None:
        """The cost of steps of a circle that go on with others, where they follow each other over their rows.

        None where they do not, or would clearly be quicker one by one.  Not where they become products, many
        steps at a time, nor where a function that is no circle by itself cannot run in sections.
        """
        if self.following is None:
            return None
        sections, stepped = _stepped(pipeline, names)
        if sections is None:
            return None
        found = [self.following(section, sections) for section in stepped]
        known = [each for each in found if each is not None]
        if not known or len(known) < len(found):
            return None
        seconds = sum(each.seconds for each in known)
        alone = sum(self.predict(section.level) for section in stepped if isinstance(section.level, Pipeline))
        return Followed(min(each.steps for each in known), seconds) if seconds < GAIN * alone else None

    def _is_quicker_stepwise(self, pipeline: Pipeline, apart: Pipeline) -> bool:
        """Whether the one function of a pipeline that reads itself is quicker step by step than as a nest."""
        if self.whole is None:
            return False
        names = [name for each in _recurrences(pipeline) for name in each]
        if len(names) != 1 or pipeline.stage(names[0]).circle or not _tells_apart(pipeline.stage(names[0])):
            return False
        return _stepwise(apart, names, self.whole) < BRANCHES * self.predict(pipeline)


def _recurrences(pipeline: Pipeline) -> Iterator[tuple[str, ...]]:
    """The recurrences of a pipeline, but for sums that read themselves alone."""
    for names in recurrences(pipeline):
        first = pipeline.stage(names[0])
        if first.circle or not first.is_reduction:
            yield names


def may_have_bands(pipeline: Pipeline) -> bool:
    """Whether a recurrence may run in bands, however long."""
    every = (circle_steps(pipeline, names) for names in _recurrences(pipeline))
    return any(steps is not None and bandable(pipeline, steps) is not None for steps in every)


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
