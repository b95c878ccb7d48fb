"""The steps of a circle in pieces: at all steps of one piece the same cases hold."""

from __future__ import annotations

from collections.abc import Iterator

from polymat.graph.circlesteps import CircleSteps
from polymat.graph.stage import Part
from polymat.graph.stepwise import Steps
from polymat.poly.domain import Domain

MOST_PEELED = 3  # steps, at both ends together, that have pieces of their own


def pieces(steps: CircleSteps) -> list[tuple[Steps, Domain]]:
    """The pieces in order, each with what is known of the sizes and the step.

    before:  t = 0 .. T, where one case holds at t = 0 and another at t >= 1
    after:   t = 0, and t = 1 .. T
    """
    front, back = peeled(steps)
    first, last, step, name = steps.first, steps.last, steps.step, steps.name
    found = []
    for k in range(front):
        here = steps.context.at_least_zero([first + k - step])
        here = here.at_least_zero([step - first - k])
        found.append((Steps(name, (first + k,), (first + k, last)), here))
    inner = steps.context.at_least_zero([step - first - front, last - back - step])
    found.append((Steps(name, (first + front,), (last - back,)), inner))
    for k in reversed(range(back)):
        here = steps.context.at_least_zero([step - last + k, last - k - step, step - first - front])
        found.append((Steps(name, (last - k, first + front), (last - k,)), here))
    return [(when, context) for when, context in found if not context.is_empty()]


def peeled(steps: CircleSteps) -> tuple[int, int]:
    """How many steps at the beginning and at the end are unlike the others; none where that is no help."""
    domains = [*_domains(steps)]
    for total in range(MOST_PEELED + 1):
        for front in reversed(range(total + 1)):
            limits = [steps.step - steps.first - front, steps.last - (total - front) - steps.step]
            inner = steps.context.at_least_zero(limits)
            if all(domain.is_alike_for(steps.name, inner) for domain in domains):
                return front, total - front
    return 0, 0


def _domains(steps: CircleSteps) -> Iterator[Domain]:
    """Where each definition holds at a step."""
    for stage in steps.members:
        axis = steps.axes[stage.name]
        index = axis.index(steps.step)
        for item in stage.definitions():
            dim = stage.dims[axis.position]
            if not isinstance(item, Part):
                dim = next(item.target[axis.position].names())
            yield item.domain.sliced(dim, index).over(steps.context.params)
