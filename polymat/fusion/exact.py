"""The cheapest partition of a graph: the recurrence of the thesis' figure 3.2, with memoisation.

The figure (after Jangda and Bondhugula) grows a group by a successor or closes it and goes on with the rest.
Here the same minimum is taken over whole groups: with `done` the stages of the groups closed so far,

    F(done) = min over groups H that can run next of COST(H) + F(done + H),

so a sub-problem is one set of stages that is closed under producers, however it was reached, and the graph of
groups cannot have a cycle.  H runs over all connected sets of remaining stages whose producers are in
done + H, which makes it convex.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from polymat.dataclass import dataclass
from polymat.fusion.dag import Dag, bits

MaskCost = Callable[[int], float]


@dataclass(frozen=True, slots=True)
class Solution:
    """A partition in an order in which its groups can run, and its cost."""

    cost: float
    groups: tuple[int, ...]


class Exhausted(Exception):  # noqa: N818 (no error: the answer "not within the limit")
    """The search took more steps than it was given."""


def solve(dag: Dag, cost: MaskCost, start: int, goal: int, max_steps: int | None = None) -> Solution | None:
    """The cheapest partition of the stages in `goal` but not in `start`; both closed under producers.

    None when no partition has a finite cost.  Raises `Exhausted` after `max_steps` candidate groups.
    Of equally cheap partitions the one of more groups is taken: fusion has to pay.
    """
    known: dict[int, tuple[float, int, int]] = {start: (0.0, 0, 0)}  # cost, minus groups, last group
    by_size: dict[int, list[int]] = {start.bit_count(): [start]}
    steps = 0
    for size in range(start.bit_count(), goal.bit_count()):
        for done in by_size.pop(size, ()):
            paid, count, _ = known[done]
            for group in candidates(dag, done, goal):
                steps += 1
                if max_steps is not None and steps > max_steps:
                    raise Exhausted
                price = cost(group)
                if price == math.inf:
                    continue
                reached, entry = done | group, (paid + price, count - 1, group)
                if reached not in known:
                    by_size.setdefault(reached.bit_count(), []).append(reached)
                    known[reached] = entry
                elif entry[:2] < known[reached][:2]:
                    known[reached] = entry
    return _trace(known, start, goal)


def _trace(known: dict[int, tuple[float, int, int]], start: int, goal: int) -> Solution | None:
    if goal not in known:
        return None
    groups: list[int] = []
    done = goal
    while done != start:
        groups.append(known[done][2])
        done &= ~groups[-1]
    return Solution(known[goal][0], tuple(reversed(groups)))


def candidates(dag: Dag, done: int, goal: int) -> Iterator[int]:
    """Every connected set that can run next after `done`, each once.

    Left out are sets that can as well run later: those without the first remaining stage that no remaining
    stage reads.
    """
    rest = goal & ~done
    first = rest & -rest
    closures = {k: (dag.ancestors[k] & rest) | 1 << k for k in bits(rest)}
    touching = _touching(dag, closures)
    seen: set[int] = set()
    stack = []
    for k, closure in closures.items():
        if not closure & ~dag.family[k]:
            seen.add(closure)
            stack.append(closure)
    while stack:
        group = stack.pop()
        if (dag.edges_join or dag.is_connected(group)) and (group & first or dag.consumers(group) & rest):
            yield group
        near = 0
        for k in bits(group):
            near |= touching[k]
        for k in bits(near & ~group):
            wider = group | closures[k]
            if wider not in seen:
                seen.add(wider)
                stack.append(wider)


def _touching(dag: Dag, closures: dict[int, int]) -> dict[int, int]:
    """For each stage the stages whose closure holds it, or holds one that it may be grouped with.

    A closure of several families is in no group, so its stage touches nothing.
    """
    touching = dict.fromkeys(closures, 0)
    for k, closure in closures.items():
        if closure & ~dag.family[k]:
            continue
        reached = closure
        for m in bits(closure):
            reached |= dag.beside[m]
        for m in bits(reached):
            if m in touching:
                touching[m] |= 1 << k
    return touching
