"""Programs in several orders: which one a call takes, and that it is called like any other."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Int, Options
from tests.tolerance import assert_close

K, L, M, N, P = (pm.Parameter(Int, name) for name in "KLMNP")
A, B = pm.Matrix(Double, "A", [K, L]), pm.Matrix(Double, "B", [L, M])
C, D = pm.Matrix(Double, "C", [M, N]), pm.Matrix(Double, "D", [N, P])
LOOPS = Options(kernels=False, blas="never")


def arrays(*lengths: int) -> list[Any]:
    rng = np.random.default_rng(sum(lengths))
    return [rng.standard_normal(shape) for shape in itertools.pairwise(lengths)]


def check(compiled: Any, given: list[Any]) -> None:
    magnitude = np.linalg.multi_dot([abs(each) for each in given])
    roundings = sum(each.shape[1] for each in given) + 10
    assert_close(compiled(*given), compiled.reference(*given), roundings=roundings, magnitude=magnitude)


SHAPES = (
    (1, 1, 1, 1, 1),
    (0, 3, 2, 4, 5),
    (4, 3, 0, 2, 3),
    (13, 2, 17, 3, 19),
    (2, 13, 3, 17, 2),
    (23, 3, 29, 31, 2),
    (3, 31, 29, 23, 37),
)


@pytest.mark.parametrize("options", [LOOPS, Options()])
def test_four_matrices(options: Options) -> None:
    compiled = pm.compile((A @ B) @ (C @ D), name="four", inputs=[A, B, C, D], options=options)
    assert "_pm_entry_3(" in compiled.source
    for lengths in SHAPES:
        check(compiled, arrays(*lengths))


def test_each_call_chooses_by_its_sizes() -> None:
    """A partial product overflows in one order alone."""
    compiled = pm.compile(A @ B @ C, name="chosen", inputs=[A, B, C], options=LOOPS)

    def overflows(a: int, b: int) -> bool:
        large, small = np.full((a, b), 1e200), np.full((a, b), 1e-200)
        return bool(np.isinf(compiled(large, large.reshape(b, a), small)).all())

    assert overflows(4, 50)  # (A B) is 4 x 4
    assert not overflows(50, 4)  # (B C) is


def test_results_may_be_given_and_programs_saved(tmp_path: Path) -> None:
    compiled = pm.compile(A @ B @ C, name="saved", inputs=[A, B, C], options=LOOPS)
    compiled.save(tmp_path)
    loaded = pm.load(tmp_path / "saved.json")
    for lengths in ((5, 7, 3, 11), (11, 3, 7, 2)):
        given = arrays(*lengths)
        out = np.empty((lengths[0], lengths[3]))
        assert loaded(*given, out=out) is out
        assert np.array_equal(out, compiled(*given))


def test_one_order_has_no_choice() -> None:
    assert "_pm_chosen" not in pm.compile(A @ B, name="two", options=LOOPS).source


def test_stages_may_have_names_with_numbers() -> None:
    """The functions of a second order have a number behind their names, as outputs without names have."""
    R = pm.Matrix(Double, "R", [L, K])
    outputs = [A - A @ (R @ A), (A + 1.0).named("out"), (A - 2.0).named("out_2"), (A * 3.0).named("out_2_2")]
    compiled = pm.compile(outputs, name="numbered", inputs=[A, R], options=LOOPS)
    assert "_pm_entry_2(" in compiled.source
    rng = np.random.default_rng(6)
    for rows, columns in ((1, 1), (3, 20), (20, 3)):
        a, r = rng.integers(-4, 5, (rows, columns)) * 1.0, rng.integers(-4, 5, (columns, rows)) * 1.0
        for got, want in zip(compiled(a, r), (a - a @ r @ a, a + 1, a - 2, a * 3), strict=True):
            np.testing.assert_array_equal(got, want)
