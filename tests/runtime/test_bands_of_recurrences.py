"""Threads are woken up once for all parallel loops of a recurrence, so all of them are weighed together."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Double, Function, Int, Interval, Parameter, Variable, Vector
from tests.fixed import NARROW
from tests.hosts import CompileFor

K, N = Parameter(Int, "K"), Parameter(Int, "N")
PAYS = re.compile(r"_pm_team_paying\(_pm_threads, ([\d.]+) \* _pm_extent\(N\), ([\d.]+), ([\d.]+)\s*/")


@pytest.fixture
def plate(compile_for: CompileFor) -> pm.Compiled:
    """Steps over the whole of a line, all of which are kept."""
    compile_for(machine=NARROW)
    t, i = Variable(Int, "t"), Variable(Int, "i")
    start = Vector(Double, "start", [N])
    warm = Function(([t, i], [Interval(Int, 0, K), Interval(Int, 0, N - 1)]), Double, "warm", default=0.0)
    around = warm(t - 1, i - 1) - 2.0 * warm(t - 1, i) + warm(t - 1, i + 1)
    inside = Condition(t, ">=", 1) & Condition(i, ">=", 1) & Condition(i, "<=", N - 2)
    warm.defn = [Case(Condition(t, "==", 0), start(i)), Case(inside, warm(t - 1, i) + 0.1 * around)]
    return pm.compile(warm, inputs=[start], name="bands", options=pm.Options(threads=2))


def threads_made(run: pm.Compiled, start: np.ndarray[tuple[int], np.dtype[np.float64]], steps: int) -> int:
    """How many threads a first call makes, in a thread of Python that had none; others may end meanwhile."""

    def once() -> int:
        before = set(Path("/proc/self/task").iterdir())
        run(start, K=steps)
        return len(set(Path("/proc/self/task").iterdir()) - before)

    with ThreadPoolExecutor(1) as fresh:
        return fresh.submit(once).result()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads cannot be counted here")
def test_a_team_is_woken_up_for_all_bands_where_one_is_not_worth_it(plate: pm.Compiled) -> None:
    found = PAYS.search(plate.source)
    assert found is not None
    point, awake, asleep = map(float, found.groups())
    columns = int(2.5 * awake / point)  # worth threads that are awake, but none that have to be woken up
    assert columns * point < asleep
    start = np.random.default_rng(3).random(columns)
    enough = int(2 * asleep / (columns * point)) + 1
    assert threads_made(plate, start, 0) == 0
    assert threads_made(plate, start, enough) == 1


def test_what_teams_compute_is_what_one_thread_computes(plate: pm.Compiled) -> None:
    rng = np.random.default_rng(4)
    for columns, steps in ((0, 3), (1, 2), (2, 5), (70_001, 9)):
        start = rng.random(columns)
        expected = np.zeros((steps + 1, columns))
        expected[0] = start
        for step in range(1, steps + 1):
            last = expected[step - 1]
            around = last[:-2] - 2.0 * last[1:-1] + last[2:]
            expected[step, 1:-1] = last[1:-1] + 0.1 * around
        np.testing.assert_allclose(plate(start, K=steps), expected, rtol=1e-12, atol=0)
