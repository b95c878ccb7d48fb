"""The partition of a pipeline into groups that costs least."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from polymat.dataclass import dataclass
from polymat.errors import InternalError
from polymat.fusion.bounded import improve
from polymat.fusion.dag import Dag, Edge
from polymat.fusion.exact import Exhausted, Solution, solve
from polymat.fusion.price import MAX_GROUPS, Price
from polymat.fusion.quotient import Quotient
from polymat.graph.group import Group, Grouping
from polymat.graph.pipeline import Pipeline

GroupCost = Callable[[tuple[str, ...]], float]

MAX_STEPS = 20_000  # candidates of a search: the same groups come again after others

EXACT = "exact: no other partition into connected groups costs less"
BOUNDED = (
    f"bounded: stages are connected in too many groups to price all (more than {MAX_GROUPS}), or to search; "
    "costs no more than merging greedily, nor than no fusion"
)
UNDIVIDED = "; stages that read each other at their own point alone are not divided"


@dataclass(frozen=True, slots=True)
class Partition:
    """Groups of stages in an order in which they can run.

    exact: whether no other partition into connected groups costs less.
    """

    groups: tuple[tuple[str, ...], ...]
    cost: float
    exact: bool


def partition(
    pipeline: Pipeline,
    cost: GroupCost,
    *,
    joins: Iterable[Edge] | None = None,
    together: Collection[tuple[str, ...]] = (),
    max_steps: int = MAX_STEPS,
) -> Grouping:
    """Partition a pipeline; see `partition_stages`.

    together: sets of stages that are not divided where all groups are too many to price.
    """
    whole = Dag.of_pipeline(pipeline, joins)
    parts = [part for part in whole.components(whole.all) if any(whole.mask(n) & part for n in together)]
    many = [set(whole.group(part)) for part in parts if not _is_within(whole, part, max_steps)]
    sets = [names for names in together if any(part.issuperset(names) for part in many)]
    graph = Quotient.of(whole, [names for names in sets if cost(names) < math.inf])
    found = partition_stages(graph.dag, lambda nodes: cost(graph.stages(nodes)), max_steps=max_steps)
    note = EXACT if found.exact else BOUNDED
    if len(graph.masks) < len(whole.names):
        note += UNDIVIDED
    ordered = _in_order(whole, map(graph.stages, found.groups))
    return Grouping(pipeline, tuple(map(Group, ordered)), note)


def _in_order(dag: Dag, groups: Iterable[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Groups part after part, in an order that follows from them alone, however a search came to them."""
    masks = [dag.mask(stages) for stages in groups]
    for part in dag.components(dag.all):
        yield from map(dag.group, dag.run_order([mask for mask in masks if mask & part]) or ())


def partition_stages(dag: Dag, cost: GroupCost, *, max_steps: int = MAX_STEPS) -> Partition:
    """The partition into connected groups, in a runnable order, whose costs add up to the least.

    cost: of a group by the names of its stages, producers first; infinity for one that is not allowed.  It is
    asked once for every group, and about connected groups only that no path leaves and enters again.

    The minimum over all partitions for every connected component of no more than `MAX_GROUPS` groups that is
    searched in `max_steps` candidates.  Beyond that the guarantees of `bounded.improve` hold: never more than
    the greedy partition, nor than no fusion at all.
    """
    price = Price(dag, cost)
    groups: list[int] = []
    total, exact = 0.0, True
    for component in dag.components(dag.all):
        found, is_exact = _component(dag, price, component, max_steps)
        groups += found.groups
        total += found.cost
        exact = exact and is_exact
    return Partition(tuple(dag.group(mask) for mask in groups), total, exact)


def _component(dag: Dag, price: Price, stages: int, max_steps: int) -> tuple[Solution, bool]:
    exact = _is_within(dag, stages, max_steps)
    found = solve(dag, price, dag.all & ~stages, dag.all) if exact else improve(dag, price, stages)
    if found is None or found.cost == math.inf:
        names = ", ".join(dag.group(stages))
        raise InternalError(f"bug in polymat: no partition of {names} has a finite cost")
    return found, exact


def _is_within(dag: Dag, stages: int, max_steps: int) -> bool:
    """Whether the search stays within its limits, which no cost changes: it is run without any."""
    known: set[int] = set()

    def ask(mask: int) -> float:
        known.add(mask)
        if len(known) > MAX_GROUPS:
            raise Exhausted
        return 0.0

    try:
        solve(dag, ask, dag.all & ~stages, dag.all, max_steps)
    except Exhausted:
        return False
    return True
