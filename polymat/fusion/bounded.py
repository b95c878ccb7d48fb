"""Partitions of graphs that are too large for an exhaustive search."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from polymat.fusion.dag import Dag, bits
from polymat.fusion.exact import Exhausted, MaskCost, Solution, solve
from polymat.fusion.greedy import merge_greedily
from polymat.fusion.price import MAX_GROUPS, Price

MAX_RANGE = 8  # stages of a group that is tried as a range of an order
WINDOW_STAGES = 8  # stages of consecutive groups that are partitioned anew together
MAX_MOVES = 64  # groups that are priced for moving single stages
WINDOW_STEPS = 5_000  # candidate groups of one such search


def improve(dag: Dag, price: Price, stages: int) -> Solution:
    """A cheap partition of connected stages, never dearer than greedy merging or no fusion at all.

    The cheapest of all partitions into ranges of an order, for three orders: the pipeline's own, depth first,
    and that of the greedy partition, whose groups are tried as ranges whatever their length.  Then runs of
    consecutive groups of up to `WINDOW_STAGES` stages are partitioned anew by the exact recurrence, until
    `MAX_GROUPS` more groups are priced, what is left is merged while that saves anything, and single stages
    move to groups beside theirs.
    """
    greedy = merge_greedily(dag, price, [1 << k for k in bits(stages)])
    greedy_order = [k for group in greedy.groups for k in bits(group)]
    orders = [list(bits(stages)), _depth_first(dag, stages), greedy_order]
    different = [order for k, order in enumerate(orders) if order not in orders[:k]]
    found = [_ranges(dag, price, order, greedy.groups) for order in different]
    best = min([greedy, *found], key=lambda solution: solution.cost)
    if best.cost == math.inf:
        return best
    with price.limited(MAX_GROUPS):
        best = _windows(dag, price, stages, best)
    merged = merge_greedily(dag, price, best.groups)
    with price.limited(MAX_MOVES):
        return _moved(dag, price, merged)


def _moved(dag: Dag, cost: MaskCost, solution: Solution) -> Solution:
    """Move single stages to groups beside theirs, that first which saves most, while any saves."""
    groups = solution.groups
    for _ in range(sum(group.bit_count() for group in groups)):
        try:
            moves = sorted(_moves(dag, cost, groups))
        except Exhausted:
            break
        orders = (dag.run_order(_with_move(groups, *move)) for _, *move in moves)
        moved = next((order for order in orders if order is not None), None)
        if moved is None:
            break
        groups = moved
    return Solution(sum(map(cost, groups)), groups)


def _moves(dag: Dag, cost: MaskCost, groups: Sequence[int]) -> Iterator[tuple[float, int, int, int]]:
    """What moving a stage from a group to another adds to the cost (less than nothing), with the three."""
    for home in groups:
        for k in bits(home):
            stage = 1 << k
            rest = home ^ stage
            if not rest or not dag.is_connected(rest) or not dag.is_convex(rest):
                continue
            for other in groups:
                if other != home and dag.beside[k] & other and dag.is_convex(other | stage):
                    added = cost(rest) + cost(other | stage) - cost(home) - cost(other)
                    if added < 0:
                        yield added, stage, home, other


def _with_move(groups: Sequence[int], stage: int, home: int, other: int) -> list[int]:
    return [each ^ stage if each in (home, other) else each for each in groups]


def _depth_first(dag: Dag, stages: int) -> list[int]:
    """An order in which a consumer comes as soon as it can after its last producer."""
    order: list[int] = []
    done = dag.all & ~stages
    ready = [k for k in reversed(list(bits(stages))) if not dag.pred[k] & ~done]
    while ready:
        stage = ready.pop()
        order.append(stage)
        done |= 1 << stage
        ready += [k for k in reversed(list(bits(dag.succ[stage]))) if not dag.pred[k] & ~done]
    return order


def _ranges(dag: Dag, cost: MaskCost, order: Sequence[int], always: Sequence[int]) -> Solution:
    """The cheapest partition into connected ranges of an order, which are convex whatever they hold."""
    allowed = set(always)
    best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    longest = max([MAX_RANGE, *(group.bit_count() for group in always)])
    for end in range(1, len(order) + 1):
        cheapest: tuple[float, tuple[int, ...]] = (math.inf, ())
        group = 0
        for begin in range(end - 1, max(end - longest, 0) - 1, -1):
            group |= 1 << order[begin]
            if (end - begin > MAX_RANGE and group not in allowed) or not dag.is_connected(group):
                continue
            paid = best[begin][0] + cost(group)
            if paid < cheapest[0]:
                cheapest = (paid, (*best[begin][1], group))
        best.append(cheapest)
    return Solution(*best[-1])


def _windows(dag: Dag, cost: MaskCost, stages: int, solution: Solution) -> Solution:
    """Partition runs of consecutive groups anew, one after the other."""
    groups = list(solution.groups)
    done = dag.all & ~stages
    begin = 0
    while begin < len(groups):
        end, window = begin, 0
        while end < len(groups) and (window | groups[end]).bit_count() <= WINDOW_STAGES:
            window |= groups[end]
            end += 1
        if end - begin > 1:
            groups[begin:end] = _again(dag, cost, done, groups[begin:end])
        done |= groups[begin]
        begin += 1
    return Solution(sum(map(cost, groups)), tuple(groups))


def _again(dag: Dag, cost: MaskCost, done: int, groups: Sequence[int]) -> Sequence[int]:
    goal = done
    for group in groups:
        goal |= group
    try:
        found = solve(dag, cost, done, goal, WINDOW_STEPS)
    except Exhausted:
        return groups
    return found.groups if found is not None and found.cost < sum(map(cost, groups)) else groups
