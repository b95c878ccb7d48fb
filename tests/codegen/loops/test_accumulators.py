"""Single sums are added up in rows of partial sums: at lengths around whole rows, and where they stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Abs, Double, Float, Options, Vector
from polymat.codegen.loops.accumulators import LEAST, ROW, ROW_BYTES
from tests.codegen.routines.test_calls import values
from tests.idiom.recognise import N, j, k, total, upto
from tests.tolerance import assert_close

TYPES = {"double": Double, "float": Float}
SUMS: dict[str, Callable[[Any, Any], Any]] = {
    "shifted": lambda x, y: (x(k) + 0.0) * y(k),
    "squares, scaled": lambda x, y: (x(k) - 0.25) * (x(k) - 0.25) * 3.0,
    "magnitudes": lambda x, y: Abs(x(k)) + y(k) * 0.5,
    "backwards": lambda x, y: x(N - 1 - k) * y(k),
}


def sum_of(name: str, kind: Any, **options: Any) -> Any:
    """A sum over N terms, compiled without a library."""
    x, y = Vector(kind, "x", [N]), Vector(kind, "y", [N])
    output = total("s", [], [(k, upto(N))], SUMS[name](x, y), dtype=kind)
    return pm.compile(output, name="sum", inputs=[x, y], options=Options(blas="never"), **options)


def lengths(kind: Any) -> list[int]:
    """Around a row, where rows begin to be taken, and around a tile."""
    row = ROW_BYTES // kind.size
    around = (row, LEAST * row, (LEAST + 1) * row, 4096, 8192)
    return [0, 1, 7, *(n + more for n in around for more in (-1, 0, 1)), 10007]


@pytest.mark.covering
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", SUMS)
def test_sums_of_any_length(name: str, kind: str) -> None:
    compiled = sum_of(name, TYPES[kind])
    assert (f"{ROW}[{ROW_BYTES // TYPES[kind].size}]" in compiled.source) != (name == "backwards")
    assert ("_pm_row_backwards" in compiled.source) == (name == "backwards")
    for length in lengths(TYPES[kind]):
        x, y = (values([length], TYPES[kind].dtype, length + seed) for seed in range(2))
        bound = 16.0 * float(np.sum(np.abs(x) + 1)) * float(np.max(np.abs(y), initial=1.0) + 1)
        assert_close(compiled(x, y), compiled.reference(x, y), roundings=length + 8, magnitude=bound)


def test_what_is_not_finite_stays_so() -> None:
    compiled = sum_of("shifted", Double)
    for place in (0, 31, 700, 1029):
        x, y = np.ones(1030), np.ones(1030)
        x[place] = np.inf
        assert compiled(x, y) == np.inf
        y[place] = 0.0
        assert np.isnan(compiled(x, y))


def test_the_same_bits_every_time() -> None:
    compiled = sum_of("shifted", Double)
    x, y = np.random.default_rng(5).standard_normal((2, 5003))
    assert len({float(compiled(x, y)) for _ in range(5)}) == 1


@pytest.mark.parametrize(
    "output",
    [
        total("s", [], [(k, upto(N))], Vector(pm.Complex, "z", [N])(k), dtype=pm.Complex),
        total("s", [], [(k, upto(N))], Vector(pm.Long, "n", [N])(k), dtype=pm.Long),
        total("s", [], [(k, upto(N))], pm.Exp(Vector(Double, "e", [N])(k))),
        total("s", [(j, upto(N))], [(k, upto(N))], pm.Matrix(Double, "A", [N, N])(k, j)),
    ],
    ids=["complex", "integers", "a function", "columns"],
)
def test_what_gains_nothing_is_left_alone(output: Any) -> None:
    compiled: Any = pm.compile(output, name="sum", options=Options(blas="never"))
    assert f"{ROW}[" not in compiled.source


@pytest.mark.parametrize("length", [100, 1021])
def test_rows_of_a_matrix(length: int) -> None:
    A = pm.Matrix(Double, "A", [N, length])
    output = total("s", [], [(j, upto(N)), (k, upto(length))], Abs(A(j, k)) + 0.5)
    compiled: Any = pm.compile(output, name="sum", options=Options(blas="never", threads=2))
    assert f"{ROW}[" in compiled.source  # rows that follow each other are one
    for rows in (0, 1, 5, 64):
        a = values([rows, length], Double.dtype, rows)
        bound = float(np.sum(np.abs(a) + 0.5))
        assert_close(compiled(a), compiled.reference(a), roundings=rows * length + 8, magnitude=bound)
