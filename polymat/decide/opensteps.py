"""Steps that may still run together in some way, since no pass before has found one for them.

The ways are asked in the order of `polymat.graph.stepwise.Together`: slices that wait, points by themselves,
steps that follow each other over rows, segments of a line.  The first that takes a section has it.
"""

from __future__ import annotations

from typing import Any

from polymat.graph.stepwise import StepSection
from polymat.plan.schedule import Schedule


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
