"""Bytes that groups are said to move: of what they read the lines, and no more."""

from __future__ import annotations

from typing import Any

import pytest

import polymat as pm
from polymat.graph.pipeline import Pipeline
from polymat.tilesize.traffic import traffic
from tests.fixed import compiled_levels

N = pm.Parameter(pm.Int, "N")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
LARGE = {"N": 1 << 20}
LINE = 64

READS: dict[str, tuple[Any, float]] = {
    "neighbours": (lambda x: x(32 * i + j), 4),
    "windows": (lambda x: x(256 * i + j), 4),
    "every other one": (lambda x: x(2 * j), 8),
    "a line each": (lambda x: x(1000 * j), LINE),
    "backwards": (lambda x: x(2 * N - 1 - j), 4),
}


@pytest.mark.parametrize("name", READS)
def test_what_is_read_of_a_large_array(name: str) -> None:
    """By 10 x 32 points, the bytes for each of them beside those of the result."""
    read, each = READS[name]
    x = pm.Vector(pm.Float, "x", [2 * N])
    some = pm.Function(([i, j], [pm.Interval(pm.Int, 0, 9), pm.Interval(pm.Int, 0, 31)]), pm.Float, "some")
    some.defn = [read(x) * 2.0]
    sizes = pm.Condition(N, ">=", 1 << 16)
    pipeline = compiled_levels(some, inputs=[x], constraints=[sizes], estimates={N: LARGE["N"]})["built"]
    assert isinstance(pipeline, Pipeline)
    moved = traffic(pipeline, pipeline.stages, set(), LARGE, line_bytes=LINE)
    assert moved == 320 * (4 + each)
