"""Which reductions read whole arrays in the order of memory."""

from __future__ import annotations

from typing import Any

import pytest

import polymat as pm
from polymat.graph.flatpoints import is_flat
from polymat.graph.pipeline import Pipeline
from tests.fixed import WIDE, compiled_levels

M, N, K = (pm.Parameter(pm.Int, name) for name in "MNK")
A, B = (pm.Matrix(pm.Double, name, [M, N]) for name in "AB")
C, D = pm.Matrix(pm.Double, "C", [N, M]), pm.Matrix(pm.Double, "D", [M, N + 1])
row = pm.Vector(pm.Double, "row", [N])
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")


def largest(value: Any, rows: Any = (0, M - 1), columns: Any = (0, N - 1)) -> Any:
    """The reduction to the largest of a value."""
    spans = [pm.Interval(pm.Int, *limits) for limits in (rows, columns)]
    found = pm.Reduction(([], []), ([i, j], spans), pm.Double, "found")
    found.defn = [pm.Reduce(found(), value, pm.Op.Max)]
    pipeline = compiled_levels(found, machine=WIDE)["graph"]
    assert isinstance(pipeline, Pipeline)
    return pipeline, pipeline.stage("found")


@pytest.mark.parametrize(
    ("value", "limits", "flat"),
    [
        (A(i, j), {}, True),
        (A(i, j) - B(i, j), {}, True),
        (A(i, j) - B(0, 0), {}, True),
        (A(i, j) + i, {}, False),
        (A(i, j) - row(j), {}, False),
        (A(i, j) - C(j, i), {}, False),
        (D(i, j), {}, False),
        (D(i, j + 1), {}, False),
        (A(i, j), {"rows": (1, M - 1)}, False),
        (A(i, j), {"columns": (0, N - 2)}, False),
        (A(i, j), {"rows": (0, M - 2)}, True),
    ],
)
def test_which_are_flat(value: Any, limits: Any, flat: bool) -> None:
    pipeline, stage = largest(value, **limits)
    assert is_flat(stage.accumulations[0], pipeline.extents) == flat
