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


def test_a_point_at_the_roof_is_on_the_line() -> None:
    drawn = roofline(1e11, ROOFS, [Point(10.0, 1e11, measured=False)])  # the ridge: 1e11 / 1e10
    (ridge,) = re.findall(r"L([\d.]+) ([\d.]+)H", drawn)
    (point,) = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn)
    assert [float(each) for each in ridge] == pytest.approx([float(each) for each in point], abs=0.2)
