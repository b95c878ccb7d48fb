"""Sums of steps: terms that were made last come last, and rows of the next step are asked for."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import polymat as pm
from benchmarks.factorisations import find_program
from polymat import Double, Float, Function, Int, Interval, Matrix, Op, Options, Reduce, Reduction, Vector
from polymat.codegen.loops.singlesums import ALL
from polymat.lang.types import ScalarType
from tests.tolerance import assert_close

N = pm.Parameter(Int, "N")
i, j = pm.Variable(Int, "i"), pm.Variable(Int, "j")
SIZES = [*range(40), 63, 64, 65, 97, 130]
ASKED = re.compile(r"__builtin_prefetch\(&(\w+)\[\(?i \+ 1")


def substitution(dtype: ScalarType, threads: int = 1, *, backwards: bool = False) -> Any:
    """L x = b, row after row; backwards: as L' x = b from the last row on."""
    L, b = Matrix(dtype, "L", [N, N]), Vector(dtype, "b", [N])
    rows = Interval(Int, 0, N - 1)
    others = Interval(Int, i + 1, N - 1) if backwards else Interval(Int, 0, i - 1)
    known = Reduction(([i], [rows]), ([i, j], [rows, others]), dtype, "known")
    x = Function(([i], [rows]), dtype, "x")
    known.defn = [Reduce(known(i), L(i, j) * x(j), Op.Sum)]
    x.defn = [(b(i) - known(i)) / L(i, i)]
    return pm.compile(x, inputs=[L, b], name="solve", options=Options(threads=threads, blas="never"))


@pytest.mark.covering
@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize("dtype", [Double, Float], ids=str)
@pytest.mark.parametrize("threads", [1, 2])
def test_triangular_systems(threads: int, dtype: ScalarType, backwards: bool) -> None:
    solve = substitution(dtype, threads, backwards=backwards)
    assert ALL in solve.source
    rng = np.random.default_rng(4)
    for size in SIZES:
        L = rng.uniform(-1, 1, (size, size)).astype(dtype.dtype) / max(size, 1)
        L[np.arange(size), np.arange(size)] = 2
        L[np.triu_indices(size, 1) if not backwards else np.tril_indices(size, -1)] = np.nan
        b = rng.uniform(-1, 1, size).astype(dtype.dtype)
        assert_close(solve(L, b), solve.reference(L, b), roundings=8 * size + 8, magnitude=1.0)


@pytest.mark.parametrize("bands", [0, 1, 2, 3, 7, 8, 9, 33, 70])
def test_rows_whose_newest_terms_come_first(bands: int) -> None:
    """Cholesky's with bands: of the row in work the elements from the diagonal out are made last to first."""
    program = find_program("banded-cholesky")
    factor = program.build().compile("banded", options=Options(threads=1))
    assert ALL in factor.source
    for rows in (0, 1, 5, 40, 81):
        (A,) = program.inputs({"N": rows, "K": bands}, np.random.default_rng(rows)).values()
        assert_close(factor(A), factor.reference(A), roundings=8 * bands + 8, magnitude=bands + 2.0)


def test_rows_that_the_next_step_reads_are_asked_for() -> None:
    """Those of the caller's; what steps make is in the cache."""
    assert set(ASKED.findall(substitution(Double).source)) == {"L"}


def test_sums_outside_of_steps_have_no_newest_terms() -> None:
    x = Vector(Double, "x", [N])
    total = Reduction(([], []), ([j], [Interval(Int, 0, N - 1)]), Double, "total")
    total.defn = [Reduce(total(), x(j) * x(j), Op.Sum)]
    source = pm.compile(total, inputs=[x], name="squares", options=Options(blas="never")).source
    assert ALL not in source
    assert not ASKED.search(source)
