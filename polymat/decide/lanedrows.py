"""Which steps of rows run as lanes of vectors (`polymat.graph.lanerows`): all that can.

Beside points one by one they have the same terms in vectors, no sums of lanes and no calls, so that they take
less however short rows are; and rows that fill no vector are left to the loops of single steps.  Columns are
summed up side by side: as many as multiply-adds are on their way at a time, in half of the registers at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from polymat.decide.opensteps import StepsAsked
from polymat.graph.laned import LanedRows, RowCircle
from polymat.graph.lanerows import row_circle
from polymat.graph.pipeline import Pipeline
from polymat.graph.placedreads import shared_arrays
from polymat.graph.stepwise import HeldArray, Steps, StepSection, Stepwise
from polymat.plan.schedule import Schedule

LEAST_LANES = 4


def with_laned_rows(stepwise: Stepwise[Schedule], asked: StepsAsked) -> Stepwise[Schedule]:
    """Let rows be the lanes of vectors where they need none of each other in most of their columns.

    before:  for each row: for each column: a sum along the row
    after:   for each 8 rows: for each 8 columns: 64 sums, in 8 vectors
    """
    inside = stepwise.map(lambda schedule: schedule.grouping.pipeline).sections
    pipelines = dict(zip(stepwise.sections, inside, strict=True))
    held = {each.name: each for each in stepwise.held}
    return stepwise.with_sections(lambda section: _laned(section, pipelines[section], held, asked))


def _laned(
    section: StepSection[Any],
    pipelines: StepSection[Pipeline],
    held: Mapping[str, HeldArray],
    asked: StepsAsked,
) -> StepSection[Any]:
    """A section with its rows together, unless the user gives one of its sums other loops."""
    level, machine = section.level, asked.machine
    if section.together is not None or not isinstance(level, Stepwise):
        return section
    schedules = [*level.flat()]
    if any(each.others or each.kept or each.folds for each in schedules):
        return section
    names = [name for each in schedules for plan in each.plans for name in plan.group.stages]
    if not asked.given.keys().isdisjoint(names):
        return section
    shared = shared_arrays(pipelines, held)
    circle = None if shared is None else row_circle(shared)
    lanes = 0 if circle is None else machine.lanes(circle.dtype.size)
    if circle is None or lanes < LEAST_LANES:
        return section
    vectors = _vectors(section, circle, asked)
    columns = min(machine.fma_units * machine.fma_latency, machine.vector_registers // 2 // vectors)
    return replace(section, together=LanedRows(circle, lanes, vectors, columns))


def _vectors(section: StepSection[Any], circle: RowCircle, asked: StepsAsked) -> int:
    """Two where the rows that a group reads come from the second-level cache, so that each goes further.

    That is half of a square of columns, at sizes that the user has told; one where these are open.
    """
    assert section.steps is not None
    numbers = section.steps.numbers(asked.estimates) if _is_known(section.steps, asked) else range(0)
    known = {*circle.first.names()} - {circle.row} <= asked.estimates.keys()
    if not numbers or not known:
        return 1
    last = numbers[-1]
    columns = last - int(circle.first.evaluate({**asked.estimates, circle.row: last}))
    return 2 if columns**2 / 2 * circle.dtype.size > asked.machine.l1_bytes else 1


def _is_known(steps: Steps, asked: StepsAsked) -> bool:
    """Whether the user has told what says how many steps there are."""
    return {name for form in (*steps.first, *steps.last) for name in form.names()} <= asked.estimates.keys()
