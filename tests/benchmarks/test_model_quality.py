"""The comparison of the model's schemes with random ones: all compute the contraction, and all are valid."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import model_quality, schemes
from benchmarks.sections.contractions import CONTRACTIONS
from polymat.machine.known import GENERIC


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (model_quality, schemes):
        monkeypatch.setattr(module, "shapes", lambda machine: [(4, 2)])
    monkeypatch.setattr(model_quality, "FLOPS", 1e5)
    monkeypatch.setattr(model_quality, "calibrated_machine", lambda: GENERIC)


def test_schemes_are_run_and_checked_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "kept.json"
    asked = ["--schemes", "6", "--only", "abcd-aebf-dfce|abcd-ebad-ce", "--keep", str(kept)]
    asked += ["--libraries", str(tmp_path)]
    assert model_quality.main(asked) == 0
    first = json.loads(kept.read_text())
    assert [*first] == ["abcd-aebf-dfce", "abcd-ebad-ce"]
    for found in first.values():
        assert len(found["seconds"]) == len(found["texts"]) == 1 + model_quality.FINALISTS
        assert 0 < min(found["seconds"]) <= found["seconds"][0] < 1.0
    assert model_quality.main(asked) == 0
    assert json.loads(kept.read_text()) == first
    assert model_quality.main([*asked, "--again"]) == 0
    again = json.loads(kept.read_text())
    for name, found in again.items():
        assert found["drawn"] == first[name]["drawn"]
        assert found["seconds"] != first[name]["seconds"]
    assert capsys.readouterr().out.count("within 10% of the best: ") == 3


def test_a_scheme_that_computes_something_else_is_found() -> None:
    task = schemes.Problem("ab-ac-cb", dict.fromkeys("abc", 9), {x: np.ones((9, 9)) for x in "AB"})
    (model, _), result = schemes.chosen(task, GENERIC), np.empty((9, 9))
    with pytest.raises(SystemExit, match="something else"):
        model_quality.check(task, [model], [lambda: result.fill(8.0)], result)


def test_scaled_extents_are_divisible_as_the_whole_ones_are() -> None:
    for name, whole in CONTRACTIONS.items():
        for dim, size in schemes.extents_of(name, 1e7).items():
            assert size <= whole[dim]
            assert size == whole[dim] or (
                size % schemes.UNIT == 0 and size & -size <= whole[dim] & -whole[dim]
            )


def test_register_blocks_fit_the_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    for rows, vectors in schemes.shapes(GENERIC):
        assert rows * vectors + vectors + 1 <= GENERIC.vector_registers
