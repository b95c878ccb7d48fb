"""What `dump` prints of passes, and what `bisect` does on the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from polymat.cli import main
from polymat.passes import PASSES, position

PROGRAM = """
from polymat import *

N = Parameter(Int, "N")
A, B = Matrix(Double, "A", [N, N]), Matrix(Double, "B", [N, N])
y = (Exp(A @ B) + A).named("y")
"""
Shown = Callable[..., tuple[int, str, str]]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = tmp_path / "app.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return f"{path}:y"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Shown:
    def command(*arguments: str) -> tuple[int, str, str]:
        try:
            status = main(arguments)
        except SystemExit as ending:
            status = int(ending.code or 0)
        return (status, *capsys.readouterr())

    return command


def test_the_list_has_a_line_for_every_pass_and_needs_no_file(run: Shown) -> None:
    status, out, _ = run("dump", "--list")
    assert status == 0
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == [each.name for each in PASSES]
    assert all(each.why in line for each, line in zip(PASSES, lines, strict=False))
    assert lines[position("terms")].split()[:5] == ["terms", "*", "Pipeline", "->", "Pipeline"]
    assert lines[-1] == "*: compiled without it by Options(skip=(name,))"
    assert run("dump")[0] == 2


def test_what_a_pass_gives_and_changes(run: Shown, app: str) -> None:
    before, after = run("dump", app, "--after", "transforms"), run("dump", app, "--after", "inline")
    assert before[0] == after[0] == 0
    assert "    tmp_Exp(i, j) = Exp(tmp_A_B(i, j))\n" in before[1]
    assert "    y(i, j) = Exp(tmp_A_B(i, j)) + A(i, j)\n" in after[1]
    status, out, _ = run("dump", app, "--diff", "inline")
    assert status == 0
    assert out.startswith("--- before inline\n+++ after inline\n")
    assert "\n-    tmp_Exp(i, j) = Exp(tmp_A_B(i, j))\n" in out
    assert "\n+    y(i, j) = Exp(tmp_A_B(i, j)) + A(i, j)\n" in out
    assert run("dump", app, "--diff", "share")[1] == "share changes nothing\n"
    assert "+group 1: " in run("dump", app, "--diff", "tilesize")[1]


def test_one_thing_is_shown_at_a_time(run: Shown, app: str) -> None:
    status, _, err = run("dump", app, "--after", "inline", "--until", "graph")
    assert (status, "not allowed with argument" in err) == (2, True)
    assert run("dump", app, "--after", "inlining")[0] == 2


def test_bisect_says_which_pass_is_at_fault(
    run: Shown, app: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "inputs.npz")
    np.savez(file, A=np.ones((4, 4)), B=np.ones((4, 4)))
    status, out, _ = run("bisect", app, "--inputs", file)
    assert (status, out.endswith(" agrees with the interpreter\n")) == (0, True)
    with monkeypatch.context() as patch:
        patch.setattr("polymat.graph.inline.substitute", lambda reader, producer: reader)
        status, out, _ = run("bisect", app, "--inputs", file)
        assert status == 1
        assert out.startswith(
            "inline fails with InternalError: bug in polymat: after the pass inline: y reads tmp_Exp"
        )
    np.savez(file, A=np.ones((4, 4)), z=np.ones(4))
    status, _, err = run("bisect", app, "--inputs", file)
    assert (status, "unknown argument 'z'" in err) == (2, True)
    status, _, err = run("bisect", app, "--inputs", str(tmp_path / "none.npz"))
    assert (status, err.startswith("cannot read ")) == (2, True)
