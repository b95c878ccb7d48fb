"""Programs that were compiled before: loaded where all is as it was, and decided anew elsewhere."""

from __future__ import annotations

import logging
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import driver
from polymat.errors import NameClashError
from polymat.quickimport import BEGUN
from polymat.runtime import outlines
from polymat.runtime.cacheroom import OUTLINE
from tests.decidedanew import noted_anew
from tests.fixed import NARROW, WIDE
from tests.hosts import CompileFor, StatedLibraries

ROOT = Path(__file__).parents[1]
PLAIN = pm.Options(cflags=("-O0",))
ANEW = """
import sys, numpy as np, polymat as pm
N = pm.Parameter(pm.Int, "N")
x, w = pm.Vector(pm.Double, "x", [N]), pm.Vector(pm.Int, "w", [N], values=(0, N - 1))
i = pm.Variable(pm.Int, "i")
f = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), pm.Double, "f")
f.defn = [2 * x(w(i)) + x(pm.Clamp(pm.Cast(pm.Int, x(i)), 0, N - 1))]
run = pm.compile(f, inputs=[x, w], options=pm.Options(cflags=("-O0",)))
imported = [name in sys.modules for name in ("islpy", "polymat.passes")]
print(run(np.arange(3.0), np.array([2, 0, 1], np.int32)), *imported)
print(run.source, str(run.explain()).rpartition("built ")[0], "islpy" in sys.modules)
"""


@pytest.fixture
def anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what is decided anew, with an empty cache and as users compile: nothing is verified."""
    return noted_anew(tmp_path / "cache", monkeypatch)


def scaled(factor: float = 2.0, dtype: Any = pm.Double) -> Any:
    """A function of its own each time, which stands in the same lines."""
    n = pm.Parameter(pm.Int, "N")
    x = pm.Vector(dtype, "x", [n])
    return pm.elementwise_mul(x, x) * factor


def compiled(function: Any = None, **asked: Any) -> Any:
    function = scaled() if function is None else function
    return pm.compile(function, **{"name": "scaled", "options": PLAIN, **asked})


def test_a_program_is_decided_once(anew: list[str]) -> None:
    first, second = compiled(), compiled()
    assert anew == ["scaled"]
    assert (second.signature, second.source, second.header) == (first.signature, first.source, first.header)
    assert (second.path, second.cpu, second.threads) == (first.path, first.cpu, first.threads)
    data = np.arange(5.0)
    np.testing.assert_array_equal(second(data), 2 * data**2)
    np.testing.assert_array_equal(second.reference(data), 2 * data**2)
    assert pickle.loads(pickle.dumps(second))(data) == pytest.approx(first(data))
    told = [str(each.explain()).rpartition("built ")[0] for each in (first, second)]
    assert told[0] == told[1] != ""
    assert driver.request_of(second) is not None


def with_size(size: int) -> Callable[[], Any]:
    def compile_it() -> Any:
        n = pm.Parameter(pm.Int, "N")
        return compiled(pm.Vector(pm.Double, "x", [n]) * 2.0, sizes={n: size})

    return compile_it


@pytest.mark.parametrize(
    "other",
    [
        lambda: compiled(scaled(3.0)),
        lambda: compiled(scaled(dtype=pm.Float)),
        lambda: compiled(name="another"),
        lambda: compiled(options=replace(PLAIN, threads=1)),
        lambda: compiled(options=pm.Options(cflags=("-O1",))),
        lambda: compiled(estimates={pm.Parameter(pm.Int, "N"): 10_000_000}),
        lambda: compiled(constraints=[pm.Condition(pm.Parameter(pm.Int, "N"), ">=", 8)]),
        lambda: compiled(trim=True),
        with_size(7),
    ],
)
def test_another_request_is_another_program(anew: list[str], other: Callable[[], Any]) -> None:
    compiled()
    others = other(), other()
    assert len(anew) == 2
    assert others[0].source == others[1].source


def test_machines_and_libraries_have_programs_of_their_own(anew: list[str], compile_for: CompileFor) -> None:
    n = pm.Parameter(pm.Int, "N")
    a, b = pm.Matrix(pm.Double, "A", [n, n]), pm.Matrix(pm.Double, "B", [n, n])

    def product() -> str:
        text: str = pm.compile(a @ b, options=PLAIN, name="product").source
        return text

    def on(machine: Any, *lacking: Any) -> list[str]:
        compile_for(machine, StatedLibraries(lacking=frozenset(lacking)))
        return [product(), product()]

    both = [on(NARROW), on(WIDE), on(NARROW, "blas"), on(NARROW)]
    assert [one == other for one, other in both] == [True] * 4
    assert len(anew) == 4  # the outline of one library is in the place of that of another
    assert both[0] == both[3]


def test_a_compiler_that_changed_decides_anew(anew: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    compiled()
    monkeypatch.setattr(outlines, "_identity", lambda package: f"{package} of another day")
    compiled()
    assert len(anew) == 2
    monkeypatch.setattr(outlines, "_identity", lambda package: None)
    compiled()
    assert len(anew) == 3


def test_an_edited_file_is_another_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it lies in the package, but for what Python keeps there itself."""
    for name in ("__init__.py", "below/deeper.h", "__pycache__/old.pyc"):
        file = tmp_path / "polymat" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("a")
    monkeypatch.setattr(outlines, "BEGUN", time.time_ns() + 10**12)
    monkeypatch.setattr(outlines, "find_spec", lambda _: Spec(str(tmp_path / "polymat" / "__init__.py")))
    identity = outlines._identity.__wrapped__
    before = identity("polymat")
    (tmp_path / "polymat" / "__pycache__" / "new.pyc").write_text("b")
    assert identity("polymat") == before
    (tmp_path / "polymat" / "below" / "deeper.h").write_text("bc")
    assert None is not identity("polymat") != before


@pytest.mark.parametrize("package", ["polymat", "numpy"])
def test_a_file_that_changed_while_it_was_imported_is_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    """What is in memory may be of before, and what it decides would be kept as what the new file decides."""
    file = tmp_path / "__init__.py"
    file.write_text("a")
    monkeypatch.setattr(outlines, "find_spec", lambda _: Spec(str(file)))
    identity = outlines._identity.__wrapped__
    assert identity(package) is None
    os.utime(file, ns=(BEGUN - 1,) * 2)
    assert identity(package) is not None


class Spec:
    def __init__(self, origin: str) -> None:
        self.origin = origin


def test_a_function_that_was_compiled_keeps_its_definition(anew: list[str]) -> None:
    compiled()
    function = scaled()
    compiled(function)
    assert len(anew) == 1
    with pytest.raises(NameClashError, match="is defined a second time"):
        function.defn = [1.0]
    compiled(function)
    assert len(anew) == 1


def test_what_is_damaged_or_gone_is_made_again(anew: list[str], tmp_path: Path) -> None:
    first = compiled()
    (outline,) = (tmp_path / "cache").glob(f"*{OUTLINE}")
    whole = outline.read_bytes()
    outline.write_bytes(whole[:-40])
    compiled()
    assert (len(anew), outline.read_bytes()) == (2, whole)
    os.unlink(first.path)
    np.testing.assert_array_equal(compiled()(np.ones(2)), [2.0, 2.0])
    assert len(anew) == 3


def test_what_is_damaged_is_told_of_once(
    anew: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for suffix in (OUTLINE, ".so"):
        compiled()
        (file,) = (tmp_path / "cache").glob(f"*{suffix}")
        file.write_bytes(file.read_bytes()[:-40])
        caplog.clear()
        compiled()
        assert [record.getMessage() for record in caplog.records] == [
            f"ignored {file}: damaged, will be rebuilt"
        ]


def test_a_cache_without_room_keeps_the_last_program(
    anew: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLYMAT_CACHE_LIMIT", "0")
    compiled(scaled(3.0))
    first, second = compiled(), compiled()
    assert len(anew) == 2
    assert os.path.exists(first.path)
    assert second.path == first.path
    assert len([*(tmp_path / "cache").glob("*.so")]) == 1


def test_a_cache_to_read_from_stays_as_it_is(
    anew: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled()
    files = [*(tmp_path / "cache").iterdir()]
    for file in files:
        os.utime(file, (1e9, 1e9))
    monkeypatch.setenv("POLYMAT_CACHE", "readonly")
    compiled()
    assert len(anew) == 1
    assert {file.stat().st_mtime for file in files} == {1e9}


def test_what_is_asked_for_stays_what_it_was(anew: list[str]) -> None:
    """Also where that is decided later than the lists and tables change that it was asked with."""
    told = []
    for _ in range(2):
        n = pm.Parameter(pm.Int, "N")
        x = pm.Vector(pm.Double, "x", [n])
        sizes, inputs = {n: 3}, [x]
        run = compiled(pm.elementwise_mul(x, x), sizes=sizes, inputs=inputs)
        sizes[n] = 4
        inputs.clear()
        np.testing.assert_array_equal(run.reference(np.ones(3)), np.ones(3))
        told.append(str(run.explain()).rpartition("built ")[0])
    assert len(anew) == 1
    assert told[0] == told[1] != ""


@pytest.mark.parametrize(("mode", "kept"), [("on", 1), ("readonly", 0), ("off", 0)])
def test_the_cache_is_as_the_user_wants_it(
    anew: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, kept: int
) -> None:
    monkeypatch.setenv("POLYMAT_CACHE", mode)
    compiled(), compiled()
    assert len([*(tmp_path / "cache").glob(f"*{OUTLINE}")]) == kept
    assert len(anew) == 2 - kept


def test_who_listens_hears_everything(anew: list[str], caplog: pytest.LogCaptureFixture) -> None:
    compiled()
    with caplog.at_level(logging.INFO, "polymat.fusion"):
        compiled()
    assert "groups" in caplog.text
    assert len(anew) == 2


def test_what_is_nested_too_deeply_to_be_written_down_is_decided_each_time(anew: list[str]) -> None:
    n = pm.Parameter(pm.Int, "N")
    i = pm.Variable(pm.Int, "i")
    x = pm.Vector(pm.Double, "x", [n])
    deep = x(i)
    for _ in range(20_000):
        deep = -deep
    function = pm.Function(([i], [pm.Interval(pm.Int, 0, n - 1)]), pm.Double, "deep")
    function.defn = [deep]
    for _ in range(2):
        np.testing.assert_array_equal(compiled(function)(np.ones(3)), np.ones(3))
    assert len(anew) == 2


def test_another_process_loads_what_one_compiled(tmp_path: Path) -> None:
    """Without isl and the passes until somebody asks; the same text for every hash seed."""
    script = tmp_path / "program.py"
    script.write_text(ANEW)
    said = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "POLYMAT_VERIFY": "0"}
        environment |= {"POLYMAT_CACHE_DIR": str(tmp_path / "cache"), "POLYMAT_CALIBRATE": "off"}
        done = subprocess.run(
            [sys.executable, str(script)], env=environment, check=True, capture_output=True, text=True
        )
        said.append(done.stdout.splitlines())
    assert said[0][0] == "[4. 1. 4.] True True"
    assert said[1][0] == "[4. 1. 4.] False False"
    assert said[0][1:] == said[1][1:]


@pytest.mark.parametrize("trim", [False, True])
def test_outputs_without_points_have_the_shape_of_the_call_in_the_interpreter(trim: bool) -> None:
    """Of N = 0 the first column of i = 0 would be -1: the interpreter had one column more."""
    N, i, j = pm.Parameter(pm.Int, "N"), pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
    rows, columns = pm.Interval(pm.Int, 1, 2 * N // 3), pm.Interval(pm.Int, N - 1 - i, i)
    f = pm.Function(([i, j], [rows, columns]), pm.Long, "f")
    f.defn = [i + 10 * j]
    compiled = pm.compile(f, trim=trim, options=pm.Options(cflags=("-O1",)))
    for size in (0, 1, 3, 8):
        np.testing.assert_array_equal(compiled.reference(N=size), compiled(N=size), strict=True)
