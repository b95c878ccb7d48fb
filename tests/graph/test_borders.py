"""Borders that a Select tells from the interior: which become parts, and that the values stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.graph.borders import MOST_PARTS, split_borders
from polymat.graph.build import build
from polymat.graph.interpret import interpret
from polymat.graph.pipeline import Pipeline
from polymat.poly.membership import members

N, M = pm.Parameter(pm.Int, "N"), pm.Parameter(pm.Int, "M")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
SHAPES = [(0, 0), (1, 1), (1, 5), (2, 3), (3, 2), (7, 6)]


def pipeline_of(define: Any) -> Pipeline:
    image = pm.Image(pm.Double, "image", [N, M])
    spans = [pm.Interval(pm.Int, 0, size - 1) for size in (N, M)]
    found = pm.Function(([i, j], spans), pm.Double, "found")
    found.defn = [define(image)]
    return build([found])


def inside(border: int = 1) -> pm.Condition:
    rows = pm.Condition(i, ">=", border) & pm.Condition(i, "<=", N - 1 - border)
    return rows & pm.Condition(j, ">=", border) & pm.Condition(j, "<=", M - 1 - border)


def framed(image: Any) -> Any:
    return pm.Select(inside(), image(i - 1, j) + image(i, j + 1), image(i, j))


def nested(image: Any) -> Any:
    """A corner that differs from the border, and an integer among real numbers."""
    corner = pm.Condition(i, "==", 0) & pm.Condition(j, "==", 0)
    return pm.Select(inside(), image(i + 1, j - 1), pm.Select(corner, 3, 2 * image(i, j)))


def parity(image: Any) -> Any:
    return pm.Select(pm.Condition(j % 2, "==", 0), image(i, j), -image(i, j))


def triangle(image: Any) -> Any:
    return pm.Select(pm.Condition(j, "<=", i), image(i, j), 0.0)


def by_value(image: Any) -> Any:
    return pm.Select(pm.Condition(image(i, j), ">", 0.5), image(i, j), 0.0)


def steps(image: Any) -> Any:
    """More cases than a stage may have parts."""
    value: Any = image(i, j)
    for row in range(MOST_PARTS):
        value = pm.Select(pm.Condition(i, "==", row), float(row), value)
    return value


@pytest.mark.parametrize(
    ("define", "parts"),
    [(framed, 2), (nested, 3), (parity, 1), (triangle, 1), (by_value, 1), (steps, 1)],
)
def test_parts_are_rectangles(define: Any, parts: int) -> None:
    given = pipeline_of(define)
    found = split_borders(given)
    assert len(found.stage("found").parts) == parts
    assert (found is given) == (parts == 1)


@pytest.mark.parametrize("define", [framed, nested])
@pytest.mark.parametrize("shape", SHAPES)
def test_values_stay(define: Any, shape: tuple[int, int]) -> None:
    given = pipeline_of(define)
    array = np.random.default_rng(shape[1]).random(shape)
    sizes = dict(zip("NM", shape, strict=True))
    before = interpret(given, {"image": array}, sizes)
    after = interpret(split_borders(given), {"image": array}, sizes, members)
    np.testing.assert_array_equal(before["found"], after["found"])


def test_a_branch_that_no_size_needs_is_no_part() -> None:
    given = pipeline_of(lambda image: pm.Select(pm.Condition(i, ">=", 0), image(i, j), 1.0))
    assert len(split_borders(given).stage("found").parts) == 1
