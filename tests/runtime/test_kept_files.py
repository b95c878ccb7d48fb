"""Kept files that are damaged, no files at all, or taken away: found out, said, made anew; nothing waits."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import polymat as pm
from polymat.errors import ToolchainError
from polymat.machine.keptfile import open_regular, read_text, write_text
from polymat.runtime import compilerprocess, private, toolchain, wisdom, workplaces
from polymat.runtime.cache import fetch_or_build
from polymat.runtime.cacheroom import clear
from polymat.runtime.providers import Provider, provider

KEY = "ab" * 32
N = pm.Parameter(pm.Int, "N")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("POLYMAT_CACHE", "on")
    return tmp_path / "cache"


def writes(content: bytes) -> Callable[[Path], None]:
    def build(path: Path) -> None:
        path.write_bytes(content)

    return build


def wait_for_the_disk() -> None:
    for thread in threading.enumerate():
        if thread.name == private._TRUSTING:
            thread.join()


def test_a_copy_of_a_library_with_a_flipped_bit_is_made_anew(
    place: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = provider("blas")
    if found is None:
        pytest.skip("no BLAS")
    library = found.paths[0]
    with private._copy(library) as copy:
        whole = copy.read_bytes()
    damaged = bytearray(whole)
    damaged[len(damaged) // 2] ^= 16
    copy.unlink()  # this process may have it loaded
    copy.write_bytes(damaged)
    with caplog.at_level("INFO", "polymat"), private._copy(library) as again:
        assert (again, again.read_bytes() == whole) == (copy, True)
    assert "is not what was copied from" in caplog.text
    inode = copy.stat().st_ino
    with private._copy(library) as kept:
        assert kept.stat().st_ino == inode, "a whole one is used as it is"


def test_a_copy_is_compared_again_when_somebody_wrote_to_it(place: Path, tmp_path: Path) -> None:
    """Its time tells: one of so many megabytes is not read at each start."""
    library = tmp_path / "libsome.so"
    library.write_bytes(b"\x7fELF" + bytes(range(256)))
    with private._copy(library) as copy:
        whole = copy.read_bytes()
    wait_for_the_disk()
    time = library.stat().st_mtime_ns
    assert copy.stat().st_mtime_ns == time

    copy.write_bytes(whole)  # the same, of another time: looked through, and taken
    inode = copy.stat().st_ino
    os.utime(copy, ns=(time + 1, time + 1))
    with private._copy(library) as again:
        assert (again.stat().st_ino, again.stat().st_mtime_ns) == (inode, time)

    copy.write_bytes(whole[:-1] + b"?")
    with private._copy(library) as again:
        assert again.read_bytes() == whole


def test_a_copy_that_the_disk_may_not_have_is_compared(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "libsome.so"
    library.write_bytes(b"\x7fELF" + bytes(range(256)))
    time = library.stat().st_mtime_ns - 10**9
    os.utime(library, ns=(time, time))
    with monkeypatch.context() as patch:
        patch.setattr(private, "_trust", lambda *_: None)  # the process ended before
        with private._copy(library) as copy:
            inode = copy.stat().st_ino
        wait_for_the_disk()
    assert copy.stat().st_mtime_ns != time
    with private._copy(library) as again:
        assert (again.stat().st_ino, again.stat().st_mtime_ns) == (inode, time)


def test_a_copy_that_somebody_wrote_to_meanwhile_is_not_trusted(place: Path, tmp_path: Path) -> None:
    library = tmp_path / "libsome.so"
    library.write_bytes(b"\x7fELF" + bytes(range(256)))
    with private._copy(library) as copy:
        pass
    wait_for_the_disk()
    made, source = copy.stat(), library.stat()
    copy.write_bytes(b"something else")
    private._trust(copy, made, source)
    assert copy.stat().st_mtime_ns != source.st_mtime_ns


@pytest.mark.parametrize("cleared", [False, True])
def test_what_a_process_left_that_was_killed_while_it_copied_goes(
    place: Path, tmp_path: Path, cleared: bool
) -> None:
    library = tmp_path / "libsome.so"
    library.write_bytes(b"\x7fELF" + bytes(range(256)))
    program = (
        "import os, shutil, signal, sys\n"
        "from pathlib import Path\n"
        "from polymat.runtime import private\n"
        "def die(source, target):\n"
        "    Path(target).write_bytes(b'half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "shutil.copyfile = die\n"
        "with private._copy(Path(sys.argv[1])):\n"
        "    pass\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(library)], check=False)
    assert ended.returncode == -signal.SIGKILL
    (left,) = place.rglob("*.partial")
    assert any(path.read_bytes() == b"half" for path in left.iterdir())
    if cleared:
        clear()
    else:
        with private._copy(library) as copy:
            assert copy.read_bytes() == library.read_bytes()
        wait_for_the_disk()
        os.utime(left, (0, 0))
        fetch_or_build(KEY, writes(b"image"))
    assert not left.exists()
    assert b"half" not in [path.read_bytes() for path in place.rglob("*") if path.is_file()]


def test_a_process_with_a_damaged_copy(place: Path) -> None:
    """It would end by a signal, at every run, with a copy that nobody compared."""
    program = (
        "import numpy as np, polymat as pm\n"
        "n = pm.Parameter(pm.Int, 'n')\nA = pm.Matrix(pm.Double, 'A', [n, n])\n"
        "print(pm.compile(A @ A, options=pm.Options(blas='always'))(np.ones((300, 300)))[0, 0])"
    )
    if provider("blas") is None:
        pytest.skip("no BLAS")
    root = Path(__file__).resolve().parents[2]
    for damage in (False, True):
        if damage:
            for copy in (place / "libraries").glob("*.so"):
                data = bytearray(copy.read_bytes())
                data[4096 : len(data) // 2] = bytes(len(data) // 2 - 4096)
                copy.unlink()
                copy.write_bytes(data)
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=120)
        assert (done.returncode, done.stdout) == (0, "300.0\n"), done.stderr


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    pipe, link, folder = tmp_path / "pipe", tmp_path / "link", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    link.symlink_to("/dev/zero")
    for path in (pipe, folder, link):
        with pytest.raises(OSError, match=r"it is no regular file|Is a directory"):
            open_regular(path)
    writable = tmp_path / "writable"
    writable.write_text("x")
    writable.chmod(0o666)
    with pytest.raises(PermissionError, match="somebody else may have written it"):
        open_regular(writable)
    with open_regular(writable, ours=False) as stream:
        assert stream.read() == b"x"


def test_a_text_and_its_digest(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    write_text(path, '{"figure": 1.25}\n')
    assert read_text(path, most_bytes=1000) == '{"figure": 1.25}\n'
    path.write_bytes(path.read_bytes().replace(b"1.25", b"9.25"))
    with pytest.raises(ValueError, match="damaged: its SHA-256 is another one"):
        read_text(path, most_bytes=1000)
    path.write_text('{"figure": 1.25}\n')
    with pytest.raises(ValueError, match="damaged: it ends without its SHA-256"):
        read_text(path, most_bytes=1000)


def test_a_pipe_where_a_saved_pipeline_is_expected(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f.json")
    with pytest.raises(ToolchainError, match=r"cannot read .*f.json: it is no regular file"):
        pm.load(tmp_path / "f.json")


def test_a_pipe_where_a_calibration_is_expected(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from polymat.runtime.calibration import calibration_path, stored_calibration

    place.mkdir(mode=0o700)
    os.mkfifo(calibration_path())
    assert stored_calibration() is None


@pytest.mark.parametrize("harm", ["pipe", "bit", "mark"])
def test_wisdom_that_is_none_is_not_handed_on(
    harm: str, place: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A pipe, a flipped bit, a lost digest; a whole file is handed on.  What is learned is written anew."""
    handed: list[bytes] = []

    def take(text: bytes) -> int:
        handed.append(text)
        return 1

    importer = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(take)
    address = ctypes.cast(importer, ctypes.c_void_p).value
    library = cast(Provider, SimpleNamespace(address=lambda name: address))
    place.mkdir(mode=0o700)
    path = place / "wisdom.txt"
    write_text(path, "(fftw-3.3.10 fftw_wisdom)")
    wisdom._import(library, "fftw", path)
    assert handed == [b"(fftw-3.3.10 fftw_wisdom)"]
    whole = path.read_bytes()
    path.unlink()
    if harm == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(bytes([whole[0] ^ 1]) + whole[1:] if harm == "bit" else handed[0])
    with caplog.at_level("DEBUG", "polymat.libraries"):
        wisdom._import(library, "fftw", path)
    assert len(handed) == 1
    said = {
        "pipe": "no plans of transforms: [Errno 22] it is no regular file",
        "bit": f"ignored {path}: damaged: its SHA-256 is another one",
        "mark": f"ignored {path}: damaged: it ends without its SHA-256",
    }
    assert caplog.messages == [said[harm]]


def test_a_path_with_a_nul(tmp_path: Path) -> None:
    x = pm.Vector(pm.Double, "x", [N])
    compiled = pm.compile(x + 1, name="plus")
    with pytest.raises(pm.ArgumentError, match=r"load\(\): the path 'a\\x00b' has a NUL in it"):
        pm.load("a\0b")
    with pytest.raises(pm.ArgumentError, match=r"save\(\): the path 'a\\x00b' has a NUL in it"):
        compiled.save("a\0b")


def test_clearing_while_somebody_compiles(place: Path) -> None:
    begun, goes_on = threading.Event(), threading.Event()

    def slow(path: Path) -> None:
        begun.set()
        assert goes_on.wait(30)
        path.write_bytes(b"image")

    found: list[bytes] = []
    worker = threading.Thread(target=lambda: found.append(fetch_or_build(KEY, slow).image))
    worker.start()
    assert begun.wait(30)
    abandoned = place / "0123456789abcdef-999999999-x.partial"
    abandoned.mkdir()
    clear()
    assert not abandoned.exists()
    goes_on.set()
    worker.join()
    assert found == [b"image"]


@pytest.mark.parametrize("times", [1, 2])
def test_a_cache_that_vanishes_is_tried_once_more(place: Path, times: int) -> None:
    left = [None] * times

    def build(path: Path) -> None:
        if left:
            left.pop()
            shutil.rmtree(place)
        path.write_bytes(b"image")

    if times == 1:
        assert fetch_or_build(KEY, build).image == b"image"
    else:
        with pytest.raises(ToolchainError, match="cannot write to"):
            fetch_or_build(KEY, build)


def test_no_thread_can_be_created(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    n = pm.Parameter(pm.Int, "n")
    A = pm.Matrix(pm.Double, "A", [n, n])
    monkeypatch.setattr(threading.Thread, "start", refused)
    compiled = pm.compile(A @ A, options=pm.Options(blas="never"))
    np.testing.assert_array_equal(compiled(np.ones((20, 20))), np.full((20, 20), 20.0))


def test_folders_of_long_ago_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    old, young, other = (tmp_path / name for name in ("polymat-cc-old", "polymat-link-young", "polymat-0"))
    for folder in (old, young, other):
        folder.mkdir()
        (folder / "file").write_text("x")
    for folder in (old, other):
        os.utime(folder, (time.time() - 48 * 3600,) * 2)
    made = workplaces.scratch_directory("polymat-cc-")
    assert sorted(tmp_path.iterdir()) == sorted([young, other, made])


def test_a_compiler_that_hangs(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(compilerprocess, "_PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr(toolchain, "_COMPILE_SECONDS", 0.5)
    hanging = tmp_path / "hanging-gcc"
    hanging.write_text("#!/bin/sh\nsleep 600\n")
    hanging.chmod(0o755)
    compiler = toolchain.Compiler(str(hanging), "gcc", "hanging")
    with pytest.raises(ToolchainError, match=r"the C compiler was stopped after 0.5 s"):
        toolchain.compile_object("int x;", tmp_path / "x.o", compiler, ())
    assert "running for 0.1 s, and is stopped after 0.5 s, or later where the machine is busy:" in caplog.text
    assert "hanging-gcc" in caplog.text
