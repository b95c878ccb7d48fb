"""Single sums in vectors: lengths around vectors and turns of the loop, and what is left to the compiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Float, Options
from polymat.codegen.c.rows import RowTypes
from polymat.codegen.loops.accumulators import ROW_BYTES
from polymat.codegen.loops.lanesums import LANES
from polymat.codegen.loops.singlesums import with_single_sums
from tests.codegen.routines.test_calls import values
from tests.idiom.recognise import N, j, k, total, upto
from tests.tolerance import assert_close

TYPES = {"double": Double, "float": Float}
OWN = Options(blas="never")
TERMS: dict[str, Callable[[Any, Any], Any]] = {
    "dot": lambda x, y: x(k) * y(k),
    "squares": lambda x, y: x(k) * x(k),
    "plain": lambda x, y: x(k),
    "cubes": lambda x, y: x(k) * y(k) * x(k),
    "magnitudes": lambda x, y: pm.Abs(x(k)),
    "a magnitude as a factor": lambda x, y: y(k) * pm.Abs(x(k)),
    "one backwards": lambda x, y: x(N - 1 - k) * y(k),
    "both backwards": lambda x, y: x(N - 1 - k) * pm.Abs(y(N - 1 - k)),
}
IS_VECTORS = f"{LANES}_0 +="


def sum_of(term: Callable[[Any, Any], Any], kind: Any, extent: Any = N, first: int = 0) -> Any:
    """A sum over the terms from one on, compiled without a library."""
    x, y = pm.Vector(kind, "x", [N]), pm.Vector(kind, "y", [N])
    output = total("s", [], [(k, pm.Interval(pm.Long, first, extent - 1))], term(x, y), dtype=kind)
    return pm.compile(output, name="sum", inputs=[x, y], options=OWN)


def lengths(kind: Any) -> list[int]:
    """Around parts of a vector, a vector, a turn of the loop, and tiles."""
    turn = ROW_BYTES // kind.size
    around = (turn // 4, turn // 2, 3 * turn // 4, turn, 2 * turn, 2048, 4096)
    return [0, 1, 2, 3, 5, *(n + more for n in around for more in (-1, 0, 1)), 10007]


@pytest.mark.covering
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("term", TERMS)
def test_sums_of_any_length(term: str, kind: str) -> None:
    compiled = sum_of(TERMS[term], TYPES[kind])
    assert IS_VECTORS in compiled.source
    for length in lengths(TYPES[kind]):
        x, y = (values([length], TYPES[kind].dtype, length + seed) for seed in range(2))
        bound = float(compiled.reference(np.abs(x), np.abs(y)))
        assert_close(compiled(x, y), compiled.reference(x, y), roundings=length + 8, magnitude=bound)


@pytest.mark.covering
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("term", ["dot", "one backwards", "both backwards"])
def test_what_is_behind_the_end_is_not_read(term: str, kind: str) -> None:
    """NaN right behind the terms, and before them."""
    compiled = sum_of(TERMS[term], TYPES[kind], N - 1, first=1)
    assert IS_VECTORS in compiled.source
    for length in range(3, 80):
        x, y = np.full((2, length), np.nan, TYPES[kind].dtype)
        x[1:-1], y[1:-1] = 2.0, 0.5
        assert compiled(x, y) == length - 2


def test_what_is_not_finite_stays_so() -> None:
    compiled = sum_of(TERMS["dot"], Double)
    for length in (5, 31, 70):
        for place in range(length):
            x, y = np.ones(length), np.ones(length)
            x[place] = np.inf
            assert compiled(x, y) == np.inf
            y[place] = 0.0
            assert np.isnan(compiled(x, y))


def test_magnitudes_of_what_is_not_finite() -> None:
    compiled = sum_of(TERMS["magnitudes"], Double)
    for length in (5, 31, 70):
        for place in range(length):
            x = np.full(length, -0.0)
            assert not np.signbit(compiled(x, x))
            x[place] = -np.inf
            assert compiled(x, x) == np.inf
            x[place] = np.nan
            assert np.isnan(compiled(x, x))


def test_the_same_bits_every_time() -> None:
    compiled = sum_of(TERMS["dot"], Double)
    x, y = np.random.default_rng(5).standard_normal((2, 5003))
    assert len({float(compiled(x, y)) for _ in range(5)}) == 1


@pytest.mark.parametrize("length", [2, 7, 8, 100])
def test_rows_of_a_known_length(length: int) -> None:
    """Less than a vector is straight code of the compiler's."""
    A = pm.Matrix(Double, "A", [N, length])
    output = total("s", [], [(j, upto(N)), (k, upto(length))], A(j, k))
    compiled: Any = pm.compile(output, name="sum", options=Options(blas="never", threads=2))
    for rows in (0, 1, 5, 64):
        a = values([rows, length], Double.dtype, rows)
        bound = float(np.sum(np.abs(a)))
        assert_close(compiled(a), compiled.reference(a), roundings=rows * length + 8, magnitude=bound)


@pytest.mark.parametrize(
    "term",
    [
        lambda x, y: (x(k) + 1.0) * y(k),
        lambda x, y: pm.Exp(x(k)),
        lambda x, y: pm.Max(x(k), y(k)),
    ],
    ids=["a sum as a factor", "a function", "an extreme"],
)
def test_other_terms_are_left_to_the_compiler(term: Any) -> None:
    """Of 0 beyond the end they would make something else."""
    assert IS_VECTORS not in sum_of(term, Double).source


def test_nothing_is_made_of_no_sums() -> None:
    assert with_single_sums((), RowTypes("f64", 8), {"A"}) is None
