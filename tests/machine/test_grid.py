"""Times read between the points of a grid."""

from __future__ import annotations

import itertools
import math

import pytest

from polymat.machine.grid import Grid

LEVELS = (1, 2, 4, 8, 16, 32, 64)


def cubic(m: float, n: float, k: float) -> float:
    return 3e-9 * m * math.pow(n, 1.5) * math.pow(k, 0.7)


CUBE = Grid((LEVELS,) * 3, tuple(cubic(*point) for point in itertools.product(LEVELS, repeat=3)))


@pytest.mark.parametrize("point", [(1, 1, 1), (64, 64, 64), (3, 5, 7), (33, 1, 63), (2.5, 17, 48)])
def test_powers_are_exact(point: tuple[float, ...]) -> None:
    assert CUBE.at(point) == pytest.approx(cubic(*point), rel=1e-12)


def test_beyond_the_ends() -> None:
    """Above in proportion; nothing is below 1."""
    assert CUBE.at((256, 64, 128)) == pytest.approx(8 * cubic(64, 64, 64))
    assert CUBE.at((0, 0, 0)) == CUBE.at((1, 1, 1))
    assert CUBE.at((0.5, 4, 4)) == CUBE.at((1, 4, 4))


def test_beyond_the_end_a_triangular_matrix_counts_twice() -> None:
    levels = (1, 2, 4, 8)
    square = Grid((levels, levels), tuple(1e-9 * m**2 * n for m in levels for n in levels))
    assert square.growth() == (2, 1)
    assert square.at((32, 4)) == pytest.approx(1e-9 * 32**2 * 4)
    assert square.at((32, 16)) == pytest.approx(1e-9 * 32**2 * 16)


def test_a_bend_is_what_a_level_differs_by_from_its_neighbours() -> None:
    """Powers have none; the least level, and 1 before it, say nothing of others."""
    assert CUBE.bend() == pytest.approx(0.0, abs=1e-12)
    levels = (1, 8, 16, 128)
    assert Grid((levels,), (9.0, 1.0, 1.0, 1.0)).bend() == 0.0
    assert Grid((levels,), (1.0, 1.0, math.e, 1.0)).bend() == pytest.approx(1.0)
    assert Grid((levels,), (1.0, 1.0, 1.0, 16.0)).bend() == pytest.approx(math.log(2))
    assert Grid(((1, 4), (1, 8)), (1.0, 2.0, 3.0, 9.0)).bend() == 0.0
    rows = ((1.0, 1.0, math.exp(bend), 1.0) for bend in (1, 1, 2))
    several = Grid(((1, 2, 4), levels), tuple(seconds for row in rows for seconds in row))
    assert several.bend() == pytest.approx(math.sqrt((1 + 1 + 4) / 3))


def test_rising_takes_disturbance_away() -> None:
    clean = [float(m + n) for m, n in itertools.product(LEVELS, repeat=2)]
    disturbed = list(clean)
    disturbed[0] += 2.5  # above its neighbour
    disturbed[10] *= 100.0
    rising = Grid((LEVELS, LEVELS), tuple(disturbed)).rising()
    assert all(found <= was for found, was in zip(rising.seconds, disturbed, strict=True))
    for (m, n), (x, y) in itertools.product(itertools.product(LEVELS, repeat=2), repeat=2):
        if m <= x and n <= y:
            assert rising.at((m, n)) <= rising.at((x, y)) * (1 + 1e-12)
    assert Grid((LEVELS, LEVELS), tuple(clean)).rising().seconds == tuple(clean)


@pytest.mark.parametrize(
    ("levels", "seconds"),
    [
        (((2, 4),), (1.0, 2.0)),
        (((1,),), (1.0,)),
        (((1, 4, 4),), (1.0, 2.0, 3.0)),
        (((1, 4),), (1.0,)),
        (((1, 4),), (0.0, 1.0)),
        (((1, 4),), (math.nan, 1.0)),
        (((1, 4),), (1.0, math.inf)),
    ],
)
def test_no_grid(levels: tuple[tuple[int, ...], ...], seconds: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=r"levels rise from 1|a time"):
        Grid(levels, seconds)
