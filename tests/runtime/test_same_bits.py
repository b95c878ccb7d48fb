"""The same call gives the same bits, however many threads there are for it at the moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Int, Matrix, Options, Parameter, Vector

M, N, K = (Parameter(Int, name) for name in "MNK")


def different(call: Callable[[], Any]) -> int:
    """How many results there are: threads asleep, awake, and at work for several callers."""
    seen = set()
    for count in range(120):
        if count % 10 == 0:
            time.sleep(0.002)
        seen.add(call().tobytes())
    with ThreadPoolExecutor(4) as callers:
        seen.update(callers.map(lambda _: call().tobytes(), range(100)))
    return len(seen)


def test_sums_are_added_up_in_the_same_order_whatever_the_team() -> None:
    """Threads that sleep, or are busy elsewhere, change who computes, not what is added to what."""
    A, x = Matrix(Double, "A", [N, N]), Vector(Double, "x", [N])
    twice = pm.compile((A.T @ (A @ x)).named("twice"), estimates={N: 400}, options=Options(threads=2))
    assert "_pm_team_pieces(_pm_threads" in twice.source
    rng = np.random.default_rng(0)
    arrays = rng.standard_normal((400, 400)), rng.standard_normal(400)
    assert different(lambda: twice(*arrays)) == 1


@pytest.mark.covering
@pytest.mark.parametrize("blas", ["auto", "never", "always"])
@pytest.mark.parametrize("shape", [(24, 1000, 300), (33, 129, 3000)])
def test_products_choose_the_order_of_their_sums_by_sizes_alone(
    blas: Any, shape: tuple[int, int, int]
) -> None:
    A, B = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N])
    product = pm.compile((A @ B).named("product"), options=Options(threads=2, blas=blas))
    rng = np.random.default_rng(0)
    m, k, n = shape
    arrays = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    assert different(lambda: product(*arrays)) == 1


@pytest.mark.parametrize("blas", ["never", "always"])
def test_triangles_do_too(blas: Any) -> None:
    L, B = Matrix(Double, "L", [M, M]), Matrix(Double, "B", [M, N])
    product = pm.compile(pm.trmm(L, B, 1.5).named("product"), options=Options(threads=2, blas=blas))
    rng = np.random.default_rng(0)
    arrays = rng.standard_normal((100, 100)), rng.standard_normal((100, 101))
    assert different(lambda: product(*arrays)) == 1


@pytest.mark.parametrize("every", [{}, {"every": 3}])
def test_maps_have_the_same_bits_on_any_number_of_threads_where_products_are_rounded(every: Any) -> None:
    """Where they may be joined with sums, a point at the end of a part, which has branches, may differ."""
    steps, x = Parameter(Int, "T"), pm.Image(Double, "x", [N])

    def step(u: Any) -> Any:
        return pm.where(u * u - 0.3 * u > 0.2, u * u - 0.3 * u, 0.3 * u + u * u * 0.5)

    options = Options(threads=2, parallel_threshold=0, cflags=("-ffp-contract=off",))
    run = pm.compile(pm.iterate(step, x, steps=steps, **every), inputs=[x], name="steps", options=options)
    for count in (5, 101, 5003):
        given, found = np.random.default_rng(count).uniform(0.1, 0.9, count), set()
        for threads in (1, 2):
            with pm.threads(threads):
                found.add(run(given, T=13).tobytes())
        assert len(found) == 1
