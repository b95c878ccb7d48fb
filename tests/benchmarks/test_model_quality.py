"""The comparison of the model's schemes with random ones: all compute the contraction, and all are valid."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import model_quality
from polymat.machine.known import GENERIC


@pytest.mark.parametrize("name", ["abcd-aebf-dfce", "abcd-ebad-ce"])
def test_schemes_are_run_and_checked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_quality, "FLOPS", 1e5)
    monkeypatch.setattr(model_quality, "shapes", lambda machine: [(4, 2)])
    verdict = model_quality.judge(model_quality.problem(name), GENERIC, 6, 1)
    assert verdict.ratio >= 1.0
    assert verdict.best_seconds <= verdict.model_seconds < 1.0


def test_a_scheme_that_computes_something_else_is_found() -> None:
    task = model_quality.Problem("ab-ac-cb", dict.fromkeys("abc", 9), {x: np.ones((9, 9)) for x in "AB"})
    model, result = model_quality.chosen(task, GENERIC), np.empty((9, 9))
    with pytest.raises(SystemExit, match="something else"):
        model_quality._check(task, [model], [lambda: result.fill(8.0)], result)


def test_register_blocks_fit_the_registers() -> None:
    for rows, vectors in model_quality.shapes(GENERIC):
        assert rows * vectors + vectors + 1 <= GENERIC.vector_registers
