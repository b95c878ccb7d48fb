"""Sweeps whose points wait for those right before them: points of several rows by turns.

before:  x(i, j) waits for x(i, j - 1), which is computed right before it
after:   between the two come points of seven other rows, each so many columns behind the row above that none
         of the eight needs another one; all of them in one column where no row needs another
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polymat.poly.order import Assignment, Order, distances

ROWS = 8  # at a time: their points fill most of the time that one of them waits
NEAR = 4  # rows and columns that a point of a sweep reads at most ahead of it and behind


def staggered(order: Order, statements: Sequence[Assignment], spare: int = 0) -> Order:
    """The order in which neighbouring rows take turns, where points of a row need those right before them.

    Rows are the last loop but one.  spare: columns that they stay further behind each other than they must.
    The order itself where the innermost loop is parallel, where sums are added up, where threads share
    another loop around all others, or where points are read that are not near.
    """
    last = order.statements
    if last is None or last < 2 or last + 1 != len(order.parallel) or any(each.phase for each in statements):
        return order
    row, flags = last - 2, order.independent
    alone = order.parallel[row] and not order.parallel[last - 1] and (flags[0] or not any(flags[: row + 1]))
    if not alone and any(order.parallel[level] or flags[level] for level in order.loops):
        return order
    behind = _behind(order, statements)
    if behind is None:
        return order
    return _by_turns(order, 0 if alone else behind + spare)


def _by_turns(order: Order, behind: int) -> Order:
    """The order with some rows at a time, each so many columns behind the one above.

    Rows of which there are fewer, or in which other statements run, come one after the other, as before.
    """
    last = order.statements
    assert last is not None
    first, line = first_row(order), isl.dim_type.set
    dims = [f"i{level}" for level in range(last + 1)]
    outer, (row, column, statement) = dims[: last - 2], dims[last - 2 :]
    target = ", ".join([*outer, "block", "before", "place", "turn", statement])
    inside = f"{row} = {first} + {ROWS} block + {{}} and 0 <= {{}} < {ROWS}"
    schedule = isl.UnionMap("{ }")
    for blocks, number, places in zip(
        _blocks(order, first),
        ("turn", "before"),
        (f"before = 0 and place = {column} + {behind} turn", f"place = {column} and turn = 0"),
        strict=True,
    ):
        where = f"{inside.format(number, number)} and {places}"
        placed = isl.Map(f"{{ [{', '.join(dims)}] -> [{target}] : {where} }}")
        there = isl.UnionMap.from_map(placed.intersect_range(blocks.insert_dims(line, last - 1, 4)))
        schedule = schedule.union(order.schedule.apply_range(there).coalesce())
    parallel = (*order.parallel[: last - 1], False, False, False, False)
    return Order(schedule, parallel, (), last + 2, turns=last + 1, plain=order)


def first_row(order: Order) -> int:
    """The first row that all statements but those of the last rows run in."""
    assert order.statements is not None
    row = order.statements - 2
    least = [points.dim_min_val(row) for points in _ranges(order)]
    return max((value.to_python() for value in least if value.is_int()), default=0)


def _blocks(order: Order, first: int) -> tuple[isl.Set, isl.Set]:
    """Blocks of rows in which each statement runs in all rows or in none, and those in which some do not.

    By their numbers, so that nothing in the schedule is divided: of a triangle isl then has few parts.
    """
    last, rows = order.statements, ROWS
    assert last is not None
    line = isl.dim_type.set
    dims = [f"i{level}" for level in range(last - 1)]
    into, within = ", ".join([*dims[:-1], "b"]), ", ".join(dims)
    inside = f"{first} + {rows} * b <= {dims[-1]} < {first + rows} + {rows} * b"
    blocks = isl.Map(f"{{ [{into}] -> [{within}] : {inside} }}")
    every = mixed = isl.Set(f"{{ [{into}] : false }}")
    for points in _ranges(order):
        there = points.project_out(line, last - 1, 2).coalesce()
        some, missing = blocks.intersect_range(there).domain(), blocks.subtract_range(there).domain()
        every, mixed = every.union(some), mixed.union(some.coalesce().intersect(missing.coalesce()))
    whole = every.coalesce().subtract(mixed.coalesce()).coalesce()
    return whole, every.subtract(whole).coalesce()


def _ranges(order: Order) -> list[isl.Set]:
    """Where an order has the points of each statement."""
    maps = order.schedule.get_map_list()
    return [maps.get_at(place).range() for place in range(maps.n_map())]


def _behind(order: Order, statements: Sequence[Assignment]) -> int | None:
    """The fewest columns that a row has to be behind the one above, so that points of one turn are apart.

    None where rows or columns that are not near are read.
    """
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
