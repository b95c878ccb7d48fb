"""Steps that may still run together in some way, since no pass before has found one for them.

The ways are asked in the order of `polymat.graph.stepwise.Together`: slices that wait, points by themselves,
steps that follow each other over rows, segments of a line, rows as lanes.  The first that takes a section
has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from polymat.dataclass import dataclass
from polymat.graph.pipeline import Pipeline
from polymat.graph.stepwise import StepSection, Stepwise
from polymat.machine.model import Machine
from polymat.model.assumed import assumed_sizes
from polymat.plan.schedule import Schedule
from polymat.plan.tile import Plan
from polymat.tilesize.namedgroups import all_counting
from polymat.tilesize.schemetiles import says

Usual = Callable[[Pipeline, tuple[str, ...]], Sequence[Plan]]
"""The plans of a group where nobody gives schemes, the first of which runs."""


def is_usual(pipeline: Pipeline, stages: tuple[str, ...], given: Mapping[str, str], usual: Usual) -> bool:
    """Whether schemes of the stages of a group, if there are any, are those that it has without."""
    counting = all_counting(stages, given)
    if not counting:
        return True
    plans = usual(pipeline, stages)
    return bool(plans) and all(any(says(plans[0], name, t) for t in each) for name, each in counting.items())


@dataclass(frozen=True, slots=True)
class StepsAsked:
    """The machine, estimated sizes, threads and schemes that a way of running steps together is asked with.

    given: schemes of stages by the user.  usual: the plans of a group where there are none.
    """

    machine: Machine
    estimates: Mapping[str, int]
    threads: int
    given: Mapping[str, str]
    usual: Usual

    def sizes(self, section: StepSection[Any], stepwise: Stepwise[Any]) -> dict[str, int]:
        """Sizes that are assumed, at the first step of a section."""
        assert section.steps is not None, "asked of steps"
        return {**assumed_sizes(stepwise.whole, self.estimates), section.steps.name: 0}

    def open_usual(self, section: StepSection[Any]) -> Schedule | None:
        """The schedule of a step, as `open_schedule` has it, whose plans are the usual ones.

        Where the user gives the first of a group other loops, steps run in those, one by one.
        """
        schedule = open_schedule(section)
        if schedule is None:
            return None
        pipeline, groups = schedule.grouping.pipeline, [plan.group.stages for plan in schedule.plans]
        usual = all(is_usual(pipeline, stages, self.given, self.usual) for stages in groups)
        return schedule if usual else None


def open_schedule(section: StepSection[Any]) -> Schedule | None:
    """The schedule of a step; None where steps run together already, or need no order, or may not.

    Those may not whose products have several orders, whose results are kept from call to call, or which keep
    some elements of a recurrence alone: each step then decides or stores what belongs to it.
    """
    schedule = section.level
    if section.steps is None or section.independent or section.together is not None:
        return None
    if not isinstance(schedule, Schedule) or schedule.others or schedule.kept or schedule.folds:
        return None
    return schedule
