"""What the command line takes from a file, where it prints, and which topics it logs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from polymat.dump import LEVELS
from polymat.runtime.logs import TOPICS, configure_logging
from polymat.runtime.target import load_target

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
from polymat import *
from polymat import compile

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
    topics = (
        "all, built, graph, fusion, tilesize, idiom, codegen, source, runtime, cache, libraries, calibrate"
    )
    topics += ", compile, audit, tune"
    assert caplog.messages == [f"POLYMAT_LOG: no topic 'fusoin'; the topics are {topics}"]
    assert set(LEVELS) <= set(TOPICS)


def test_every_logger_has_a_topic() -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "polymat").rglob("*.py")]
    named = {name for text in texts for name in re.findall(r'getLogger\("polymat\.(\w+)"\)', text)}
    assert {"cache", "libraries", "runtime"} <= named <= set(TOPICS)


def test_what_is_decided_is_told_while_compiling() -> None:
    """In a program as on the command line; what is no topic is told once."""
    program = (
        "import polymat as pm\n"
        "N = pm.Parameter(pm.Int, 'N')\n"
        "A = pm.Matrix(pm.Double, 'A', [N, N])\n"
        "for name in ('one', 'two'):\n"
        "    pm.compile(A @ A, name=name)\n"
    )
    environment = {**os.environ, "POLYMAT_LOG": "fusion,fusoin"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert "polymat.fusion: one: groups " in done.stderr
    assert done.stderr.count("polymat.fusion: two: groups ") == 1
    assert done.stderr.count("POLYMAT_LOG: no topic 'fusoin'") == 1
    assert "polymat.tilesize" not in done.stderr
