"""Random tables whose elements sum up, or compare, what two earlier ones give: in blocks, and as defined."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Double, Float, Function, Int, Interval, Op, Options, Reduce, Reduction
from polymat.graph.build import build
from polymat.graph.interpret import interpret
from polymat.graph.interpretsteps import interpret_stepwise
from polymat.graph.sections import in_sections
from polymat.graph.stepwise import Stepwise
from polymat.machine.known import HASWELL
from polymat.poly.membership import members
from polymat.rewrite import sumblocks
from polymat.rewrite.sumblocks import SumBlocks

SEED = int(os.environ.get("POLYMAT_SEED", "0"))
N = pm.Parameter(Int, "N")
i, j, k = (pm.Variable(Int, name) for name in "ijk")
ALL = Interval(Int, 0, N - 1)
W = pm.Matrix(Double, "W", [N, N])


def pairs(rng: np.random.Generator, dtype: Any) -> Any:
    """A table over intervals: an element combines two that it is cut into, at distances drawn at random."""
    left, right = (int(each) for each in rng.integers(-1, 2, 2))
    low, high = max(0, 1 - right) + int(rng.integers(0, 3)), max(0, left + 1) + int(rng.integers(0, 3))
    op, weighted = [Op.Sum, Op.Min, Op.Max][rng.integers(3)], bool(rng.integers(2))
    spans = [ALL, Interval(Int, i, N - 1)]
    best = Reduction(([i, j], spans), ([i, j, k], [*spans, Interval(Int, i + low, j - high)]), dtype, "best")
    table = Function(([i, j], spans), dtype, "table", default=0.5)
    one, other = table(i, k + left), table(k + right, j)
    term = 0.01 * one * other if op is Op.Sum else one + other
    if weighted:
        term = term + W(i, k) * W(k, j)
    there = Condition(k + left, ">=", i) & Condition(k + right, "<=", j) & Condition(k + left, "<", N)
    best.defn = [Case(there & Condition(k + right, ">=", 0), Reduce(best(i, j), term, op))]
    apart = int(rng.integers(1, 4))
    near = 0.25 * (W(i, j) + (table(i, j - 1) if rng.integers(2) else table(i + 1, j)))
    value = near + (best(i, j) if op is Op.Sum else pm.Min(pm.Max(best(i, j), -9.0), 9.0))
    table.defn = [Case(Condition(j, ">=", i + apart), value)]
    return table


def rows(rng: np.random.Generator, dtype: Any) -> Any:
    """The factor of an elimination: an element sums up products along its row and an earlier one."""
    gap, back = int(rng.integers(0, 3)), int(rng.integers(0, 3))
    op = [Op.Sum, Op.Min, Op.Max][rng.integers(3)]
    total = Reduction(([i, j], [ALL, ALL]), ([i, j, k], [ALL, ALL, ALL]), dtype, "total")
    table = Function(([i, j], [ALL, ALL]), dtype, "table", default=0.5)
    one, other = table(i, k), table(j - back, k)
    there = Condition(k, "<", j - gap - back) & Condition(i, ">=", j) & Condition(j, ">=", back)
    total.defn = [Case(there, Reduce(total(i, j), 0.01 * one * other if op is Op.Sum else one + other, op))]
    value = total(i, j) if op is Op.Sum else pm.Min(pm.Max(total(i, j), -9.0), 9.0)
    table.defn = [Case(Condition(i, ">=", j), W(i, j) - 0.5 * value)]
    return table


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few steps, whatever they take."""
    side = 1 + SEED % 5
    monkeypatch.setattr(sumblocks, "STEPS", side)
    monkeypatch.setattr(sumblocks, "SIDE", side)
    monkeypatch.setattr(sumblocks, "CLEARLY", 1e9)
    monkeypatch.setattr(sumblocks, "FEWEST", 1)


def drawn(number: int) -> tuple[Any, np.random.Generator]:
    rng = np.random.default_rng([SEED, number])
    family = [pairs, rows][number % 2]
    return family(rng, [Double, Float][rng.integers(2)]), rng


def blocks_of(output: Any) -> tuple[Any, Any]:
    pipeline = build([output])
    stepwise = in_sections(pipeline)
    assert isinstance(stepwise, Stepwise)
    return pipeline, SumBlocks(HASWELL, {}, reassociates=True).decided(stepwise)


@pytest.mark.drawn(12)
@pytest.mark.parametrize("number", range(24))
def test_interpreted(number: int, small: None) -> None:
    output, rng = drawn(number)
    pipeline, stepwise = blocks_of(output)
    for size in (0, 1, 2, 5, 7, 11, 13):
        given = {"W": rng.random((size, size)) - 0.5}
        expected = interpret(pipeline, given, {"N": size})["table"]
        found = interpret_stepwise(stepwise, given, {"N": size}, members)["table"]
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-5, equal_nan=True)


def test_most_of_them_have_blocks(small: None) -> None:
    found = [blocks_of(drawn(number)[0])[1] for number in range(24)]
    assert sum(any(section.changed for section in each.sections) for each in found) >= 12


@pytest.mark.drawn(3)
@pytest.mark.parametrize("number", range(6))
def test_compiled(number: int, small: None) -> None:
    output, rng = drawn(number)
    compiled = pm.compile(output, name="drawn", options=Options(threads=1 + number % 2))
    for size in (0, 1, 2, 5, 7, 11, 13, 30):
        given = rng.random((size, size)) - 0.5
        expected = compiled.reference(given)
        np.testing.assert_allclose(compiled(given), expected, rtol=2e-5, atol=1e-5, equal_nan=True)
