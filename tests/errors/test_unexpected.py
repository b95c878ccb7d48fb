"""An exception that nobody meant leaves `compile` as an error of polymat's own that names the pass."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.decide.decider import Decider

N = pm.Parameter(pm.Int, "N")
x = pm.Vector(pm.Double, "x", [N])


def failing(error: BaseException) -> Any:
    def method(*_: object) -> Any:
        raise error

    return method


def test_a_pass_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Decider, "grouping", failing(ValueError("tuple.index(x): x not in tuple")))
    with pytest.raises(pm.InternalError) as caught:
        pm.compile(x + 1, name="plus")
    assert re.fullmatch(
        r".*test_unexpected.py:\d+: bug in polymat: the pass fusion of plus failed with ValueError: "
        r"tuple.index\(x\): x not in tuple \(polymat.steps.py:\d+, fuse\)\n"
        r".*\nhint: please report it with the program; Options.naive\(\) leaves most passes out",
        str(caught.value),
    )
    assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize("error", [MemoryError(), KeyboardInterrupt(), pm.ShapeError("one"), SystemExit()])
def test_what_is_passed_on(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    monkeypatch.setattr(Decider, "schedule", failing(error))
    with pytest.raises(type(error)) as caught:
        pm.compile(x + 1, name="plus")
    assert caught.value is error


def test_two_sums_into_different_elements_of_one_reduction() -> None:
    i, j, M = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j"), pm.Parameter(pm.Int, "M")
    A = pm.Matrix(pm.Double, "A", [N, M])
    rows, columns = pm.Interval(pm.Int, 0, N - 1), pm.Interval(pm.Int, 0, M - 1)
    data = np.random.default_rng(0).normal(size=(5, 7))
    for first, second in ((0, 1), (1, 0)):
        f = pm.Reduction(([i], [rows]), ([i, j], [rows, columns]), pm.Double, "f")
        sums = (pm.Reduce(f(i), A(i, j), pm.Op.Sum), pm.Reduce(f(N - 1 - i), A(i, j) * 2, pm.Op.Sum))
        f.defn = [sums[first], sums[second]]
        for options in (pm.Options(), pm.Options.naive(), pm.Options.paper(), pm.Options.polymage()):
            found = pm.compile(f, options=options)(data)
            np.testing.assert_allclose(found, data.sum(1) + 2 * data[::-1].sum(1), rtol=1e-13)
