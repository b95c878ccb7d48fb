"""A shortest circle of elements each of which needs the next, at given sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl

from polymat.dataclass import dataclass
from polymat.lang.affine import Affine
from polymat.poly.access import Access
from polymat.poly.domain import Domain
from polymat.poly.isltext import encode, space_text
from polymat.poly.limit import limited
from polymat.poly.readonce import set_of

MAX_OPERATIONS = 5_000_000

Element = tuple[str, tuple[int, ...]]
Edges = Mapping[Element, Sequence[tuple[Element, int]]]


@dataclass(frozen=True, eq=False)
class Dependence:
    """Elements of one array, by name, each with those of another that it reads.

    is_exact: whether it reads all of them, and not only one of those that data may say.
    """

    reader: str
    producer: str
    pairs: isl.Map
    is_exact: bool

    @staticmethod
    def of(reader: str, writes: Access, producer: str, reads: Access) -> Dependence:
        """Each element written with those that are read at its points."""
        pairs = writes.map.reverse().apply_range(reads.map)
        return Dependence(reader, producer, pairs, writes.is_exact and reads.is_exact)


@dataclass(frozen=True, slots=True)
class Hop:
    """An element, and by which of several needs it needs the next one of a circle."""

    element: Element
    need: int


def least_sizes(context: Domain, least: int) -> dict[str, int] | None:
    """The first sizes that a context allows with none of them below `least`; None where there are none."""
    return context.at_least_zero([Affine.name(name) - least for name in context.params]).example()


def shortest_circle(
    needs: Sequence[Dependence], sizes: Mapping[str, int], *, most_pairs: int
) -> tuple[Hop, ...] | None:
    """The first of the shortest circles among elements, from one to the one that needs it.

    None where there is no circle, or more pairs than `most_pairs`, or where isl takes too long.
    """
    edges: dict[Element, list[tuple[Element, int]]] = {}
    try:
        with limited(needs[0].pairs.get_ctx(), MAX_OPERATIONS):
            here = [_at(need.pairs, sizes) for need in needs]
            if sum(each.count_val().to_python() for each in here) > most_pairs:
                return None
            pairs = list(_pairs(needs, here))
    except isl.Error:
        return None
    places = {name: place for place, name in enumerate(dict.fromkeys(need.reader for need in needs))}
    for source, target, number in sorted(pairs, key=lambda pair: (places[pair[0][0]], *pair)):
        edges.setdefault(source, []).append((target, number))
    found: tuple[Hop, ...] | None = None
    for start in _in_circles(edges):
        found = _back_to(start, edges, len(found) - 1 if found else len(edges)) or found
    return found


def _pairs(needs: Sequence[Dependence], here: Sequence[isl.Set]) -> Iterator[tuple[Element, Element, int]]:
    """(element, element that it needs, number of the need); here: the pairs of each need at some sizes."""
    for number, (need, pairs) in enumerate(zip(needs, here, strict=True)):
        width = need.pairs.dim(isl.dim_type.in_)
        for point in _points(pairs):
            yield (need.reader, point[:width]), (need.producer, point[width:]), number


def _at(pairs: isl.Map, sizes: Mapping[str, int]) -> isl.Set:
    """The pairs of a map at some sizes, each as one point, without parameters."""
    chosen = " and ".join(f"{encode(name)} = {size}" for name, size in sizes.items())
    here = pairs.intersect_params(set_of(space_text(tuple(sizes), f": {chosen or 'true'}")))
    return here.project_out(isl.dim_type.param, 0, here.dim(isl.dim_type.param)).wrap().flatten()


def _points(found: isl.Set) -> list[tuple[int, ...]]:
    """The points of a bounded set."""
    points: list[tuple[int, ...]] = []
    rank = found.dim(isl.dim_type.set)

    def keep(point: isl.Point) -> None:
        values = (point.get_coordinate_val(isl.dim_type.set, k) for k in range(rank))
        points.append(tuple(int(value.to_python()) for value in values))

    found.foreach_point(keep)
    return points


def _in_circles(edges: Edges) -> list[Element]:
    """The elements of circles and of ways from one circle to another, in order."""
    backwards: dict[Element, list[tuple[Element, int]]] = {}
    for start, ends in edges.items():
        for end, number in ends:
            backwards.setdefault(end, []).append((start, number))
    reached = {*_reaching(backwards, edges)}
    return [each for each in _reaching(edges, backwards) if each in reached]


def _reaching(edges: Edges, backwards: Edges) -> list[Element]:
    """The elements from which some circle is reached, in order."""
    open_ = {start: len(ends) for start, ends in edges.items()}
    done = [end for end in backwards if end not in edges]
    while done:
        for reader, _ in backwards.get(done.pop(), ()):
            open_[reader] -= 1
            if not open_[reader]:
                done.append(reader)
    return [start for start, count in open_.items() if count]


def _back_to(start: Element, edges: Edges, longest: int) -> tuple[Hop, ...] | None:
    """The shortest circle through an element; None where it is longer than `longest`."""
    came: dict[Element, Hop] = {}
    front = [start]
    for _ in range(longest):
        following = []
        for element in front:
            for end, number in edges.get(element, ()):
                if end not in came:
                    came[end] = Hop(element, number)
                    following.append(end)
            if start in came:
                return _way(start, came)
        front = following
    return None


def _way(start: Element, came: Mapping[Element, Hop]) -> tuple[Hop, ...]:
    """The hops from an element to itself, of the hop that led to each."""
    way = [came[start]]
    while way[-1].element != start:
        way.append(came[way[-1].element])
    return tuple(reversed(way))
