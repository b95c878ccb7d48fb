"""Times of whole products: kept, read back, and what they say between the extents that were measured."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from polymat.machine.grid import Grid
from polymat.machine.producttimes import (
    SHARED,
    Extents,
    ProductTimes,
    Ratios,
    as_lists,
    from_lists,
    ratios_of,
)

LEVELS = (10, 1000)


def times(element_bytes: int, threads: int, scale: float) -> ProductTimes:
    """A nanosecond a multiplication, and from 1000 rows on so many times as long."""
    points = [(m, n, k) for m in LEVELS for n in LEVELS for k in LEVELS]
    seconds = [1e-9 * m * n * k * (scale if m == 1000 else 1.0) for m, n, k in points]
    return ProductTimes(element_bytes, threads, LEVELS, tuple(seconds))


def predicted(extents: Extents, threads: int) -> float:
    """A nanosecond a multiplication, shared out."""
    return 1e-9 * math.prod(extents) / threads


def ratios(*found: ProductTimes) -> Ratios:
    made = ratios_of(found, 8, predicted)
    assert made is not None
    return made


def test_round_trip() -> None:
    found = tuple(ProductTimes(size, threads, (3, 20), (1.5e-4,) * 8) for size, threads in ((4, 1), (8, 2)))
    found = (*found, replace(found[0], threads=3, block=(6, 2)))
    assert from_lists(as_lists(found)) == found
    assert from_lists([]) == ()


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        [[8, 1, [10, 1000]]],
        [[8, 1, [10, 1000], [1e-3] * 7]],
        [[8, 1, [10, 1000], [1e-3] * 8, [6]]],
        [[8, 1, [10, 1000], [1e-3] * 8, [6, 0]]],
        [[8, 1, [10, 1000], [1e-3] * 8, 6]],
        [[8, 1, [10, 1000], [1e-3] * 8, [6, 2], 1]],
        [[8, 1, [10, 1000], [1e-3] * 7 + [0.0]]],
        [[8, 1, [10, 1000], [1e-3] * 7 + [1]]],
        [[8, 1, [10, 1000], [1e-3] * 7 + [float("nan")]]],
        [[8, 1, [1, 1000], [1e-3] * 8]],
        [[8, 1, [1000, 10], [1e-3] * 8]],
        [[8, 1, [10, 10], [1e-3] * 8]],
        [[8, 1, [10, 1000], [1e-3] * 8], [8, 1, [10, 1000], [1e-2] * 8]],
        [[8, 1, [10], [1e-3]]],
        [[8, 1, 10, [1e-3] * 8]],
        [[8, 0, [10, 1000], [1e-3] * 8]],
        [[8, True, [10, 1000], [1e-3] * 8]],
        [[2, 1, [10, 1000], [1e-3] * 8]],
        [[8.0, 1, [10, 1000], [1e-3] * 8]],
        [[8, 1, [10, 1000], [1e-3] * 8]] * 17,
    ],
)
def test_anything_else_is_none(value: Any) -> None:
    with pytest.raises(ValueError, match="products"):
        from_lists(value)


def test_what_was_measured_holds_there_and_beyond() -> None:
    found = ratios(times(8, 1, 4.0))
    assert found.at((10, 10, 10), 1) == pytest.approx(1.0)
    assert found.at((1000, 10, 1000), 1) == pytest.approx(4.0)
    assert found.at((50_000, 1, 1000), 1) == pytest.approx(4.0)
    assert found.at((1, 1, 1), 1) == pytest.approx(1.0)


def test_between_extents_logarithms_are_linear() -> None:
    assert ratios(times(8, 1, 4.0)).at((100, 10, 10), 1) == pytest.approx(2.0)


def test_between_numbers_of_threads_too() -> None:
    """Of 1000 cubed alone: less is never shared where it is timed."""
    one, four = times(8, 1, 1.0), times(8, 4, 0.25 * 9.0)
    found = ratios(four, one)
    large = (1000, 1000, 1000)
    assert [found.at(large, threads) for threads in (1, 2, 4, 64)] == pytest.approx([1.0, 3.0, 9.0, 9.0])
    assert math.prod((10, 10, 1000)) < SHARED
    assert found.at((10, 10, 1000), 4) == pytest.approx(1.0)


def test_of_another_type_nothing_is_known() -> None:
    assert ratios_of([times(4, 1, 2.0)], 8, predicted) is None


def test_one_way_over_the_other() -> None:
    own, calls = ratios(times(8, 1, 6.0)), ratios(times(8, 1, 2.0))
    found = own.over(calls, 1)
    assert found.at((2000, 10, 10)) == pytest.approx(3.0)
    assert found.at((10, 10, 10)) == pytest.approx(1.0)
    assert found.growth() == (0, 0, 0)


def test_of_one_thread_and_of_several_in_equal_parts() -> None:
    """Four times as long on one thread, and as long on four, is twice."""
    own = ratios(times(8, 1, 4.0), times(8, 4, 0.25))
    calls = ratios(times(8, 1, 1.0), times(8, 4, 0.25))
    assert own.over(calls, 4).at((1000, 1000, 1000)) == pytest.approx(2.0)


def test_a_steady_grid_stays() -> None:
    grid = Grid(((1, 10),), (1.0, 5.0), steady=True)
    assert grid.at((1000,)) == pytest.approx(5.0)
