"""Libraries that go another way from so many multiplications on: what is read on either side."""

from __future__ import annotations

import math
from itertools import product

import pytest

from polymat.machine.grid import Grid
from polymat.machine.producttimes import Ratios
from polymat.machine.seams import PACKED_FROM, parted

LEVELS = (1, 3, 10, 30, 100, 300, 1000)
POINTS = [*product(LEVELS, repeat=3)]
BESIDE = [(99, 100, 100), (101, 100, 100), (1972, 185, 3), (300, 60, 60), (270, 60, 60), (5, 900, 300)]


def each(size: float, longer: float) -> float:
    """Seconds of a multiplication of a product of so many."""
    return 1e-9 * (longer if size > PACKED_FROM else 1.0)


def library(longer: float, *, of_one: bool = False) -> Grid:
    """Times of a library, or of a multiplication each, that takes longer beyond."""
    sizes = map(math.prod, POINTS)
    seconds = tuple(each(size, longer) * (1 if of_one else size) for size in sizes)
    return Grid((LEVELS,) * 3, seconds, steady=of_one)


@pytest.mark.parametrize("of_one", [False, True])
@pytest.mark.parametrize("extents", BESIDE)
def test_each_side_is_read_from_its_own_points(extents: tuple[int, ...], of_one: bool) -> None:
    grid, size = library(2.0, of_one=of_one), math.prod(extents)
    expected = each(size, 2.0) * (1 if of_one else size)
    sides = parted(grid)
    assert sides.at(extents) == pytest.approx(expected)
    assert parted(sides) is sides
    assert grid.at((1972, 185, 3)) < 0.8 * sides.at((1972, 185, 3))
    assert sides.bend() < 1e-9 < 0.1 < grid.bend()


@pytest.mark.parametrize("longer", [0.5, 1.0, 1.05])
def test_what_goes_one_way_stays_whole(longer: float) -> None:
    grid = library(longer)
    assert parted(grid) is grid
    assert Ratios(((1, grid),)).parted().grids == ((1, grid),)


def test_a_side_without_points_has_those_of_the_other() -> None:
    small = Grid(((1, 3, 10),) * 3, tuple(map(float, map(math.prod, product((1, 3, 10), repeat=3)))))
    assert parted(small) is small


def test_ratios_over_those_of_a_library_with_a_seam() -> None:
    own = Ratios(((1, Grid((LEVELS,) * 3, (1.0,) * len(POINTS), steady=True)),))
    calls = Ratios(((1, library(2.0, of_one=True)),))
    found = own.over(calls.parted(), 1)
    assert [found.at(extents) for extents in BESIDE] == pytest.approx(
        [1.0 / each(math.prod(extents), 2.0) for extents in BESIDE]
    )
    assert own.over(calls, 1).beyond is None
