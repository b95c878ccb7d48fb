"""The table and the summary of an audit, of figures that are given."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from polymat.audit.audited import Audited, TimedPlan, summary_line, table_lines, write_json

FAST, SLOW = TimedPlan("loops", 1e-3, 1.2e-3), TimedPlan("calls of gemm", 1.5e-3, 1e-3)
WRONG = TimedPlan("tiles", 1e-3, math.inf, "y(0) is 1.0, not 2.0 (1 of 9 elements differ)")


def test_the_loss_is_beside_the_best_way_that_is_right() -> None:
    assert Audited(("y",), FAST, (SLOW,)).loss == pytest.approx(1.2)
    assert Audited(("y",), SLOW, (FAST,)).loss == 1.0
    assert Audited(("y",), FAST, ()).loss == 1.0
    assert Audited(("y",), FAST, (TimedPlan("tiles", 1.0, 1e-9, "it fails"),)).loss == 1.0


def test_a_prediction_is_off_either_way() -> None:
    assert TimedPlan("loops", 1.0, 2.0).off == TimedPlan("loops", 2.0, 1.0).off == 2.0
    assert TimedPlan("loops", 0.0, 1.0).off == math.inf


def test_the_table_has_a_line_for_each_way() -> None:
    lines = [*table_lines([Audited(("t", "y"), FAST, (SLOW, WRONG)), Audited(("z",), SLOW, ())])]
    assert lines == [
        " predicted   measured  off by   loss  group",
        "      1 ms     1.2 ms    1.20   1.20  t+y: loops",
        "    1.5 ms       1 ms    1.50           or calls of gemm",
        "WRONG t+y as tiles: y(0) is 1.0, not 2.0 (1 of 9 elements differ)",
        "    1.5 ms       1 ms    1.50         z: calls of gemm",
    ]


def test_long_names_are_cut() -> None:
    (_, line) = table_lines([Audited(tuple(f"stage{k}" for k in range(30)), FAST, ())])
    assert line.endswith("+stag...: loops")


def test_the_summary_counts_choices_and_predictions() -> None:
    good = Audited(("y",), SLOW, (FAST,))
    bad = Audited(("z",), TimedPlan("loops", 1.0, 3.0), (TimedPlan("tiles", 1.5, 2.0),))
    alone = Audited(("x",), TimedPlan("loops", 1.0, 1.0), ())
    text = "within 10 %: 1 of 2; worst loss: 1.50; predicted within 1.5: 2 of 3"
    assert summary_line([good, bad, alone]) == text
    assert summary_line([good, Audited(("y",), FAST, (WRONG,))]).startswith("WRONG: 1; within 10 %: 1 of 1; ")
    assert summary_line([]) == "within 10 %: 0 of 0; worst loss: 1.00; predicted within 1.5: 0 of 0"


def test_the_figures_are_written_for_programs(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    write_json(str(path), [Audited(("t", "y"), FAST, (SLOW,))])
    (found,) = json.loads(path.read_text())
    assert found["stages"] == ["t", "y"]
    assert found["choice"] == {"summary": "loops", "predicted": 1e-3, "measured": 1.2e-3, "wrong": ""}
    assert [other["summary"] for other in found["others"]] == ["calls of gemm"]
    assert found["loss"] == pytest.approx(1.2)
