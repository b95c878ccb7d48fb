"""Sweeps whose points wait for those right before them: points of several rows by turns.

before:  x(i, j) waits for x(i, j - 1), which is computed right before it
after:   between the two come points of three other rows, each so many columns behind the row above that none
         of the four needs another one
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polymat.poly.order import Assignment, Order, distances

ROWS = 4  # at a time: their points fill most of the time that one of them waits
NEAR = 4  # rows and columns that a point of a sweep reads at most ahead of it and behind


def staggered(order: Order, statements: Sequence[Assignment]) -> Order:
    """The order in which four neighbouring rows take turns, where no loop of an order is parallel.

    Rows are the last loop but one.  The order itself where a loop is parallel, where sums are added up, or
    where points are read that are not near.
    """
    last = order.statements
    if last is None or last < 2 or last + 1 != len(order.parallel) or any(each.phase for each in statements):
        return order
    if any(order.parallel[level] or order.independent[level] for level in order.loops):
        return order
    behind = _behind(order, statements)
    if behind is None:
        return order
    dims = [f"i{level}" for level in range(len(order.parallel))]
    row, column = dims[last - 2], dims[last - 1]
    turns = [f"floor({row} / {ROWS})", f"{column} + {behind} * ({row} mod {ROWS})", f"{row} mod {ROWS}"]
    text = f"{{ [{', '.join(dims)}] -> [{', '.join([*dims[: last - 2], *turns, dims[last]])}] }}"
    schedule = order.schedule.apply_range(isl.UnionMap(text))
    return Order(schedule, (False,) * (len(dims) + 1), (), last + 1, turns=last, plain=order)


def _behind(order: Order, statements: Sequence[Assignment]) -> int | None:
    """The fewest columns that a row has to be behind the one above, so that points of one turn are apart."""
    last = order.statements
    assert last is not None
    apart = distances(order, statements)
    dims = [f"i{level}" for level in range(len(order.parallel))]
    outer = "".join(f"{dim} = 0 and " for dim in dims[: last - 2])
    row, column = dims[last - 2], dims[last - 1]

    def never(where: str) -> bool:
        points = isl.Set(f"{{ [{', '.join(dims)}] : {outer}{where} }}")
        return all(each.intersect(points).is_empty() for each in apart)

    if not never(f"({row} > {NEAR} or {column} > {NEAR} or {column} < {-NEAR})"):
        return None
    shifts = range(1, NEAR + 2)
    return next((n for n in shifts if never(f"{row} >= 1 and {column} + {n} * {row} <= 0")), None)
