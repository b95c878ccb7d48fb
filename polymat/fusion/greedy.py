"""Greedy fusion: the baseline that the recurrence is measured against.

PolyMage's first heuristic (the thesis on its matrix extension, section 3.1.1) merges a group with its
consumer while that is allowed and the overlap stays small; here the cost says both: the merge that saves
most goes first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from polymat.fusion.dag import Dag, bits
from polymat.fusion.exact import MaskCost, Solution


def merge_greedily(dag: Dag, cost: MaskCost, groups: Sequence[int]) -> Solution:
    """Merge two groups at a time, the pair that saves most, until no merge saves anything."""
    while True:
        merges = sorted(_savings(dag, cost, groups))
        orders = (dag.run_order(_merged(groups, first, second)) for _, first, second in merges)
        merged = next((order for order in orders if order is not None), None)
        if merged is None:
            return Solution(sum(map(cost, groups)), tuple(groups))
        groups = merged


def _savings(dag: Dag, cost: MaskCost, groups: Sequence[int]) -> list[tuple[float, int, int]]:
    """What merging two neighbouring groups adds to the cost (less than nothing), with the groups."""
    found = []
    for position, first in enumerate(groups):
        near = 0
        for k in bits(first):
            near |= dag.beside[k]
        for second in groups[position + 1 :]:
            if near & second and dag.is_convex(first | second):
                together = cost(first | second)
                added = together - cost(first) - cost(second)
                if together < math.inf and added < 0:
                    found.append((added, first, second))
    return found


def _merged(groups: Sequence[int], first: int, second: int) -> list[int]:
    return [group for group in groups if group not in (first, second)] + [first | second]
