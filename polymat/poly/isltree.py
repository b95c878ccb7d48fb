"""isl's trees of loops, and what is asked for where it cannot make them as they were to be."""

from __future__ import annotations

from functools import reduce

import islpy as isl


def built_in_turns(build: isl.AstBuild, schedule: isl.UnionMap, dims: str, turns: int) -> isl.AstNode:
    """The loops with one that is written out where all of its iterations run the same statement.

    turns: that loop.  The third one before it, over blocks of rows that take turns, is one loop, which
    threads may share, and not one for each part of its range, of which there are many in a triangle.

    In some orders isl's classes of parts do not go together with its other parts: then there are fewer of
    these.
    """
    whole = _whole_turns(schedule, turns)
    separated = isl.UnionMap(f"{{ {dims} -> separate[{turns - 1}] }}")
    apart = isl.UnionMap(f"{{ {dims} -> separation_class[[{turns - 1}] -> [0]] }}").intersect_domain(whole)
    written = isl.UnionMap(f"{{ {dims} -> unroll[{turns}] }}").intersect_domain(whole)
    whole_blocks = isl.UnionMap(f"{{ {dims} -> atomic[{turns - 3}] }}")
    both = apart.union(written).union(whole_blocks)
    for asked in (separated.union(both), separated.intersect_domain(whole).union(both)):
        try:
            return built(build.set_options(asked), schedule)
        except isl.Error:
            pass
    return built(build.set_options(written.union(whole_blocks)), schedule)


def built(build: isl.AstBuild, schedule: isl.UnionMap) -> isl.AstNode:
    """isl's tree; where it fails to join sets, again without one of the ways in which it does that."""
    try:
        return build.node_from_schedule_map(schedule)
    except isl.Error:
        context = schedule.get_ctx()
        before = context.get_coalesce_bounded_wrapping()
        context.set_coalesce_bounded_wrapping(0)
        try:
            return build.node_from_schedule_map(schedule)
        finally:
            context.set_coalesce_bounded_wrapping(before)


def _whole_turns(schedule: isl.UnionMap, turns: int) -> isl.UnionSet:
    """Where every iteration of a loop that is written out runs the same statement."""
    whole, line = isl.UnionSet("{ }"), isl.dim_type.set
    maps = schedule.get_map_list()
    for place in range(maps.n_map()):
        found = maps.get_at(place).range()
        inner = found.dim(line) - turns - 1
        there = found.project_out(line, turns + 1, inner)
        last = there.dim_max_val(turns)
        if last.is_int():
            each = [_at(there, turns, turn) for turn in range(last.to_python() + 1)]
            every = reduce(lambda one, other: one.intersect(other), each)
            whole = whole.union(isl.UnionSet.from_set(every.insert_dims(line, turns, inner + 1)))
    return whole


def _at(points: isl.Set, position: int, value: int) -> isl.Set:
    """The points with a value of the last dimension, without that."""
    number = isl.Val.int_from_si(points.get_ctx(), value)
    return points.fix_val(isl.dim_type.set, position, number).project_out(isl.dim_type.set, position, 1)
