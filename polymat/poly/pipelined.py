"""Outer loops whose iterations threads may take by turns, each as far behind the one before as it has to be.

before:  sweep t over all rows, then sweep t + 1
after:   sweep t + 1 over the first rows once sweep t is done with these and the next ones, and so on
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from polymat.poly.order import Assignment, Order, distances
from polymat.poly.staggered import ROWS, first_row
from polymat.poly.trailing import Trail

MOST_AHEAD = 8  # iterations of the second loop; threads that stay further behind wait for each other more
FEWEST_LOOPS = 3  # with fewer, a row of single points is all that there is between two waits


def pipelined(order: Order, statements: Sequence[Assignment]) -> Order:
    """The order with what its outermost iterations have to stay behind each other, if that is little.

    Each goes along the second dimension in the user's direction, and nothing that it reads lies many rows
    away.  Not where threads share a loop of the order already.
    """
    plain = order.plain or order
    depth = len(plain.parallel) - 1
    if plain.statements != depth or depth < FEWEST_LOOPS or any(each.phase for each in statements):
        return order
    if any(plain.parallel[: depth - 1]) or any(plain.independent[:depth]) or not _is_along_rows(plain):
        return order
    ahead = _ahead(order, statements)
    if ahead is None:
        return order
    rows, first = (ROWS, first_row(plain)) if order.turns is not None else (1, 0)
    return replace(order, trailing=Trail(rows, first, ahead))


def _is_along_rows(order: Order) -> bool:
    """Whether the two outermost loops are the two outermost dimensions."""
    maps = order.schedule.get_map_list()
    for place in range(maps.n_map()):
        found = maps.get_at(place).reset_tuple_id(isl.dim_type.in_)
        points = [f"p{k}" for k in range(found.dim(isl.dim_type.in_))]
        times = [f"t{k}" for k in range(found.dim(isl.dim_type.out))]
        same = isl.Map(f"{{ [{', '.join(points)}] -> [{', '.join(times)}] : t0 = p0 and t1 = p1 }}")
        if not found.is_subset(same):
            return False
    return True


def _ahead(order: Order, statements: Sequence[Assignment]) -> int | None:
    """How far along the second loop anything lies from what reads it; None where that is far.

    Values as far ahead are overwritten by the next iteration, where all share one plane.
    """
    furthest = 0
    for apart in distances(order, statements):
        for value in (apart.dim_max_val(1), apart.neg().dim_max_val(1)):
            if apart.is_empty():
                continue
            if not value.is_int() or value.to_python() > MOST_AHEAD:
                return None
            furthest = max(furthest, int(value.to_python()))
    return furthest
