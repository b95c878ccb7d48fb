"""Substitution in blocks of steps: rows that each step has for itself, several at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Double, Float, Function, Int, Interval, Op, Options, Reduce, Reduction
from polymat.driver import levels, request_for
from polymat.graph.build import build
from polymat.graph.interpret import interpret
from polymat.graph.interpretsteps import interpret_stepwise
from polymat.graph.sections import in_sections
from polymat.graph.stepwise import Stepwise
from polymat.machine.known import HASWELL
from polymat.machine.model import Machine
from polymat.poly.membership import members
from polymat.rewrite import sumblocks
from polymat.rewrite.sumblocks import SumBlocks
from tests.machine.test_model import MEASURED

N = pm.Parameter(Int, "N")
i, k = (pm.Variable(Int, name) for name in "ik")
ROWS = Interval(Int, 0, N - 1)
SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 17, 31, 67)


def substitution(terms: Interval, there: Any, dtype: Any = Double, squared: bool = False) -> Any:
    """x of L x = b, where the sum of a row runs over some terms."""
    L, b = pm.Matrix(dtype, "L", [N, N]), pm.Vector(dtype, "b", [N])
    total = Reduction(([i], [ROWS]), ([i, k], [ROWS, terms]), dtype, "total")
    x = Function(([i], [ROWS]), dtype, "x")
    each = L(i, k) * L(i, k) * x(k) if squared else L(i, k) * x(k)
    total.defn = [Case(there, Reduce(total(i), each, Op.Sum))]
    x.defn = [(b(i) - total(i)) / L(i, i)]
    return x


ALWAYS = Condition(k, ">=", 0)
BEFORE, BEHIND = Interval(Int, 0, i - 1), Interval(Int, i + 1, N - 1)
PROGRAMS: dict[str, Callable[[], Any]] = {
    "down": lambda: substitution(BEFORE, ALWAYS),
    "up": lambda: substitution(BEHIND, ALWAYS),
    "far": lambda: substitution(Interval(Int, 0, i - 3), ALWAYS),
    "single": lambda: substitution(BEFORE, ALWAYS, Float),
    "squared": lambda: substitution(BEFORE, ALWAYS, squared=True),
    "banded": lambda: substitution(BEFORE, Condition(k, ">=", i - 40)),
}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of four steps, whatever they take."""
    monkeypatch.setattr(sumblocks, "SIDE", 4)
    monkeypatch.setattr(sumblocks, "ROWS_CLEARLY", 1e9)
    monkeypatch.setattr(sumblocks, "FEWEST", 1)


def given(size: int, dtype: Any = np.float64) -> dict[str, Any]:
    rng = np.random.default_rng(size)
    matrix = (rng.random((size, size)) - 0.5) / (size + 1) + np.eye(size)
    return {"L": matrix.astype(dtype), "b": rng.random(size).astype(dtype)}


def is_blocked(stepwise: Any) -> bool:
    return any(section.changed for section in stepwise.sections)


def tolerance(name: str) -> dict[str, Any]:
    return {"rtol": 2e-5, "atol": 1e-6} if name == "single" else {"rtol": 1e-13, "atol": 1e-14}


@pytest.mark.parametrize("name", PROGRAMS)
def test_blocks_compute_the_same(name: str, small: None) -> None:
    pipeline = build([PROGRAMS[name]()])
    stepwise = in_sections(pipeline)
    assert isinstance(stepwise, Stepwise)
    stepwise = SumBlocks(HASWELL, {}, reassociates=True).decided(stepwise)
    assert is_blocked(stepwise)
    for size in SIZES:
        arrays = given(size, np.float32 if name == "single" else np.float64)
        expected = interpret(pipeline, arrays, {"N": size})["x"]
        found = interpret_stepwise(stepwise, arrays, {"N": size}, members)["x"]
        np.testing.assert_allclose(found, expected, err_msg=f"{size}", **tolerance(name))


@pytest.mark.parametrize(("name", "threads"), [*((name, 1) for name in PROGRAMS), ("down", 2)])
def test_compiled(name: str, threads: int, small: None) -> None:
    compiled = pm.compile(PROGRAMS[name](), name="substitution", options=Options(threads=threads))
    told = str(compiled.explain())
    assert "total in blocks of 4 steps" in told
    assert "takes all at once: " in told
    for size in (*SIZES, 130):
        arrays = given(size, np.float32 if name == "single" else np.float64)
        expected = compiled.reference(**arrays)
        np.testing.assert_allclose(compiled(**arrays), expected, err_msg=f"{size}", **tolerance(name))


def measured(rows_rate: float) -> Machine:
    """A machine whose memory gives one row at 15 GB/s, and several at a time at some rate."""
    return HASWELL.with_calibration(replace(MEASURED, rows_rate=rows_rate))


def decided(machine: Machine, size: int) -> Any:
    request = request_for(PROGRAMS["down"](), estimates={N: size}, options=Options(threads=1))
    found = levels(replace(request, machine=machine))
    return next(level for name, level in found if name == "sums")


def test_only_rows_that_memory_gives_quicker_together() -> None:
    """Blocks where the matrix is in memory, several of whose rows were measured to come quicker than one."""
    one = MEASURED.read[3].one
    assert is_blocked(decided(measured(1.5 * one), 4000))
    assert not is_blocked(decided(measured(1.5 * one), 300))
    assert not is_blocked(decided(measured(1.02 * one), 4000))
    assert not is_blocked(decided(measured(0.0), 4000))
    assert not is_blocked(decided(HASWELL, 4000))


def test_fewer_rows_than_memory_holds_run_one_by_one() -> None:
    """A call with a matrix that the last level holds takes the steps as they are."""
    few, many = (section.steps for section in decided(measured(3e10), 4000).sections[-2:])
    assert few.below == many.least
    assert 8 * few.below**2 / 2 >= 0.9 * HASWELL.l3_bytes


def test_rows_that_steps_share_are_no_rows_of_their_own(small: None) -> None:
    """A band by its diagonals, which all steps read from one vector, stays as it is."""
    band, b = pm.Vector(Double, "band", [N]), pm.Vector(Double, "b", [N])
    total = Reduction(([i], [ROWS]), ([i, k], [ROWS, BEFORE]), Double, "total")
    x = Function(([i], [ROWS]), Double, "x")
    total.defn = [Reduce(total(i), band(i - k - 1) * x(k), Op.Sum)]
    x.defn = [b(i) - total(i)]
    stepwise = in_sections(build([x]))
    assert isinstance(stepwise, Stepwise)
    assert not is_blocked(SumBlocks(HASWELL, {}, reassociates=True).decided(stepwise))
