"""When eliminations are computed in blocks of steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from benchmarks.polybench import cholesky, lu
from polymat import Options
from polymat.plan.blockedsteps import EliminationPlan
from polymat.plan.schedule import Schedule
from tests.decide import eliminations
from tests.fixed import compiled_levels, report_text


def plans(outputs: Any, **asked: Any) -> list[type]:
    schedule = compiled_levels(outputs, **asked)["tilesize"]
    assert isinstance(schedule, Schedule)
    return [type(plan) for plan in schedule.plans]


def is_blocked(outputs: Any, **asked: Any) -> bool:
    return EliminationPlan in plans(outputs, **asked)


@pytest.mark.parametrize("describe", [lu.build, cholesky.build])
def test_published_eliminations_are_blocked(describe: Any) -> None:
    assert is_blocked([*describe().outputs])


@pytest.mark.parametrize(
    "options",
    [
        Options(steps=False),
        Options(reassociate=False),
        Options(kernels=False),
        Options(skip=("folds",)),
        Options.naive(),
        Options.paper(),
    ],
    ids=["steps", "reassociate", "kernels", "folds", "naive", "paper"],
)
def test_each_of_these_keeps_the_loops(options: Options) -> None:
    assert not is_blocked(eliminations.unscaled_lu(), options=options)


def test_small_ones_run_in_loops() -> None:
    assert not is_blocked(eliminations.unscaled_lu(), estimates={eliminations.N: 39})
    assert is_blocked(eliminations.unscaled_lu(), estimates={eliminations.N: 41})
    assert not is_blocked(eliminations.ldlt(), estimates={eliminations.N: 95})
    assert is_blocked(eliminations.ldlt(), estimates={eliminations.N: 97})


@pytest.mark.parametrize("name", eliminations.REFUSED)
def test_what_may_not_wait_runs_in_loops(name: str) -> None:
    assert not is_blocked(eliminations.REFUSED[name]())


def test_explain_says_it() -> None:
    text = report_text(eliminations.unscaled_lu())
    assert "W: blocked steps\n" in text
    assert (
        "blocks of 256 steps along k, in halves down to 8: these in loops, and what they add to later" in text
    )
    assert "as a product of W(k - 1, i, k - 1) / W(k - 1, k - 1, k - 1) and W(k - 1, k - 1, j)" in text
    assert "R: 1 group\n" in text  # there is nothing to be done for the output
    assert "W (float64) in the output R: 1 of N + 1 along k\n" in text
    assert " s as recurrence loops" in text


def test_a_recurrence_of_which_other_steps_are_read_is_not() -> None:
    N, i, j = eliminations.N, eliminations.i, eliminations.j
    W = eliminations.elimination()
    both = pm.Function(([i, j], [eliminations.upto(N)] * 2), pm.Double, "both")
    both.defn = [W(N, i, j) - W(i, i, j)]
    assert not is_blocked(both)
    assert not is_blocked(W)


def test_an_output_whose_loops_are_said_has_them() -> None:
    assert "_pm_nest_R(" not in pm.compile(eliminations.unscaled_lu()).source
    said = Options(scheme={"R": "[R(i), R(j), V(j)]"}, threads=1)
    compiled = pm.compile(eliminations.unscaled_lu(), options=said)
    assert "_pm_nest_R(" in compiled.source
    matrix = eliminations.arguments(50, 50, "float64")["square"]
    np.testing.assert_array_equal(compiled(matrix), pm.compile(eliminations.unscaled_lu())(matrix))
