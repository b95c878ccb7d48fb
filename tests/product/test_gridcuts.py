"""Cuts of a triangle between its lines: as many points on both sides of each as whole units allow."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from polymat.product.gridcuts import cut


def cuts(work: str, lines: tuple[int, int], length: int, unit: int, parts: int) -> list[int]:
    first, last = map(float, lines)
    asked = {"before": float(work == "before"), "first": first, "last": last, "length": float(length)}
    return [
        int(cut.at(asked | {"unit": float(unit), "part": float(k), "parts": float(parts)}))
        for k in range(parts + 1)
    ]


def columns_of(work: str, lines: tuple[int, int], length: int) -> list[int]:
    """Points of each column: lines have those up to their own number, or from there on."""
    if work == "before":
        return [sum(column <= line for line in range(*lines)) for column in range(length)]
    return [sum(column >= line for line in range(*lines)) for column in range(length)]


@pytest.mark.parametrize("work", ["before", "after"])
def test_parts_have_as_many_points_but_for_a_column(work: str) -> None:
    draw = random.Random(3)
    for _ in range(200):
        length, parts = draw.randint(8, 120), draw.randint(2, 6)
        first = draw.randint(0, length - 4)
        lines = first, draw.randint(first + 4, length)
        points, places = columns_of(work, lines, length), cuts(work, lines, length, 1, parts)
        even = sum(points) / parts
        for number, place in enumerate(places[1:-1], 1):
            before = sum(points[:place])
            assert abs(before - number * even) <= 2 * max(points), (work, lines, length, places)


def test_all_columns_are_in_one_part_each_in_whole_units() -> None:
    draw = random.Random(4)
    for _ in range(200):
        length, unit, parts = draw.randint(0, 300), draw.choice((1, 4, 6)), draw.randint(1, 9)
        first = draw.randint(0, length)
        places = cuts(
            draw.choice(("before", "after")), (first, draw.randint(first, length)), length, unit, parts
        )
        assert (places[0], places[-1]) == (0, length)
        assert all(a <= b for a, b in pairwise(places))
        assert all(place % unit == 0 for place in places[1:-1] if place < length)


def test_lines_before_the_diagonal_are_a_rectangle_and_a_triangle() -> None:
    """Of lines 8 to 11, eight columns are in all of them: 32 points, and 6 in three columns more."""
    assert cuts("before", (8, 12), 12, 1, 2) == [0, 5, 12]
    assert cuts("after", (0, 4), 12, 1, 2) == [0, 7, 12]


def test_a_triangle_alone_is_cut_by_areas() -> None:
    """Its columns become shorter: half of its points are in the first three tenths."""
    assert cuts("before", (0, 100), 100, 1, 2) == [0, 29, 100]
    assert cuts("after", (0, 100), 100, 1, 2) == [0, 70, 100]
