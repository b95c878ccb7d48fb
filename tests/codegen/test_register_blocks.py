"""Blocks of sums, products and extremes in registers, of every element type, against the interpreter."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import polymat as pm
from polymat.codegen.loops.extremes import LAST
from polymat.lang.types import ScalarType
from polymat.options import Options
from tests.tolerance import assert_close

M, N = pm.Parameter(pm.Int, "M"), pm.Parameter(pm.Int, "N")
i, k = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "k")
I, K = pm.Interval(pm.Int, 0, M - 1), pm.Interval(pm.Int, 0, N - 1)  # noqa: E741 (the interval of i)
TYPES = {np.float32: pm.Float, np.complex64: pm.ComplexFloat, np.complex128: pm.Complex}
OPTIONS = Options(blas="never", kernels=False, threads=2, parallel_threshold=0)
BLOCK = re.compile(r"\b[ik] \+= [48]")
SHAPES = [(0, 3), (3, 0), (1, 1), (7, 5), (8, 9), (9, 17), (23, 64)]


def reduced(dtype: ScalarType, op: pm.Op, *, across: bool) -> pm.Compiled:
    """One value for each row of A, or (across) for each column."""
    A, x = pm.Matrix(dtype, "A", [M, N]), pm.Vector(dtype, "x", [N])
    if across:
        A = pm.Matrix(dtype, "A", [N, M])
    y = pm.Reduction(([i], [I]), ([i, k], [I, K]), dtype, "y")
    element = A(k, i) if across else A(i, k)
    y.defn = [pm.Reduce(y(i), element * x(k) if op == pm.Op.Sum else element + x(k), op)]
    return pm.compile(y, inputs=[A, x], name="y", options=OPTIONS)


def _random(rng: np.random.Generator, shape: tuple[int, ...], dtype: type[np.generic]) -> npt.NDArray[Any]:
    turn = 0.5 + 0.5j if issubclass(dtype, np.complexfloating) else 1.0
    return (rng.random(shape) * turn).astype(dtype)


@pytest.mark.covering
@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
def test_sums(dtype: type[np.generic], across: bool) -> None:
    compiled = reduced(TYPES[dtype], pm.Op.Sum, across=across)
    assert BLOCK.search(compiled.source)
    rng = np.random.default_rng(0)
    for rows, columns in SHAPES:
        shape = (columns, rows) if across else (rows, columns)
        arrays = [_random(rng, extents, dtype) for extents in (shape, (columns,))]
        assert_close(
            compiled(*arrays), compiled.reference(*arrays), roundings=columns + 4, magnitude=2.0 * columns
        )


@pytest.mark.covering
@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("op", [pm.Op.Min, pm.Op.Max])
def test_extremes(op: pm.Op, across: bool) -> None:
    compiled = reduced(pm.Double, op, across=across)
    assert (LAST in compiled.source) is not across  # along rows in vectors, across them some rows at a time
    assert (BLOCK.search(compiled.source) is not None) is across
    rng = np.random.default_rng(0)
    for rows, columns in SHAPES:
        arrays = [rng.random((columns, rows) if across else (rows, columns)), rng.random(columns)]
        if arrays[0].size > 20:
            arrays[0][3, 2] = np.nan
        np.testing.assert_array_equal(compiled(*arrays), compiled.reference(*arrays))
