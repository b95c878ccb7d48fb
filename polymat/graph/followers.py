"""Recurrences that follow a circle step by step, without being needed by it: they take its steps with it.

before:  r and p need each other at t - 1; x(t, .) = x(t - 1, .) + p(t, .), and every p(t, .) stays until then
after:   x takes steps together with r and p, and two planes of each stay
"""

from __future__ import annotations

from collections.abc import Sequence

from polymat.graph.circlesteps import CircleSteps, circle_steps
from polymat.graph.heldarrays import uses_of
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage


def with_followers(pipeline: Pipeline, circles: Sequence[CircleSteps]) -> list[CircleSteps]:
    """The circles of a pipeline, those that recurrences follow with these, which may be circles as well."""
    found, left = list[CircleSteps](), [*circles]
    while left:
        steps = left.pop(0)
        if not steps.independent:
            steps = _followed(pipeline, steps, found, left)
            left = [each for each in left if not _names([each]) <= _names([steps])]
        found.append(steps)
    return found


def _followed(
    pipeline: Pipeline, steps: CircleSteps, before: Sequence[CircleSteps], behind: Sequence[CircleSteps]
) -> CircleSteps:
    """A circle with what follows it, where less of it has to stay in memory then.

    before, behind: other circles, which take their steps before it and behind it: what is a part of one of
    them does not follow but with all of it, nor does what needs another of the latter.
    """
    done, circles = _names(before), [_names([each]) for each in behind if not each.independent]
    for stage in pipeline.stages:
        stay = _stay(pipeline, steps)
        if not stay:
            break
        if not stage.reads_itself or stage in steps.members:
            continue
        names = _with_between(pipeline, _names([steps]), _group(stage))
        later = _names(behind).difference(*(circle for circle in circles if circle <= names))
        if names & (done | later) or needed_by(pipeline, names) & later:
            continue
        together = circle_steps(pipeline, tuple(each.name for each in pipeline.stages if each.name in names))
        if together is not None and stay - _stay(pipeline, together):
            steps = together
    return steps


def _stay(pipeline: Pipeline, steps: CircleSteps) -> set[str]:
    """The members that stay in memory as they are at every step, since something else reads all of that."""
    members = (member for member in steps.members if member.name not in pipeline.outputs)
    return {member.name for member in members if uses_of(pipeline, steps, member).anywhere}


def _group(stage: Stage) -> set[str]:
    return {stage.name, *stage.circle}


def _names(circles: Sequence[CircleSteps]) -> set[str]:
    return {member.name for steps in circles for member in steps.members}


def needed_by(pipeline: Pipeline, names: set[str]) -> set[str]:
    """Those stages, and all that they need."""
    needed = set(names)
    for stage in reversed(pipeline.stages):
        if needed & _group(stage):
            needed |= names_read(stage)
    return needed


def _with_between(pipeline: Pipeline, producers: set[str], readers: set[str]) -> set[str]:
    """Producers and readers, and all that needs one of the former and is needed by one of the latter."""
    needed, needy = needed_by(pipeline, readers), set(producers)
    for stage in pipeline.stages:
        if needy & names_read(stage):
            needy |= _group(stage)
    return producers | readers | (needed & needy)


def names_read(stage: Stage) -> set[str]:
    """The stages that a stage needs itself, with those of its circle."""
    return {load.source.name for load in stage.loads() if not load.source.is_input} | set(stage.circle)
