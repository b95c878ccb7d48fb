"""Two checkouts beside each other: here the same one twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.compare import HERE, THERE, lines, main, peers
from benchmarks.harness import ROOT
from benchmarks.sections import SECTIONS


def test_both_are_called_alike(tmp_path: Path) -> None:
    here, there = peers(SECTIONS["products"], 2, tmp_path)
    assert (here.name, there.name) == (HERE, THERE)
    assert here.prepare == there.prepare
    assert here.environment == there.environment
    assert there.root == str(tmp_path)
    assert there.python == str(tmp_path / ".venv" / "bin" / "python")


def test_the_table_names_what_is_slower() -> None:
    *_, last = lines([("a", 1e-3, 1.0), ("b", 2e-6, 0.9), ("c", 2.0, 0.97)])
    assert last == "geometric mean 0.956; slower: b 0.90"


def test_a_checkout_without_an_environment_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([str(tmp_path)])
    assert "is not set up" in capsys.readouterr().err


def test_the_same_checkout_twice(capsys: pytest.CaptureFixture[str]) -> None:
    if not (ROOT / ".venv" / "bin" / "python").exists():
        pytest.skip("no virtual environment in this checkout")
    assert main([str(ROOT), "products", "--quick", "--threads", "1", "--only", "gemm MINI"]) == 0
    assert "## products, 1 threads" in capsys.readouterr().out
