"""How fast groups compute, as a multiple of what vectorised loops do: what threads are weighed by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from polymat.graph.pipeline import Pipeline
from polymat.graph.pointwork import counted_boxes
from polymat.graph.stage import Stage
from polymat.machine.model import Machine
from polymat.model.estimates import once_a_stage
from polymat.model.team import operations_a_second, rounded
from polymat.plan.blockedsteps import EliminationPlan
from polymat.plan.tile import Plan
from polymat.tilesize.cost import plan_cost
from polymat.tilesize.home import Home
from polymat.tilesize.stagework import points


def paces(
    pipeline: Pipeline, plans: Iterable[Plan], machine: Machine, estimates: Mapping[str, int], home: Home
) -> dict[tuple[str, ...], float]:
    """The speed of each group at the estimates, by its stages.

    That of its arithmetic, whatever its data are like there: a call with small sizes has them in the caches,
    and a thread that is woken for too little is what it would lose by.  Not of eliminations, whose parts are
    counted by themselves.
    """
    found = {}
    for plan in plans:
        work = sum(counted_work(pipeline.stage(name), estimates) for name in plan.group.stages)
        seconds = plan_cost(pipeline, plan, machine, estimates, 1, home).computing
        if work > 0.0 and seconds > 0.0 and not isinstance(plan, EliminationPlan):
            found[plan.group.stages] = rounded(work / seconds / operations_a_second(machine))
    return found


@once_a_stage
def counted_work(stage: Stage, estimates: Mapping[str, int]) -> float:
    """Operations of all points of a stage, loads among them, as generated code counts them."""
    return sum(each * points(box, estimates) for each, box in counted_boxes(stage))
