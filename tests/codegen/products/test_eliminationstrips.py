"""Rows behind a few steps of an elimination take them side by side, to the bits of each by itself."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import polymat as pm
from benchmarks.polybench import cholesky, lu
from polymat import Case, Condition, Double, Function, Int, Interval
from polymat.codegen.products.eliminationstrips import StripsWriter
from polymat.decide import eliminationplans
from tests.decide import eliminations
from tests.decide.eliminations import N, i, j, k, p, start, step, upto
from tests.tolerance import assert_close

STRIPS = re.compile(r"static void _pm_strips_[A-Z]\w*\(")
SIZES = (0, 1, 7, 8, 9, 11, 12, 13, 16, 17, 23, 31, 41, 67)


def described(name: str, dtype: Any) -> Function:
    kernels = {"lu": lu, "cholesky": cholesky}
    if name in kernels:
        found: Function = kernels[name].build().outputs[0]
        return found
    return eliminations.LEGAL[name](dtype)


def far(dtype: Any) -> Function:
    """Multipliers depend on the first one of their row, too."""
    A = pm.Matrix(dtype, "A", [N, N])
    W = Function(([k, i, j], [Interval(Int, 0, N), upto(N), upto(N)]), dtype, "W")
    below, here = Condition(i, ">", p), Condition(j, "==", p)
    W.defn = [
        Case(start, A(i, j)),
        Case(step & (Condition(i, "<=", p) | Condition(j, "<", p)), W(k - 1, i, j)),
        Case(step & below & here, W(k - 1, i, j) / W(k - 1, p, p) + 0.125 * W(k - 1, i, 0)),
        Case(step & below & Condition(j, ">", p), W(k - 1, i, j) - W(k, i, p) * W(k - 1, p, j)),
    ]
    return eliminations.last(W, dtype, N, N, upto(N))


def compiled_both(monkeypatch: pytest.MonkeyPatch, name: str, dtype: Any, threads: int) -> tuple[Any, Any]:
    options = pm.Options(threads=threads, parallel_threshold=0)
    strips = pm.compile(described(name, dtype), options=options)
    with monkeypatch.context() as patched:
        patched.setattr(StripsWriter, "strips", lambda self, rows: None)
        rows = pm.compile(described(name, dtype), options=options)
    assert STRIPS.search(strips.source)
    assert not STRIPS.search(rows.source)
    return strips, rows


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("least", [2, 8])
@pytest.mark.parametrize(
    ("name", "dtype"),
    [("lu", Double), ("cholesky", Double), ("ldlt", Double), ("ldlt", pm.Float), ("unscaled_lu", Double)],
)
def test_the_same_bits_as_row_by_row(
    name: str, dtype: Any, least: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eliminationplans, "LEAST_STEPS", least)
    monkeypatch.setattr(eliminationplans, "MOST_STEPS", 4 * least)
    strips, rows = compiled_both(monkeypatch, name, dtype, threads)
    for size in SIZES:
        matrix = eliminations.arguments(size, size, dtype.dtype)["square"]
        found = strips(matrix)
        np.testing.assert_array_equal(found, rows(matrix))
        assert_close(found, strips.reference(matrix), roundings=8 * (size + 1))


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 0.0])
def test_what_is_not_finite_stays_in_its_row(value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    strips, rows = compiled_both(monkeypatch, "lu", Double, 1)
    for size in (13, 29):
        matrix = eliminations.arguments(size, size, "float64")["square"]
        matrix[size - 4, 2] = value
        np.testing.assert_array_equal(strips(matrix), rows(matrix))


def test_rows_that_read_other_columns_go_one_by_one() -> None:
    compiled = pm.compile(far(Double))
    assert "_pm_rows_W(" in compiled.source
    assert not STRIPS.search(compiled.source)
    for size in (0, 1, 9, 33, 50):
        matrix = eliminations.arguments(size, size, "float64")["square"]
        assert_close(compiled(matrix), compiled.reference(matrix), roundings=64 * (size + 1))


@pytest.mark.parametrize("name", ["chained", "summed", "forward_solve"])
def test_rows_that_need_each_other_or_no_step_have_none(name: str) -> None:
    compiled = pm.compile(eliminations.LEGAL[name](Double))
    assert "_pm_steps_" in compiled.source
    assert not STRIPS.search(compiled.source)
