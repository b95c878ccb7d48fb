"""Sizes are pieces of extents in whole units, and fill a good part of a cache."""

from __future__ import annotations

from random import Random

import pytest

from polymat.search.grown import filling, grown_tile, pieces


@pytest.mark.parametrize("extent", [1, 5, 6, 7, 499, 500])
@pytest.mark.parametrize("unit", [1, 6])
def test_pieces_are_whole_units_and_cover_the_extent(extent: int, unit: int) -> None:
    found = pieces(extent, unit)
    assert found[0] >= extent > found[0] - unit
    assert all(size % unit == 0 and size > 0 for size in found)
    assert [*found] == sorted({*found}, reverse=True)


def test_pieces_fill_more_than_half_of_a_cache() -> None:
    assert filling(500, 1, 100.0, 32768.0) == (250, 167)
    assert filling(500, 1, 100.0, 1e6) == (500,)  # all of it is less than half
    assert filling(500, 6, 1e5, 32768.0) == (6,)  # not even a unit fits


def test_tiles_grow_to_half_of_a_cache_and_not_beyond_the_extents() -> None:
    def size(sizes: tuple[int, ...]) -> float:
        return 8.0 * sizes[0] * sizes[1]

    for seed in range(20):
        found = grown_tile((1, 128), (1000, 700), size, 32768.0, Random(seed))
        assert 16384 < size(found) <= 32768
        assert found[0] <= 1000
        assert found[1] <= 700
    assert grown_tile((1, 4), (3, 4), size, 1e9, Random(0)) == (3, 4)
