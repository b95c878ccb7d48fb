"""Eliminations in blocks of steps compute what the interpreter does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.decide import eliminationplans
from tests.decide import eliminations
from tests.tolerance import assert_close

SIZES = (0, 1, 2, 3, 7, 8, 9, 17, 29)
SHAPES = {
    "unscaled_lu": {"A": "square"},
    "chained": {"A": "square"},
    "ldlt": {"A": "square"},
    "upper_cholesky": {"A": "square"},
    "schur": {"A": "wide"},
    "forward_solve": {"L": "square", "B": "wide"},
    "right_solve": {"U": "square", "B": "tall"},
}


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 8 steps, halved down to 2, and bands of few rows: small matrices have several of them."""
    monkeypatch.setattr(eliminationplans, "LEAST_STEPS", 2)
    monkeypatch.setattr(eliminationplans, "MOST_STEPS", 8)
    monkeypatch.setattr(eliminationplans, "BAND_SHARE", 1e-6)  # as many rows as a vector has lanes


def given(name: str, size: int, columns: int, dtype: str) -> dict[str, Any]:
    made = eliminations.arguments(size, columns, dtype)
    found = {array: made[shape] for array, shape in SHAPES[name].items()}
    return found | ({"S": min(size, columns) // 2} if name == "schur" else {})


def check(compiled: Any, name: str, size: int, columns: int, dtype: str) -> None:
    arguments = given(name, size, columns, dtype)
    # Each result is a sum of `size` products, which the steps before have rounded as often.
    assert_close(compiled(**arguments), compiled.reference(**arguments), roundings=8 * (size + 1))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("name", "dtype"),
    [*((name, pm.Double) for name in SHAPES), ("ldlt", pm.Float), ("right_solve", pm.Float)],
)
def test_results_at_sizes_around_those_of_blocks(name: str, dtype: Any) -> None:
    options = pm.Options(threads=2, parallel_threshold=1)
    compiled = pm.compile(eliminations.LEGAL[name](dtype), options=options)
    assert "_pm_steps_" in compiled.source
    for size in SIZES:
        square = len(SHAPES[name]) == 1 and name != "schur"
        others = {size, 5, 33} if size in (7, 8, 9) else {0, 5}
        for columns in {size} if square else others:
            check(compiled, name, size, columns, dtype.dtype)


@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_as_they_are(threads: int) -> None:
    compiled = pm.compile(eliminations.unscaled_lu(), options=pm.Options(threads=threads))
    assert "_pm_bands_W(" in compiled.source  # rows behind a block, some for each thread
    for size in (7, 8, 9, 16, 63):
        check(compiled, "unscaled_lu", size, size, "float64")
    size = 300
    matrix = eliminations.arguments(size, size, "float64")["square"]
    result = compiled(matrix)
    upper = np.triu(result)
    lower = np.tril(result, -1) / np.diag(result) + np.eye(size)
    assert_close(lower @ upper, matrix, roundings=8 * size, magnitude=np.abs(lower) @ np.abs(upper))


def test_rows_that_need_each_other_are_not_shared_out() -> None:
    compiled = pm.compile(eliminations.chained(), options=pm.Options(threads=2, parallel_threshold=0))
    assert "_pm_steps_" in compiled.source
    assert not any(f"_pm_{kind}_W(" in compiled.source for kind in ("lines", "band", "bands"))
    check(compiled, "chained", 63, 63, "float64")


@pytest.mark.usefixtures("small_blocks")
def test_sizes_that_are_numbers() -> None:
    compiled = pm.compile(eliminations.unscaled_lu(size=41), options=pm.Options(threads=1))
    assert "_pm_steps_" in compiled.source
    check(compiled, "unscaled_lu", 41, 41, "float64")


@pytest.mark.usefixtures("small_blocks")
def test_a_plain_sum_of_products() -> None:
    compiled = pm.compile(eliminations.summed())
    assert "_pm_steps_" in compiled.source
    rng = np.random.default_rng(5)
    for rows, steps, columns in ((0, 0, 0), (1, 1, 1), (5, 9, 3), (17, 40, 9), (7, 0, 9)):
        left, right = rng.random((rows, steps)), rng.random((steps, columns))
        assert_close(compiled(left, right), compiled.reference(left, right), roundings=3 * steps + 3)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("running", [False, True])
def test_what_comes_before_the_steps_is_shared_out_where_rows_need_no_others(running: bool) -> None:
    """Or a running sum over the rows of a matrix is what steps begin with, which needs the row before."""
    W = eliminations.elimination()
    start, *steps = W.defn
    if running:
        i, j, k = eliminations.i, eliminations.j, eliminations.k
        A = start.value.source
        top = pm.Condition(i, "==", 0)
        W.defn = [
            pm.Case(eliminations.start & top, A(i, j)),
            pm.Case(eliminations.start & pm.Condition(i, ">=", 1), A(i, j) + W(k, i - 1, j)),
            *steps,
        ]
    result = eliminations.last(
        W, pm.Double, eliminations.N, eliminations.N, eliminations.upto(eliminations.N)
    )
    compiled = pm.compile(result, options=pm.Options(threads=2, parallel_threshold=1))
    assert "_pm_steps_" in compiled.source
    assert ("_pm_beginners" in compiled.source) != running
    for size in (1, 8, 29):
        arguments = {"A": eliminations.arguments(size, size, "float64")["square"]}
        assert_close(compiled(**arguments), compiled.reference(**arguments), roundings=8 * (size + 1))
