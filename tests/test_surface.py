"""What users call: errors with their own lines alone, and functions that look like functions."""

from __future__ import annotations

import inspect
import os
import pickle
import pydoc
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import polymat as pm
from polymat.errors import InternalError, PolymatError
from polymat.surface import shorten, surfaced

A, B = pm.Matrix(pm.Double, "A", [3, 4]), pm.Matrix(pm.Double, "B", [5, 2])
i = pm.Variable(pm.Int, "i")


def undefined() -> pm.Function:
    return pm.Function(([i], [pm.Interval(pm.Int, 0, 3)]), pm.Double, "f")


def empty_definition() -> None:
    f = undefined()
    f.defn = []


def wrong_call() -> None:
    pm.compile(A + A, name="doubled")(np.ones(3))


MISTAKES: list[Callable[[], object]] = [
    lambda: A @ B,
    lambda: A(1),
    lambda: i + 1 > 1,
    lambda: pm.compile(undefined()),
    lambda: pm.Vector(pm.Double, "x", [1, 2]),
    lambda: pm.Sin("x"),
    lambda: undefined().defn,
    lambda: pm.Options(blas="no"),  # type: ignore[arg-type]
    lambda: pm.Options.paper(blass="never"),
    lambda: pm.load("/nowhere.json"),
    empty_definition,
    wrong_call,
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=range(len(MISTAKES)))
def test_a_traceback_has_the_users_lines_alone(mistake: Callable[[], object]) -> None:
    with pytest.raises(PolymatError) as raised:
        mistake()
    error = raised.value
    while error is not None:
        frames = traceback.extract_tb(error.__traceback__)
        assert all(frame.filename == __file__ for frame in frames)
        error = error.__cause__  # type: ignore[assignment]
    assert [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)][1:] == [
        mistake.__name__
    ]


def test_frames_of_the_user_below_ours_stay() -> None:
    @surfaced
    def call(inner: Callable[[], object]) -> object:
        return inner()

    def fails() -> None:
        raise PolymatError("no")

    with pytest.raises(PolymatError) as raised:
        call(fails)
    names = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert names[-1] == "fails"


def test_frames_of_pythons_library_below_ours_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an error in a pool of threads, which raises it again in the thread that waits."""
    monkeypatch.setenv("POLYMAT_CC", "/bin/true")
    monkeypatch.setenv("POLYMAT_CACHE", "off")
    with pytest.raises(pm.ToolchainError) as raised:
        pm.compile(A + A, name="doubled")
    frames = traceback.extract_tb(raised.value.__traceback__)
    assert [frame.filename for frame in frames if "concurrent" in frame.filename] == []


def _raises(error: Exception) -> None:
    raise error


@pytest.mark.parametrize("error", [InternalError("ours"), ValueError("somebody's")])
def test_what_is_not_a_mistake_of_the_user_keeps_its_frames(error: Exception) -> None:
    with pytest.raises(type(error)) as raised:
        surfaced(_raises)(error)
    assert [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)][-1] == "_raises"
    before = error.__traceback__
    shorten(error)
    assert error.__traceback__ is before


def test_all_frames_on_request(tmp_path: Path) -> None:
    program = tmp_path / "wrong.py"
    program.write_text("import polymat as pm\npm.Matrix(pm.Double, 'A', [1])\n")

    def lines(**environment: str) -> list[str]:
        command = [sys.executable, str(program)]
        done = subprocess.run(
            command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
        )
        return [line for line in done.stderr.splitlines() if line.startswith("  File ")]

    assert len(lines()) == 1
    assert len(lines(POLYMAT_TRACEBACK="full")) > 1


def test_surfaced_functions_look_like_functions() -> None:
    assert list(inspect.signature(pm.compile).parameters)[:2] == ["outputs", "name"]
    assert list(inspect.signature(A.__matmul__).parameters) == ["other"]
    assert (pm.dot.__name__, pm.dot.__module__) == ("dot", "polymat")
    assert pm.dot.__doc__ is not None
    assert pydoc.render_doc(pm.compile).startswith("Python Library Documentation: function in module polymat")
    for function in (pm.compile, pm.dot, pm.load):
        assert pickle.loads(pickle.dumps(function)) is function
    with pytest.raises(AttributeError):
        pm.dot.no_such_attribute  # type: ignore[attr-defined]  # noqa: B018
