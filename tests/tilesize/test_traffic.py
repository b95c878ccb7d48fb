"""Bytes that groups are said to move: of what they read the lines, and no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.graph.pipeline import Pipeline
from polymat.lang.table import Lookup, Table
from polymat.tilesize.traffic import traffic
from tests.fixed import compiled_levels

N = pm.Parameter(pm.Int, "N")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
LARGE = {"N": 1 << 20}
LINE = 64

READS: dict[str, tuple[Any, float]] = {
    "neighbours": (lambda x: x(32 * i + j), 320 * 4),
    "windows": (lambda x: x(256 * i + j), 320 * 4),
    "windows that overlap": (lambda x: x(i + j), 41 * 4),
    "every other one": (lambda x: x(64 * i + 2 * j), 320 * 8 - 4),
    "a line each": (lambda x: x(1000 * i + 31 * j), 320 * LINE),
    "a row for all": (lambda x: x(2 * N - 1 - j), 32 * 4),
    "halves": (lambda x: x(j // 2), 16.5 * 4),
}


@pytest.mark.parametrize("name", READS)
def test_what_is_read_of_a_large_array(name: str) -> None:
    """By 10 x 32 points, the bytes beside those of the result: each element once."""
    read, touched = READS[name]
    x = pm.Vector(pm.Float, "x", [2 * N])
    some = pm.Function(([i, j], [pm.Interval(pm.Int, 0, 9), pm.Interval(pm.Int, 0, 31)]), pm.Float, "some")
    some.defn = [read(x) * 2.0]
    sizes = pm.Condition(N, ">=", 1 << 16)
    pipeline = compiled_levels(some, inputs=[x], constraints=[sizes], estimates={N: LARGE["N"]})["built"]
    assert isinstance(pipeline, Pipeline)
    moved = traffic(pipeline, pipeline.stages, set(), LARGE, line_bytes=LINE)
    assert moved == pytest.approx(320 * 4 + touched)


def test_a_sum_reads_what_its_loops_reach() -> None:
    """A row of a matrix at one place, and a line for each element of a column; elsewhere all may be read."""
    A, k = pm.Matrix(pm.Double, "A", [N, N]), pm.Parameter(pm.Int, "k")
    row = pm.Reduction(([], []), ([j], [pm.Interval(pm.Int, 0, 99)]), pm.Double, "row")
    row.defn = [pm.Reduce(row(), A(k, j), pm.Op.Sum)]
    column = pm.Reduction(([], []), ([j], [pm.Interval(pm.Int, 0, 99)]), pm.Double, "column")
    column.defn = [pm.Reduce(column(), A(j, k), pm.Op.Sum)]
    sizes = [pm.Condition(N, ">=", 100), pm.Condition(k, ">=", 0), pm.Condition(k, "<", N)]
    for stage, touched in ((row, 800), (column, 100 * LINE)):
        pipeline = compiled_levels(stage, inputs=[A, k], constraints=sizes, estimates={N: 1000})["built"]
        assert isinstance(pipeline, Pipeline)
        asked = {"N": 1000, "k": 5}
        assert traffic(pipeline, pipeline.stages, set(), asked, line_bytes=LINE) == 8 + touched
        assert traffic(pipeline, pipeline.stages, set(), asked, line_bytes=LINE, whole=True) == 8 + 8e6


@pytest.mark.parametrize(("values", "read"), [(50, 50), (1000, 320)])
def test_a_table_of_constants_is_read_where_arrays_are(values: int, read: int) -> None:
    """Once by each stage, and no more of it than there are points."""
    table = Table.of(np.arange(values, dtype=np.float64))
    some = pm.Function(([i, j], [pm.Interval(pm.Int, 0, 9), pm.Interval(pm.Int, 0, 31)]), pm.Double, "some")
    some.defn = [Lookup(table, i, pm.Double) + Lookup(table, j, pm.Double)]
    pipeline = compiled_levels(some, inputs=[])["built"]
    assert isinstance(pipeline, Pipeline)
    assert traffic(pipeline, pipeline.stages, set(), {}, line_bytes=LINE) == 8 * (320 + read)


@pytest.mark.parametrize(("values", "once", "anew"), [(50, 50, 66), (1000, 336, 336)])
def test_stages_read_a_table_up_to_its_size(values: int, once: int, anew: int) -> None:
    """Of 320 points and of 16."""
    table = Table.of(np.arange(values, dtype=np.float64))
    spans = [pm.Interval(pm.Int, 0, 9), pm.Interval(pm.Int, 0, 31)]
    some = pm.Function(([i, j], spans), pm.Double, "some")
    some.defn = [Lookup(table, i, pm.Double)]
    few = pm.Function(([i], [pm.Interval(pm.Int, 0, 15)]), pm.Double, "few")
    few.defn = [Lookup(table, i, pm.Double)]
    pipeline = compiled_levels([some, few], inputs=[])["built"]
    assert isinstance(pipeline, Pipeline)
    for again, read in ((False, once), (True, anew)):
        moved = traffic(pipeline, pipeline.stages, set(), {}, line_bytes=LINE, again=again)
        assert moved == pytest.approx(8 * (320 + 16 + read))
