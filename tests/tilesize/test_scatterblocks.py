"""Sums into computed places whose loop is shared out in blocks, beside the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm

R, C = pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "C")
i, j, g, h = (pm.Variable(pm.Int, name) for name in ("i", "j", "g", "h"))
ROWS = [1, 2, 7, 8, 9, 24, 65]


def cells(first: int, several: bool) -> Any:
    """How many elements and how much of them there is in cells of eight rows and of two kinds."""
    image = pm.Image(pm.Int, "image", [R, C])
    rows, columns = pm.Interval(pm.Int, first, R - 1), pm.Interval(pm.Int, 0, C - 1)
    grid = [pm.Interval(pm.Int, 0, R // 8 + 1), pm.Interval(pm.Int, 0, 3)]
    found = pm.Reduction(([g, h], grid), ([i, j], [rows, columns]), pm.Long, "cells")
    kind = image(i, j) & 1
    found.defn = [pm.Reduce(found((i - first) // 8, kind), image(i, j), pm.Op.Sum)]
    if several:
        found.defn = [
            pm.Reduce(found((i - first) // 8, kind), image(i, j), pm.Op.Sum),
            pm.Reduce(found((i - first) // 8, 2 + kind), 1, pm.Op.Sum),
        ]
    return found, image


@pytest.mark.parametrize(("first", "several"), [(0, False), (0, True), (3, True)])
def test_blocks_of_rows_have_cells_of_their_own(first: int, several: bool) -> None:
    found, image = cells(first, several)
    options = pm.Options(parallel_threshold=0, threads=3)
    compiled = pm.compile(found, inputs=[image], name=f"cells{first}{several}", options=options)
    report = compiled.explain()
    assert report is not None
    assert report.groups[0].parallel == "i"
    assert "by blocks of 8 along i they are others" in report.groups[0].reason
    for rows in ROWS:
        array = np.random.default_rng(rows).integers(0, 99, (rows, 37), dtype=np.int32)
        np.testing.assert_array_equal(compiled(array), compiled.reference(array))
