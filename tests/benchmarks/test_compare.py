"""Two checkouts beside each other: here the same one twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.compare import HERE, THERE, Both, lines, main, peers
from benchmarks.harness import ROOT, Timing
from benchmarks.sections import SECTIONS


def test_both_are_called_alike(tmp_path: Path) -> None:
    here, there = peers(SECTIONS["products"], 2, tmp_path)
    assert (here.name, there.name) == (HERE, THERE)
    assert here.prepare == there.prepare
    assert here.environment == there.environment
    assert there.root == str(tmp_path)
    assert there.python == str(tmp_path / ".venv" / "bin" / "python")


def test_the_table_names_what_is_slower() -> None:
    rows = [Both("a", 1e-3, 1.0, 0.9), Both("b", 2e-6, 0.9, 0.94), Both("c", 2.0, 0.9, 1.0)]
    *_, last = lines(rows)
    assert last == "geometric means 0.932 and 0.946; slower: b 0.90"


def test_the_least_times_are_those_of_all_rounds() -> None:
    both = Both.of("a", Timing(HERE, (2.0, 1.0, 4.0)), Timing(THERE, (3.0, 3.0, 2.0)))
    assert (both.seconds, both.times, both.least) == (2.0, 1.5, 2.0)


def test_a_checkout_without_an_environment_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([str(tmp_path)])
    assert "is not set up" in capsys.readouterr().err


@pytest.mark.turns(2)
def test_the_same_checkout_twice(capsys: pytest.CaptureFixture[str]) -> None:
    if not (ROOT / ".venv" / "bin" / "python").exists():
        pytest.skip("no virtual environment in this checkout")
    assert main([str(ROOT), "products", "--quick", "--threads", "1", "--only", "gemm MINI"]) == 0
    out = capsys.readouterr().out
    assert "## products, 1 threads" in out
    assert "| gemm MINI |" in out
