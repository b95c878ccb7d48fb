"""How long the elements of a stage that reads itself are needed, and how few places are enough for them.

Two elements are in conflict where one may be written after the other has got its value and before that is
read for the last time.  Elements a multiple of m apart along a dimension may share a place where no two such
elements are in conflict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd

import islpy as isl

from polymat.dataclass import dataclass
from polymat.poly.access import Access
from polymat.poly.limit import limited
from polymat.poly.order import Assignment, Order

MAX_OPERATIONS = 2_000_000

Folds = tuple[int | None, ...]
"""Per dimension how many elements have places: element i is at i modulo that.  None: all have."""


@dataclass(frozen=True, slots=True)
class Copying:
    """A statement, by its tag, that only copies the element some steps before along a dimension."""

    tag: int
    dim: int
    steps: int


@dataclass(frozen=True, eq=False)
class Lifespans:
    """When the elements of a stage are written and read, in an order.

    writes, reads: from elements to times; writes a statement, by its tag.  needed: the elements that are read
    when all are computed.  clashes: from the time of a value to the times of writes that may come after it;
    spoils: from the time of a read to those of writes that may come before it.
    """

    writes: dict[int, isl.Map]
    reads: isl.Map
    needed: isl.Set
    clashes: isl.Map
    spoils: isl.Map

    def conflicts(self, near: isl.Map, silent: Iterable[int]) -> isl.Map:
        """The pairs of elements among `near` that are in conflict; silent: statements that change nothing."""
        quiet = {*silent}
        written = _union(self.writes.values())
        none = written.subtract(written)
        changed = _union([none, *(each for tag, each in self.writes.items() if tag not in quiet)])
        others = near.apply_range(changed)
        after = _among(written, others, self.clashes)
        spoiling = _among(self.reads, after, self.spoils).union(after.intersect_domain(self.needed))
        return spoiling.apply_range(changed.reverse()).intersect(near)


def lifespans(
    statements: Sequence[Assignment], order: Order, *, shared: int | None, later: Sequence[Access]
) -> Lifespans:
    """The times of all elements.

    shared: the dimension of the order of which every thread has a part, if any.  later: what other stages
    read of the elements, behind all statements.
    """
    rank = int(statements[0].writes.map.dim(isl.dim_type.out))
    never = isl.Map(f"{{ {_tuple('i', rank)} -> {_tuple('t', len(order.parallel))} : 1 = 0 }}")

    def when(tag: int, access: Access) -> isl.Map:
        instances = isl.UnionMap.from_map(access.map.set_tuple_name(isl.dim_type.in_, f"S{tag}"))
        times = instances.reverse().apply_range(order.schedule)
        return never if times.is_empty() else isl.Map.from_union_map(times).coalesce()

    # An accumulation reads the element that it adds to.
    reads = [(s.tag, each) for s in statements for each in (*s.reads, *([s.writes] if s.phase else []))]
    before = _before(order, shared)
    spoils = before.complement()
    if order.schedule.is_injective():  # a statement reads before it writes
        spoils = spoils.subtract(isl.Map.identity(spoils.get_space()))
    return Lifespans(
        writes={s.tag: when(s.tag, s.writes) for s in statements},
        reads=_union([never, *(when(tag, access) for tag, access in reads)]),
        needed=_union_of_sets([never.domain(), *(access.image() for access in later)]),
        clashes=before.reverse().complement(),
        spoils=spoils,
    )


def folds(spans: Lifespans, most: Sequence[int], copies: Sequence[Copying] = ()) -> Folds:
    """The fewest places along each dimension, the outermost first, where so many at most are enough.

    A copy to its own place changes nothing, so that what it overwrites need not be dead.
    """
    found: list[int | None] = [None] * len(most)
    try:
        with limited(spans.reads.get_ctx(), MAX_OPERATIONS):
            for dim, limit in enumerate(most):
                if limit:
                    moving = [copy for copy in copies if copy.dim == dim]
                    found[dim] = _places(spans, found, dim, limit, moving)
    except isl.Error:
        pass  # what was found before holds
    return tuple(found)


def _places(
    spans: Lifespans, found: Sequence[int | None], dim: int, most: int, copies: Sequence[Copying]
) -> int | None:
    """The fewest places along one dimension where others are folded as found."""
    near = _near(found, dim)
    at_once = near.intersect_domain(spans.needed).intersect_range(spans.needed)
    if _least(_distances(at_once, dim), most) is None:
        return None
    if copies:
        changing = spans.conflicts(near, [copy.tag for copy in copies])
        fewest = _least(_distances(changing, dim), most, gcd(*(copy.steps for copy in copies)))
        if fewest is not None:
            return fewest
    return _least(_distances(spans.conflicts(near, ()), dim), most)


def _least(distances: isl.Set, most: int, divides: int = 0) -> int | None:
    """The least modulus of which no distance is a multiple; divides: what it must divide, if not 0."""
    if distances.is_empty():
        return 1
    low, high = distances.dim_min_val(0), distances.dim_max_val(0)
    if not (low.is_int() and high.is_int()):
        return None
    enough = max(abs(int(low.to_python())), abs(int(high.to_python()))) + 1
    for modulus in range(1, min(enough, most) + 1):
        multiples = isl.Set(f"{{ [d] : d mod {modulus} = 0 }}")
        if divides % modulus == 0 and distances.is_disjoint(multiples):
            return modulus
    return None


def _distances(pairs: isl.Map, dim: int) -> isl.Set:
    """How far the elements of pairs are apart along a dimension, for all sizes at once."""
    apart = pairs.deltas()
    count = apart.dim(isl.dim_type.set)
    apart = apart.project_out(isl.dim_type.set, dim + 1, count - dim - 1)
    apart = apart.project_out(isl.dim_type.set, 0, dim)
    return apart.project_out(isl.dim_type.param, 0, apart.dim(isl.dim_type.param))


def _near(found: Sequence[int | None], dim: int) -> isl.Map:
    """Pairs of elements that differ along a dimension, and else would be at one place as folded so far."""
    limits = [f"a{dim} != b{dim}"]
    for k, places in enumerate(found):
        if k != dim and places != 1:
            limits.append(f"a{k} = b{k}" if places is None else f"(a{k} - b{k}) mod {places} = 0")
    head = f"{_tuple('a', len(found))} -> {_tuple('b', len(found))}"
    return isl.Map(f"{{ {head} : {' and '.join(limits)} }}")


def _before(order: Order, shared: int | None) -> isl.Map:
    """Pairs of times of which the first is surely over: they differ first in a loop that no team shares.

    Of outermost iterations that trail each other, as far as the later ones stay behind.
    """
    depth = len(order.parallel)
    head = f"{_tuple('a', depth)} -> {_tuple('b', depth)}"
    together = [] if shared is None else [f"a{shared} = b{shared}"]
    found = isl.Map(f"{{ {head} : 1 = 0 }}")
    for level in (level for level in range(depth) if not order.parallel[level] and level != shared):
        limits = [*(f"a{k} = b{k}" for k in range(level)), f"a{level} < b{level}", *together]
        if level == 0 and order.trailing is not None:
            limits.append(f"a1 <= b1 + {order.trailing.ahead} * (b0 - a0)")
        found = found.union(isl.Map(f"{{ {head} : {' and '.join(limits)} }}"))
    return found


def _among(ours: isl.Map, theirs: isl.Map, pairs: isl.Map) -> isl.Map:
    """Of the times that belong to each element those of `theirs` that are in a pair with one of `ours`."""
    return ours.range_product(theirs).intersect_range(pairs.wrap()).range_factor_range()


def _union(maps: Iterable[isl.Map]) -> isl.Map:
    first, *others = maps
    for other in others:
        first = first.union(other)
    return first.coalesce()


def _union_of_sets(sets: Sequence[isl.Set]) -> isl.Set:
    first, *others = sets
    for other in others:
        first = first.union(other)
    return first.coalesce()


def _tuple(letter: str, count: int) -> str:
    return "[" + ", ".join(f"{letter}{k}" for k in range(count)) + "]"
