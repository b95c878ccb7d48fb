"""Libraries made of several C files: the parts are kept, seen by nobody else, and compute the same."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Function, Int, Interval, Matrix, Parameter, Variable
from polymat.codegen.c.apart import Files
from polymat.errors import ToolchainError
from polymat.machine.cpus import usable_cpus
from polymat.runtime import objects
from polymat.runtime.cacheroom import OBJECT, entries
from polymat.runtime.compilerprocess import TimeIsUpError, limited
from polymat.runtime.libraryfile import Built, build
from polymat.runtime.toolchain import find_compiler

PART = '#define HIDDEN __attribute__((visibility("hidden")))\nHIDDEN int part(void)\n{\n    return 40;\n}\n'
PROGRAM = """\
__attribute__((visibility("hidden"))) int part(void);
int answer(void)
{
    return part() + 2;
}
"""


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


SLOW = "".join(f"int f{n}(int x) {{ return x * {n} + f{max(0, n - 1)}(x); }}\n" for n in range(1, 40_000))


@pytest.mark.parametrize("several", [False, True])
def test_what_takes_longer_than_it_may_is_stopped(
    several: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In files of its own, too; nothing is left of it, and what comes next has all the time it wants."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    source = "int f0(int x) { return x; }\n" + SLOW
    files = (lambda: Files((source,), (PART,))) if several else None
    begin = time.monotonic()
    with (
        limited(60.0),
        limited(0.3),
        pytest.raises(TimeIsUpError, match="the time that it was given is over"),
    ):
        build(source, files=files)
    assert time.monotonic() - begin < 20.0
    assert not [*tmp_path.glob("polymat-cc-*")]
    assert answer(build(PROGRAM, files=lambda: Files((PROGRAM,), (PART,)))) == 42


def kept() -> list[str]:
    return [entry.key for entry in entries() if entry.path.suffix == OBJECT]


def answer(built: Built) -> int:
    found = int(ctypes.CDLL(str(built.path)).answer())
    built.release()
    return found


def test_a_part_is_compiled_once_for_all_programs() -> None:
    assert answer(build("one", files=lambda: Files((PROGRAM,), (PART,)))) == 42
    once = kept()
    assert len(once) == 1
    assert answer(build("two", files=lambda: Files((PROGRAM.replace("2", "3"),), (PART,)))) == 43
    assert kept() == once
    assert answer(build("three", files=lambda: Files((PROGRAM,), (PART.replace("40", "50"),)))) == 52
    assert len(kept()) == 2


def test_files_are_asked_for_where_nothing_is_found() -> None:
    asked: list[Files] = []

    def files() -> Files:
        asked.append(Files((PROGRAM,), (PART,)))
        return asked[-1]

    for _ in range(2):
        assert answer(build("one", files=files)) == 42
    assert len(asked) == 1


@pytest.mark.parametrize("mode", ["off", "readonly"])
def test_parts_without_a_cache(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMAT_CACHE", mode)
    assert answer(build("one", files=lambda: Files((PROGRAM,), (PART,)))) == 42
    assert entries() == ()


def test_a_damaged_part_is_compiled_again(directory: Path) -> None:
    build("one", files=lambda: Files((PROGRAM,), (PART,)))
    (part,) = directory.glob(f"*{OBJECT}")
    part.write_bytes(part.read_bytes()[:100])
    assert answer(build("two", files=lambda: Files((PROGRAM,), (PART,)))) == 42


@pytest.mark.parametrize(
    ("program", "part"),
    [(PROGRAM, "int part(\n"), ("int answer(\n", PART), (PROGRAM, "int other;\n")],
    ids=["part", "program", "link"],
)
def test_a_failure_is_the_compilers(program: str, part: str) -> None:
    with pytest.raises(ToolchainError, match="failed with status") as caught:
        build("bad", files=lambda: Files((program,), (part,)))
    assert caught.value.stderr
    assert not [entry for entry in entries() if entry.path.suffix != OBJECT]


def product(name: str, factor: float) -> pm.Compiled:
    rows, depth, columns = (Parameter(Int, size) for size in ("M", "K", "N"))
    a, b = Matrix(Double, "A", [rows, depth]), Matrix(Double, "B", [depth, columns])
    i, j = Variable(Int, "i"), Variable(Int, "j")
    ranges = [Interval(Int, 0, rows - 1), Interval(Int, 0, columns - 1)]
    scaled, whole = Function(([i, j], ranges), Double, name), a @ b
    scaled.defn = [whole(i, j) * factor]
    return pm.compile(scaled, inputs=[a, b], options=pm.Options(blas="never"))


EXPORTED = {"_pm_entry", "_pm_work", "_pm_missing_bytes", "_pm_signature"}


def test_products_share_their_parts_and_export_nothing_of_them() -> None:
    first, parts = product("first", 2.0), kept()
    second = product("second", 3.0)
    assert len(parts) == 4
    assert kept() == parts
    for size in (1, 5, 70, 130):
        a, b = np.arange(size * 7.0).reshape(size, 7), np.arange(7.0 * size).reshape(7, size)
        np.testing.assert_allclose(first(a, b), 2 * (a @ b), rtol=1e-13)
        np.testing.assert_allclose(second(a, b), 3 * (a @ b), rtol=1e-13)
    (library, *_) = [entry.path for entry in entries() if entry.path.suffix != OBJECT]
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True
    )
    names = {line.split()[-1] for line in listed.stdout.splitlines()}
    assert {name for name in names if name.startswith("_pm_")} == EXPORTED


def test_one_text_computes_the_same_bits() -> None:
    """The text that is shown, compiled as one file."""
    compiled = product("scaled", 2.0)
    whole = ctypes.CDLL(str(build(compiled.source).path)).scaled
    rng = np.random.default_rng(3)
    for m, k, n in ((1, 1, 1), (7, 9, 25), (65, 70, 3), (129, 31, 83)):
        a, b, got = rng.random((m, k)), rng.random((k, n)), np.empty((m, n))
        arrays = (ctypes.c_void_p(x.ctypes.data) for x in (a, b, got))
        assert whole(*arrays, *map(ctypes.c_ssize_t, (m, k, n))) == 0
        assert np.array_equal(got, compiled(a, b))


HANGING = """\
#!/bin/sh
case "$*" in *--version*) echo "gcc (fake) 12.2"; exit 0;; esac
echo $$ >> {started}
sleep 600
"""
COMPILING = """\
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background
import polymat as pm
M, N = pm.Parameter(pm.Int, "M"), pm.Parameter(pm.Int, "N")
A, B = pm.Matrix(pm.Double, "A", [M, N]), pm.Matrix(pm.Double, "B", [N, M])
pm.compile(A @ B, name="product", inputs=[A, B], options=pm.Options(blas="never"))
"""


def wait_for_lines(file: Path, count: int) -> None:
    deadline = time.monotonic() + 120
    while not file.exists() or len(file.read_text().splitlines()) < count:
        assert time.monotonic() < deadline, f"{file} has too few lines"
        time.sleep(0.1)


def test_an_interrupt_ends_all_compilers(tmp_path: Path) -> None:
    """And the call: none of them is waited for."""
    started, compiler = tmp_path / "started", tmp_path / "gcc-hanging"
    compiler.write_text(HANGING.format(started=started))
    compiler.chmod(0o755)
    environment = {**os.environ, "POLYMAT_CC": str(compiler), "POLYMAT_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", COMPILING]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as child:
        try:
            wait_for_lines(started, min(2, usable_cpus()))
            child.send_signal(signal.SIGINT)
            _, stderr = child.communicate(timeout=120)
        finally:
            child.kill()
    assert b"KeyboardInterrupt" in stderr
    for line in started.read_text().splitlines():
        with pytest.raises(ProcessLookupError):
            os.kill(int(line), 0)


def test_a_failure_ends_the_other_compilers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "gcc-hanging"
    compiler.write_text(
        '#!/bin/sh\ncase "$*" in *--version*) echo "gcc (fake) 12.2"; exit 0;; esac\n'
        f"mkdir {tmp_path}/first 2> /dev/null && exit 3\nsleep 600\n"
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("POLYMAT_CC", str(compiler))
    with pytest.raises(ToolchainError, match="status 3"):
        build("bad", files=lambda: Files((PROGRAM,), (PART, PART + "\n")))


@pytest.mark.parametrize("processors", [1, 2])
def test_programs_come_first_and_no_more_compilers_run_than_processors(
    processors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    running: list[int] = []
    most: list[int] = []

    def compile_slowly(text: str, path: Path, *_: object) -> None:
        begun.append(text)
        running.append(1)
        most.append(len(running))
        time.sleep(0.02)
        running.pop()
        path.write_bytes(b"")

    monkeypatch.setattr(objects, "usable_cpus", lambda: processors)
    monkeypatch.setattr(objects, "compile_object", compile_slowly)
    monkeypatch.setattr(objects, "link_shared", lambda *_: None)
    files = Files(("own",), ("longest", "long", "plain"))
    objects.compile_files(files, Path("out"), find_compiler(), (), ())
    assert max(most) <= processors
    assert "own" in begun[:processors]
    assert sorted(begun) == ["long", "longest", "own", "plain"]
    assert processors > 1 or begun == ["own", "longest", "long", "plain"]
