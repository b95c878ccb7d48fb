"""Redundant points of overlapped tiles."""

from __future__ import annotations

import pytest

from polymat.graph.alignment import Member
from polymat.graph.overlap import overlap_fraction

BLUR = Member("blur", ("i", "j"), ((1, 1), (2, 2)), scratch=True)
SHARP = Member("sharp", ("i", "j"), ((0, 0), (0, 0)))


def test_nothing_is_redundant_without_margins() -> None:
    assert overlap_fraction([SHARP], (32, 256)) == 0


def test_margins_in_two_dimensions() -> None:
    assert overlap_fraction([BLUR], (8, 16)) == pytest.approx(10 * 20 / (8 * 16) - 1)
    assert overlap_fraction([BLUR, SHARP], (8, 16)) == pytest.approx((10 * 20 - 8 * 16) / (2 * 8 * 16))


def test_stages_weigh_what_their_points_cost() -> None:
    weights = {"blur": 3.0}
    expected = 3 * (10 * 20 - 8 * 16) / (4 * 8 * 16)
    assert overlap_fraction([BLUR, SHARP], (8, 16), weights=weights) == pytest.approx(expected)


def test_a_shift_is_no_overlap() -> None:
    assert overlap_fraction([Member("f", ("j",), ((-5, 5),), scratch=True)], (64,)) == 0


def test_a_stage_without_the_dimension_is_redundant_in_all_tiles_but_one() -> None:
    norm = Member("norm", ("i", None), ((0, 0), (0, 0)), scratch=True)
    assert overlap_fraction([norm, SHARP], (8, 16)) == pytest.approx(8 / (8 * 16))
    with_four = overlap_fraction([norm, SHARP], (8, 16), tiles=(10, 4))
    assert with_four == pytest.approx((8 - 2) / (2 + 8 * 16))
    assert overlap_fraction([norm, SHARP], (8, 16), tiles=(10, 1)) == 0
    assert overlap_fraction([norm], (8, 16)) == float("inf")
