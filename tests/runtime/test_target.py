"""What the command line takes from a file, where it prints, and which topics it logs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from polymat.cli import LEVELS
from polymat.runtime.logs import TOPICS, configure_logging
from polymat.runtime.target import load_target

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
from polymat import *

N = Parameter(Int, "N")
x = Vector(Double, "x", [N])
twice = (x + x).named("twice")
compiled = compile(twice, name="ready")
"""


def test_the_only_compiled_one_is_meant(tmp_path: Path) -> None:
    path = tmp_path / "app.py"
    path.write_text(PROGRAM)
    target = load_target(str(path))
    assert target.compiled is not None
    assert target.compiled.signature.name == "ready"


def test_a_closed_output_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "app.py"
    path.write_text(PROGRAM)
    command = ["sh", "-c", 'exec "$0" -m polymat explain "$1" >&-', sys.executable, str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_unknown_topics(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("POLYMAT_LOG", "fusoin")
    configure_logging()
    topics = "all, built, graph, fusion, tilesize, idiom, codegen, source, runtime, cache, calibrate"
    assert caplog.messages == [f"POLYMAT_LOG: no topic 'fusoin'; the topics are {topics}"]
    assert set(LEVELS) <= set(TOPICS)
