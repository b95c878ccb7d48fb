"""The partition of a pipeline into groups that costs least."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from polymat.errors import InternalError
from polymat.fusion.bounded import improve
from polymat.fusion.dag import Dag, Edge
from polymat.fusion.exact import Exhausted, Solution, solve
from polymat.graph.group import Group, Grouping
from polymat.graph.pipeline import Pipeline

GroupCost = Callable[[tuple[str, ...]], float]

EXACT_STAGES = 12  # connected stages up to which the partition is always the cheapest
MAX_STEPS = 20_000  # candidates after which more stages than that are no longer partitioned exactly,
# or stages in all groups whose cost was asked, whichever comes first: a long group takes long to price.
# All groups of 12 stages that are all connected have 24 576, those of a chain of 60 have 37 820.
MAX_ASKED = 1 << 16

EXACT = "exact: no other partition into connected groups costs less"
BOUNDED = (
    f"bounded: more than {EXACT_STAGES} stages are connected in too many ways to try all; "
    "costs no more than merging greedily, nor than no fusion"
)


@dataclass(frozen=True, slots=True)
class Partition:
    """Groups of stages in an order in which they can run.

    exact: whether no other partition into connected groups costs less.
    """

    groups: tuple[tuple[str, ...], ...]
    cost: float
    exact: bool


def partition(
    pipeline: Pipeline, cost: GroupCost, *, joins: Iterable[Edge] | None = None, max_steps: int = MAX_STEPS
) -> Grouping:
    """Partition a pipeline; see `partition_stages`."""
    found = partition_stages(Dag.of_pipeline(pipeline, joins), cost, max_steps=max_steps)
    return Grouping(
        pipeline, tuple(Group(names) for names in found.groups), EXACT if found.exact else BOUNDED
    )


def partition_stages(dag: Dag, cost: GroupCost, *, max_steps: int = MAX_STEPS) -> Partition:
    """The partition into connected groups, in a runnable order, whose costs add up to the least.

    cost: of a group by the names of its stages, producers first; infinity for one that is not allowed.  It is
    asked once for every group, and about connected groups only that no path leaves and enters again.

    The minimum over all partitions for every connected component of up to `EXACT_STAGES` stages, and for
    larger ones (chains of up to 70, say) whose search stays within `max_steps` candidates and `MAX_ASKED`
    stages of them.  Beyond that the guarantees of `bounded.improve` hold: never more than the greedy
    partition, nor than no fusion at all.
    """
    price = _Price(dag, cost)
    groups: list[int] = []
    total, exact = 0.0, True
    for component in dag.components(dag.all):
        found, is_exact = _component(dag, price, component, max_steps)
        groups += found.groups
        total += found.cost
        exact = exact and is_exact
    return Partition(tuple(dag.group(mask) for mask in groups), total, exact)


class _Price:
    """The cost of a group by its mask, asked once; gives up after `limit` stages of groups."""

    def __init__(self, dag: Dag, cost: GroupCost) -> None:
        self.dag, self.cost = dag, cost
        self.limit: int | None = None
        self.known: dict[int, float] = {}
        self.asked = 0

    def __call__(self, mask: int) -> float:
        if mask not in self.known:
            if self.limit is not None and self.asked >= self.limit:
                raise Exhausted
            self.asked += mask.bit_count()
            self.known[mask] = self.cost(self.dag.group(mask))
        return self.known[mask]


def _component(dag: Dag, price: _Price, stages: int, max_steps: int) -> tuple[Solution, bool]:
    small = stages.bit_count() <= EXACT_STAGES
    price.limit = None if small else price.asked + MAX_ASKED
    found: Solution | None
    try:
        found = solve(dag, price, dag.all & ~stages, dag.all, None if small else max_steps)
        exact = True
    except Exhausted:
        price.limit = None
        found, exact = improve(dag, price, stages), False
    if found is None or found.cost == math.inf:
        names = ", ".join(dag.group(stages))
        raise InternalError(f"bug in polymat: no partition of {names} has a finite cost")
    return found, exact
