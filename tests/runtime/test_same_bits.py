"""The same call gives the same bits, however many threads there are for it at the moment."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import polymat as pm
from polymat import Double, Int, Matrix, Options, Parameter, Vector


def test_sums_are_added_up_in_the_same_order_whatever_the_team() -> None:
    """Threads that sleep, or are busy elsewhere, change who computes, not what is added to what."""
    N = Parameter(Int, "N")
    A, x = Matrix(Double, "A", [N, N]), Vector(Double, "x", [N])
    twice = pm.compile((A.T @ (A @ x)).named("twice"), estimates={N: 400}, options=Options(threads=2))
    assert "_pm_team_pieces(_pm_threads" in twice.source
    rng = np.random.default_rng(0)
    arrays = rng.standard_normal((400, 400)), rng.standard_normal(400)
    seen = set()
    for call in range(200):
        if call % 10 == 0:
            time.sleep(0.002)
        seen.add(twice(*arrays).tobytes())
    with ThreadPoolExecutor(4) as callers:
        seen.update(callers.map(lambda _: twice(*arrays).tobytes(), range(100)))
    assert len(seen) == 1
