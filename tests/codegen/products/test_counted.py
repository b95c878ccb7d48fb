"""Products of programs are counted by the ways that they take: `explain(sizes=)` says which these are."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.lang.types import ScalarType
from polymat.product.ways import Way

COUNTED = pm.Options(blas="never", cflags=("-O1", "-D_PM_TRACE=0"))
M, K, N = (pm.Parameter(pm.Int, name) for name in "MKN")
SHAPES = (
    *((n, n, n) for n in (3, 30, 300)),
    *(
        (300, 4, 300),
        (300, 300, 4),
        (301, 7, 5),
        (1, 300, 3000),
        (3000, 300, 1),
        (2000, 300, 3),
        (48, 600, 4004),
    ),
    *((700, 900, 40), (20, 2000, 700)),
)


def taken(compiled: Any) -> dict[str, int]:
    """How many products took each way so far."""
    ways = (ctypes.c_int * len(Way)).in_dll(ctypes.CDLL(compiled.path), "_pm_ways_taken")
    return {way.name.lower(): count for way, count in zip(Way, ways, strict=True) if count}


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", [pm.Float, pm.Double], ids=str)
@pytest.mark.parametrize("lies", ["AB", "ATB", "ABT"])
def test_each_thread_takes_the_way_that_is_told(lies: str, dtype: ScalarType, threads: int) -> None:
    A, B = pm.Matrix(dtype, "A", [M, K]), pm.Matrix(dtype, "B", [K, N])
    left = pm.Matrix(dtype, "A", [K, M]).T if "AT" in lies else A
    right = pm.Matrix(dtype, "B", [N, K]).T if "BT" in lies else B
    compiled: Any = pm.compile((left @ right).named("product"), options=COUNTED)
    before: Counter[str] = Counter(taken(compiled))
    for m, k, n in SHAPES:
        a, b = np.ones((k, m) if "AT" in lies else (m, k)), np.ones((n, k) if "BT" in lies else (k, n))
        with pm.threads(threads):
            told = compiled.explain(sizes={M: m, K: k, N: n}).products
            result = compiled(a.astype(dtype.dtype), b.astype(dtype.dtype))
        assert np.array_equal(result, np.full((m, n), k))
        after = Counter(taken(compiled))
        expected = Counter({each.way: 0 for each in told})
        for each in told:
            expected[each.way] += each.threads
        assert after - before == expected, (m, k, n)
        before = after


READERS: dict[str, Callable[..., Any]] = {
    "added": lambda A, B, C: pm.gemm(A, B, C, 2.0, 1.0),
    "in registers": lambda A, B, C: pm.Max(A @ B, 1.0),
    "on parts": lambda A, B, C: pm.Exp(A @ B),
}


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("reader", READERS)
def test_the_way_is_told_where_results_have_readers(reader: str, threads: int) -> None:
    A, B, C = (pm.Matrix(pm.Double, x, dims) for x, dims in (("A", [M, K]), ("B", [K, N]), ("C", [M, N])))
    compiled: Any = pm.compile(READERS[reader](A, B, C).named("result"), options=COUNTED)
    before: Counter[str] = Counter(taken(compiled))
    for m, k, n in SHAPES:
        arrays = {"A": np.zeros((m, k)), "B": np.zeros((k, n)), "C": np.zeros((m, n))}
        with pm.threads(threads):
            told = compiled.explain(sizes={M: m, K: k, N: n}).products
            compiled(**{array.name: arrays[array.name] for array in compiled.signature.inputs})
        after = Counter(taken(compiled))
        assert after - before == sum((Counter({each.way: each.threads}) for each in told), Counter()), (
            m,
            k,
            n,
        )
        before = after


def test_other_programs_count_nothing() -> None:
    A, B = pm.Matrix(pm.Double, "A", [M, K]), pm.Matrix(pm.Double, "B", [K, N])
    compiled: Any = pm.compile((A @ B).named("product"), options=pm.Options(blas="never", cflags=("-O1",)))
    with pytest.raises(ValueError, match="_pm_ways_taken"):
        taken(compiled)
