"""Random functions over time of which few steps are kept, against the interpreter."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.differential.random_steps import differences, random_steps
from tests.differential.under_sanitizers import clean_output

PROGRAMS = 8


@pytest.mark.drawn(5)
@pytest.mark.parametrize("number", range(PROGRAMS))
def test_results_are_those_of_the_interpreter(number: int, seed: int) -> None:
    steps = random_steps(1000 * seed + number)
    assert differences(steps) == []


@pytest.mark.turns(2)
def test_nothing_is_read_that_was_not_written_before(seed: int) -> None:
    """Storage that is full of other numbers, each array in a block of its own, with sanitizers."""
    printed = clean_output(
        [sys.executable, "-m", "tests.differential.poisoned_steps", "--seed", str(seed), "--count", "3"]
    )
    assert "3 programs" in printed


LONG = """
import resource
import numpy as np
import polymat as pm
from polymat import Case, Condition, Int, Interval

T, N = pm.Parameter(Int, "T"), pm.Parameter(Int, "N")
t, i = pm.Variable(Int, "t"), pm.Variable(Int, "i")
A = pm.Vector(pm.Double, "A", [N])
u = pm.Function(([t, i], [Interval(Int, 0, T), Interval(Int, 0, N - 1)]), pm.Double, "u")
inside = Condition(t, ">=", 1) & Condition(i, ">=", 1) & Condition(i, "<=", N - 2)
edge = Condition(t, "==", 0) | Condition(i, "<", 1) | Condition(i, ">", N - 2)
u.defn = [Case(edge, A(i)), Case(inside, 0.5 * u(t - 1, i) + 0.25 * (u(t - 1, i - 1) + u(t - 1, i + 1)))]
last = pm.Function(([i], [Interval(Int, 0, N - 1)]), pm.Double, "last")
last.defn = [u(T, i)]
compiled = pm.compile(last, inputs=[A])
values = np.random.default_rng(0).random(1000)
compiled(values, T=10)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
compiled(values, T=20_000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_many_steps_take_the_memory_of_two() -> None:
    """All of them would be 160 MB; the high-water mark of the process may rise by one."""
    done = subprocess.run(
        [sys.executable, "-c", LONG], capture_output=True, text=True, check=True, timeout=300
    )
    assert int(done.stdout) < 1000  # kB
