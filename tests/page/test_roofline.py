"""Roofs and points lie within the frame, whatever the figures are."""

from __future__ import annotations

import re

import pytest

from polymat.page.roofline import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Point, Roof, roofline

ROOFS = [Roof("L1", 2e11, binding=False), Roof("memory", 1e10, binding=True)]


@pytest.mark.parametrize("intensity", [1e-4, 0.3, 40.0, 1e5])
@pytest.mark.parametrize("rate", [1e3, 2e9, 9e10, 5e13])
def test_points_are_within_the_frame(intensity: float, rate: float) -> None:
    drawn = roofline(1e11, ROOFS, [Point(intensity, rate, measured=True)])
    (place,) = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn)
    assert LEFT <= float(place[0]) <= WIDTH - RIGHT
    assert TOP <= float(place[1]) <= HEIGHT - BOTTOM


def names(*bandwidths: float) -> dict[str, float]:
    """How far below its own slope each name stands, those of memory with 1e9 bytes a second among them."""
    roofs = [Roof(f"L{k}", each, binding=False) for k, each in enumerate(bandwidths, 1)]
    drawn = roofline(2e11, [*roofs, Roof("memory", 1e9, binding=True)], [])
    starts = {name: float(y) for y, name in re.findall(r'd="M[\d.]+ ([\d.]+)L[^>]*><title>(\w+):', drawn)}
    placed = re.findall(r'<text [^>]*y="([\d.]+)"[^>]*rotate[^>]*>(\w+)</text>', drawn)
    return {name: float(y) - starts[name] for y, name in placed}


def test_a_slope_does_not_go_through_the_name_of_another() -> None:
    apart, near = names(8e10, 2e10), names(3e10, 2.5e10)
    assert set(apart) == set(near) == {"L1", "L2", "memory"}
    assert [*apart.values(), near["L1"]] == pytest.approx([apart["L1"]] * 4, abs=0.3)
    assert apart["L1"] < 0
    assert near["L2"] > near["L1"] + 15  # under its own slope
    assert set(names(3e10, 2.8e10, 2.6e10)) == {"L1", "L3", "memory"}  # no room between three


def test_a_point_at_the_roof_is_on_the_line() -> None:
    drawn = roofline(1e11, ROOFS, [Point(10.0, 1e11, measured=False)])  # the ridge: 1e11 / 1e10
    (ridge,) = re.findall(r"L([\d.]+) ([\d.]+)H", drawn)
    (point,) = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn)
    assert [float(each) for each in ridge] == pytest.approx([float(each) for each in point], abs=0.2)
