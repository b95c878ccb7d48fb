"""Loops along the rows of a sparse matrix, whatever their dimensions are called."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Int, Interval, Op, Parameter, Reduce, Reduction, Variable, Vector

N, M, NNZ, C = (Parameter(Int, name) for name in ("N", "M", "NNZ", "C"))
i, k, c, r = (Variable(Int, name) for name in "ikcr")
ROWS, COLUMNS = Interval(Int, 0, N - 1), Interval(Int, 0, C - 1)
row = Vector(Int, "row", [N + 1], values=(0, NNZ), sorted=True)
column = Vector(Int, "column", [NNZ], values=(0, M - 1))
value = Vector(pm.Double, "value", [NNZ])
LENGTHS = (3, 0, 1, 20, 0, 7, 5, 11, 2, 2, 2)


def within(along: Any) -> Interval:
    return Interval(Int, row(along), row(along + 1) - 1)


def compared(y: Any, operand: Any, numbers: Any, threads: int) -> str:
    """What was compiled, once it gives what the definition says."""
    options = pm.Options(threads=threads, parallel_threshold=0)
    run = pm.compile(y, inputs=[row, column, value, operand], options=options)
    rng = np.random.default_rng(0)
    ends = np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int32)
    columns = rng.integers(0, len(numbers.T), ends[-1]).astype(np.int32)
    calls = (ends, columns, rng.integers(-5, 5, ends[-1]).astype(float), numbers)
    np.testing.assert_array_equal(run(*calls), run.reference(*calls))
    return run.source


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("result", [i, r, k, c], ids=str)
def test_results_may_have_names_of_their_own(result: Any, threads: int) -> None:
    """Each row is run through between its ends, and not all elements for each."""
    x = Vector(pm.Double, "x", [M])
    y = Reduction(([result], [ROWS]), ([i, k], [ROWS, within(i)]), pm.Double, "y")
    y.defn = [Reduce(y(i), value(k) * x(column(k)), Op.Sum)]
    source = compared(y, x, np.arange(9.0), threads)
    assert "_pm_from_k" in source
    assert "_pm_seen_column" in source
    assert "_pm_share_i32(row, " in source


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("names", [(i, c), (c, i), (c, r), (r, i)], ids=str)
def test_results_may_have_the_names_of_other_dimensions(names: Any, threads: int) -> None:
    """The bounds are those of the row that is summed up, not of one along another loop of that name."""
    vectors = pm.Matrix(pm.Double, "vectors", [C, M])
    y = Reduction((list(names), [ROWS, COLUMNS]), ([i, k, c], [ROWS, within(i), COLUMNS]), pm.Double, "y")
    y.defn = [Reduce(y(i, c), value(k) * vectors(c, column(k)), Op.Sum)]
    numbers = np.random.default_rng(1).integers(-5, 5, (4, 9)).astype(float)
    assert "_pm_from_k" in compared(y, vectors, numbers, threads)
