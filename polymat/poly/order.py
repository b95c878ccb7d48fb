"""In which order a stage that reads itself can run, and which of its loops are parallel."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import islpy as isl

from polymat.dataclass import dataclass
from polymat.poly.access import Access
from polymat.poly.ast import Scheduled, schedule_map, tagged
from polymat.poly.domain import Domain
from polymat.poly.isltext import encode
from polymat.poly.limit import limited
from polymat.poly.trailing import Trail

MAX_OPERATIONS = 20_000_000


@dataclass(frozen=True, eq=False)
class Assignment:
    """One assignment of a stage: where it runs, the element it writes and those of the same stage it reads.

    `phase` orders the statements that write one element (0: start value, 1: accumulation), `lexicographic`
    is the user's own order of the dimensions as schedule texts.
    """

    tag: int
    domain: Domain
    writes: Access
    reads: tuple[Access, ...]
    phase: int
    lexicographic: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Order:
    """A legal order: a schedule for `ast.from_union_map`, and which of its dimensions are parallel.

    independent: per dimension of the user's own order whether nothing depends on anything at another value
    of it, so that parts of its range may run at the same time, each through all other loops.  Empty for an
    order that isl found.
    statements: the dimension that is no loop, but the place of each statement among those of a point.
    turns, plain: the loop of few iterations that is written out, if any, and the order without it; see
    `staggered`.  trailing: how the outermost iterations may overlap; see `pipelined`.
    """

    schedule: isl.UnionMap
    parallel: tuple[bool, ...]
    independent: tuple[bool, ...] = ()
    statements: int | None = None
    turns: int | None = None
    plain: Order | None = None
    trailing: Trail | None = None

    @property
    def loops(self) -> tuple[int, ...]:
        """The dimensions that are loops."""
        return tuple(level for level in range(len(self.parallel)) if level != self.statements)

    @property
    def runs_alone(self) -> bool:
        """Whether the points of the innermost loop run one after the other."""
        return not (self.loops and self.parallel[self.loops[-1]])

    def part(self, level: int, begin: str, end: str) -> isl.UnionMap:
        """The schedule of what lies at begin <= value < end of a dimension; both are parameters."""
        dims = [f"i{k}" for k in range(len(self.parallel))]
        first, last = encode(begin), encode(end)
        where = f"[{first}, {last}] -> {{ [{', '.join(dims)}] : {first} <= {dims[level]} < {last} }}"
        return self.schedule.intersect_range(isl.UnionSet.from_set(isl.Set(where)))

    def among(self, domains: Sequence[Domain]) -> isl.UnionMap:
        """The schedule of some points of each statement, by its number."""
        points = isl.UnionSet("{ }")
        for tag, domain in enumerate(domains):
            points = points.union(isl.UnionSet.from_set(tagged(domain, tag)))
        return self.schedule.intersect_domain(points)

    def moved(self, domains: Sequence[Domain], level: int, to: int, sign: str = "") -> isl.UnionMap:
        """The schedule of some points with one of its loops at another level; sign: "-" for backwards."""
        dims = [f"i{k}" for k in range(len(self.parallel))]
        order = dims[:level] + dims[level + 1 :]
        order.insert(to, sign + dims[level])
        moved = isl.Map(f"{{ [{', '.join(dims)}] -> [{', '.join(order)}] }}")
        return self.among(domains).apply_range(isl.UnionMap.from_map(moved))


@dataclass(frozen=True, slots=True)
class Circle:
    """No order exists (or none was found): an example instance that needs its own value, if there is one."""

    example: dict[str, int] | None


def find_order(statements: Sequence[Assignment], context: Domain) -> Order | Circle:
    """The user's loop order if it is legal, or with one loop backwards, else one that isl's scheduler finds.

    Else why there is none.
    """
    flow = _flow(statements)
    circle = _short_circle(flow, statements)
    if circle is not None:
        return circle
    depth = len(statements[0].lexicographic)
    conflicts = flow.union(_accumulations(statements))
    for backwards in (None, *range(len(statements[0].domain.dims))):
        own = _user_order(statements, backwards)
        if _respects(own, flow):
            independent = _independent(own, conflicts, depth)
            flags = tuple(flag and level != backwards for level, flag in enumerate(independent))
            return Order(own, _parallel(own, conflicts, depth), flags, len(statements[0].domain.dims))
    found = _isl_schedule(statements, flow, context)
    if found is None:
        return Circle(None)
    depth = max(m.dim(isl.dim_type.out) for m in _maps(found))
    return Order(found, _parallel(found, conflicts, depth))


def distances(order: Order, statements: Sequence[Assignment]) -> list[isl.Set]:
    """How far along each dimension of an order values are ahead of what they are read for."""
    return [pairs.deltas() for pairs in _in_schedule(order.schedule, _flow(statements))]


def within(statements: Sequence[Assignment], domains: Sequence[Domain]) -> list[Assignment]:
    """The statements at some points of each."""
    return [
        replace(
            each,
            domain=domain,
            writes=_at(each.writes, domain),
            reads=tuple(_at(r, domain) for r in each.reads),
        )
        for each, domain in zip(statements, domains, strict=True)
    ]


def _at(access: Access, domain: Domain) -> Access:
    return Access(domain, access.map.intersect_domain(domain.set))


def respects_in_place(
    schedule: isl.UnionMap, statements: Sequence[Assignment], quiet: Collection[int]
) -> bool:
    """Whether a schedule is right where elements that differ in their first index alone share a place.

    quiet: statements that change nothing there.  Every value is read after it is written, and before the
    next one at its place is.
    """
    rest = ", ".join(f"i{k}" for k in range(1, len(statements[0].domain.dims)))
    after = isl.Map(f"{{ [a0, {rest}] -> [b0, {rest}] : a0 < b0 }}")
    overwritten = isl.UnionMap("{ }")
    for reader in statements:
        for writer in (each for each in statements if each.tag not in quiet):
            for read in reader.reads:
                pairs = read.map.apply_range(after).apply_range(writer.writes.map.reverse())
                pairs = pairs if reader is not writer else pairs.subtract(isl.Map.identity(pairs.get_space()))
                overwritten = overwritten.union(isl.UnionMap.from_map(_tag(pairs, reader.tag, writer.tag)))
    return _respects(schedule, _flow(statements)) and _respects(schedule, overwritten)


def one_after_other(first: isl.UnionMap, second: isl.UnionMap, depth: int) -> isl.UnionMap:
    """A schedule of all that one schedules, then of all that another does; depth: dimensions of each."""
    dims = ", ".join(f"i{k}" for k in range(depth))
    before, after = (isl.UnionMap(f"{{ [{dims}] -> [{place}, {dims}] }}") for place in (0, 1))
    return first.apply_range(before).union(second.apply_range(after))


def _user_order(statements: Sequence[Assignment], backwards: int | None) -> isl.UnionMap:
    """The user's loops, one of them from its last index to its first."""
    maps = []
    for statement in statements:
        order = [f"-({t})" if k == backwards else t for k, t in enumerate(statement.lexicographic)]
        maps.append(schedule_map(Scheduled(statement.tag, statement.domain, tuple(order))))
    return _union(maps)


def _tag(map_: isl.Map, source: int, target: int) -> isl.Map:
    return map_.set_tuple_name(isl.dim_type.in_, f"S{source}").set_tuple_name(isl.dim_type.out, f"S{target}")


def _union(maps: Sequence[isl.Map]) -> isl.UnionMap:
    union = isl.UnionMap.from_map(maps[0])
    for map_ in maps[1:]:
        union = union.union(isl.UnionMap.from_map(map_))
    return union


def _maps(union: isl.UnionMap) -> list[isl.Map]:
    found = union.get_map_list()
    return [found.get_at(k) for k in range(found.n_map())]


def _domains(statements: Sequence[Assignment]) -> isl.UnionSet:
    union = isl.UnionSet("{ }")
    for statement in statements:
        union = union.union(isl.UnionSet.from_set(tagged(statement.domain, statement.tag)))
    return union


def _flow(statements: Sequence[Assignment]) -> isl.UnionMap:
    """Pairs (writer, later): readers of an element after all its writers, accumulation after its start."""
    found = isl.UnionMap("{ }")
    for writer in statements:
        for reader in statements:
            for read in reader.reads:
                pairs = _tag(writer.writes.same_element_pairs(read), writer.tag, reader.tag)
                found = found.union(isl.UnionMap.from_map(pairs))
            if writer.phase < reader.phase:
                pairs = _tag(writer.writes.same_element_pairs(reader.writes), writer.tag, reader.tag)
                found = found.union(isl.UnionMap.from_map(pairs))
    return found


def _accumulations(statements: Sequence[Assignment]) -> isl.UnionMap:
    """Pairs of accumulations into one element: in any order, but not at the same time."""
    pairs = isl.UnionMap("{ }")
    for first in statements:
        for second in statements:
            if first.phase and second.phase:
                both = _tag(first.writes.same_element_pairs(second.writes), first.tag, second.tag)
                pairs = pairs.union(isl.UnionMap.from_map(both))
    return pairs


def _short_circle(flow: isl.UnionMap, statements: Sequence[Assignment]) -> Circle | None:
    """An instance that depends on itself directly or through one other."""
    direct = flow.intersect(_domains(statements).identity()).domain()
    both = direct if not direct.is_empty() else flow.intersect(flow.reverse()).domain()
    for statement in statements:
        named = tagged(statement.domain, statement.tag)
        space = named.get_space()
        hit = isl.UnionSet.from_set(named).intersect(both)
        if not hit.is_empty():
            points = hit.extract_set(space).reset_tuple_id()
            return Circle(Domain(statement.domain.params, statement.domain.dims, points).example())
    return None


def _in_schedule(schedule: isl.UnionMap, pairs: isl.UnionMap) -> list[isl.Map]:
    return _maps(pairs.apply_domain(schedule).apply_range(schedule))


def _respects(schedule: isl.UnionMap, flow: isl.UnionMap) -> bool:
    """Whether every pair runs in order."""
    for pairs in _in_schedule(schedule, flow):
        forward = isl.Map.lex_lt(pairs.get_space().domain())
        if not pairs.is_subset(forward):
            return False
    return True


def _parallel(schedule: isl.UnionMap, conflicts: isl.UnionMap, depth: int) -> tuple[bool, ...]:
    """Per dimension: no conflicting pair has the same outer iterations and different ones here."""
    pairs = _in_schedule(schedule, conflicts)
    flags = []
    for level in range(depth):
        carried = False
        kept = []
        for pair in pairs:
            equal = pair.equate(isl.dim_type.in_, level, isl.dim_type.out, level)
            carried = carried or not pair.subtract(equal).is_empty()
            if not equal.is_empty():
                kept.append(equal)
        pairs = kept
        flags.append(not carried)
    return tuple(flags)


def _independent(schedule: isl.UnionMap, conflicts: isl.UnionMap, depth: int) -> tuple[bool, ...]:
    """Per dimension: no conflicting pair is at different iterations of it."""
    pairs = _in_schedule(schedule, conflicts)
    return tuple(
        all(pair.is_subset(pair.equate(isl.dim_type.in_, level, isl.dim_type.out, level)) for pair in pairs)
        for level in range(depth)
    )


def _isl_schedule(
    statements: Sequence[Assignment], flow: isl.UnionMap, context: Domain
) -> isl.UnionMap | None:
    domains = _domains(statements)
    constraints = isl.ScheduleConstraints.on_domain(domains)
    constraints = constraints.set_context(context.set.params())
    constraints = constraints.set_validity(flow).set_proximity(flow).set_coincidence(flow)
    try:
        with limited(domains.get_ctx(), MAX_OPERATIONS):
            schedule = constraints.compute_schedule().get_map().intersect_domain(domains)
    except isl.Error:
        return None
    return schedule if _respects(schedule, flow) else None


def accumulation_is_parallel(writes: Access, dim: str) -> bool:
    """Whether points that differ in `dim` never accumulate into the same element."""
    position = writes.domain.dims.index(dim)
    pairs = writes.same_element_pairs(writes)
    equal = pairs.equate(isl.dim_type.in_, position, isl.dim_type.out, position)
    return bool(pairs.is_subset(equal))
