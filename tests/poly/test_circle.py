"""Shortest circles of elements, and where none is looked for."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.lang.affine import Affine
from polymat.poly.access import Access
from polymat.poly.circle import Dependence, least_sizes, shortest_circle
from polymat.poly.domain import Domain

N, i = Affine.name("N"), Affine.name("i")
LINE = Domain.box(["N"], ["i"], [(Affine(), N - 1)])


def need(reader: str, producer: str, read: Affine, where: Sequence[Affine] = ()) -> Dependence:
    """Element i of one needs element `read` of the other, where that is there and forms are at least zero."""
    domain = LINE.at_least_zero(where)
    return Dependence.of(reader, Access.of(domain, [i]), producer, Access.of(domain, [read]).within(LINE))


def circle(needs: Sequence[Dependence], size: int, most_pairs: int = 100) -> list[tuple[object, ...]] | None:
    """The names and indices of a circle's elements, each with the number of its need."""
    hops = shortest_circle(needs, {"N": size}, most_pairs=most_pairs)
    return None if hops is None else [(hop.element[0], *hop.element[1], hop.need) for hop in hops]


def test_the_first_of_the_shortest_circles_is_found() -> None:
    there, back = need("f", "g", i + 1), need("g", "f", i - 2)
    own = need("f", "f", i - 1)
    assert circle([there, back], 9) is None
    assert circle([there, back, need("f", "f", i + 1)], 3) == [("f", 0, 2), ("f", 1, 0), ("g", 2, 1)]
    assert circle([own, need("f", "f", i + 3)], 5) == [("f", 0, 1), ("f", 3, 0), ("f", 2, 0), ("f", 1, 0)]
    assert circle([own, need("f", "f", i + 3), need("f", "f", i + 1)], 5) == [("f", 0, 2), ("f", 1, 0)]
    assert circle([own, need("f", "f", i, [i - 4])], 5) == [("f", 4, 1)]


def test_a_way_to_a_circle_is_no_part_of_it() -> None:
    needs = [need("f", "g", i), need("g", "h", i, [i - 2]), need("h", "g", i, [i - 3])]
    assert circle(needs, 3) is None
    assert circle(needs, 5) == [("g", 3, 1), ("h", 3, 2)]


def test_nothing_is_looked_for_among_too_many_elements() -> None:
    needs = [need("f", "f", i)]
    assert circle(needs, 100) == [("f", 0, 0)]
    assert circle(needs, 101) is None
    assert circle(needs, 10**9) is None


def test_the_least_sizes_that_are_allowed() -> None:
    context = Domain.box(["N", "M"], [], []).at_least_zero([N, Affine.name("M") - N - 2])
    assert least_sizes(context, 1) == {"N": 1, "M": 3}
    assert least_sizes(context.at_least_zero([3 - N]), 4) is None
