"""Boxes do not overlap, arrows go down, and rows stay within the width."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from polymat.page.boxrows import Arranged, Box, placed


def graph(seed: int, count: int) -> tuple[list[Box], list[tuple[str, str]]]:
    rng = random.Random(seed)
    boxes = [Box(f"b{k}", rng.randint(30, 120), rng.randint(20, 60)) for k in range(count)]
    pairs = list(combinations((box.name for box in boxes), 2))
    return boxes, rng.sample(pairs, min(len(pairs), 2 * count))


def overlaps(one: Box, other: Box) -> bool:
    beside = one.x + one.width <= other.x or other.x + other.width <= one.x
    below = one.y + one.height <= other.y or other.y + other.height <= one.y
    return not beside and not below


@pytest.mark.parametrize("count", [1, 2, 7, 23])
@pytest.mark.parametrize("seed", range(5))
def test_boxes_do_not_overlap_and_arrows_go_down(count: int, seed: int) -> None:
    boxes, arrows = graph(seed, count)
    found = placed(boxes, arrows, 400)
    assert not [pair for pair in combinations(found.boxes.values(), 2) if overlaps(*pair)]
    assert set(found.paths) == set(arrows)
    for path in found.paths.values():
        heights = [y for _, y in path]
        assert heights == sorted(heights)
        assert heights[0] < heights[-1]
    assert all(box.x >= 0 and box.x + box.width <= found.width + 1e-6 for box in found.boxes.values())
    assert all(box.y >= 0 and box.y + box.height <= found.height for box in found.boxes.values())


def rows(found: Arranged) -> list[list[str]]:
    by_row: dict[int, list[str]] = {}
    for box in found.boxes.values():
        by_row.setdefault(box.row, []).append(box.name)
    return [by_row[row] for row in sorted(by_row)]


def test_wide_rows_are_broken() -> None:
    boxes = [Box(f"b{k}", 100, 20) for k in range(7)]
    assert [len(row) for row in rows(placed(boxes, (), 360))] == [3, 3, 1]
    assert len(rows(placed(boxes, (), 10_000))) == 1


def test_an_input_stands_above_its_first_reader() -> None:
    boxes = [Box(name, 20, 20) for name in ("early", "late", "a", "b", "c")]
    arrows = [("early", "a"), ("a", "b"), ("b", "c"), ("late", "c")]
    assert rows(placed(boxes, arrows, 400)) == [["early"], ["a"], ["b", "late"], ["c"]] or rows(
        placed(boxes, arrows, 400)
    ) == [["early"], ["a"], ["late", "b"], ["c"]]


def test_arrows_against_the_order_are_left_out() -> None:
    boxes = [Box(name, 20, 20) for name in "ab"]
    assert set(placed(boxes, [("a", "b"), ("b", "a"), ("a", "a")], 400).paths) == {("a", "b")}


def test_nothing_is_placed_in_no_room() -> None:
    found = placed([], [], 400)
    assert (found.width, found.height) == (0.0, 0.0)
