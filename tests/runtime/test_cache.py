"""The store of compiled libraries: whatever happens to it, a caller gets a right library or a typed error."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import gc
import os
import random
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from polymat.errors import ToolchainError
from polymat.options import Options
from polymat.runtime import cache, filelock
from polymat.runtime.cache import cache_key, fetch_or_build
from polymat.runtime.cacheroom import entries
from polymat.runtime.libraryfile import build

KEY = "ab" * 32
IMAGE = bytes(range(256)) * 40
SOURCE = "int answer(void) { return 42; }\n"


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache for each test."""
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("POLYMAT_CACHE", raising=False)
    monkeypatch.delenv("POLYMAT_CACHE_LIMIT", raising=False)
    return tmp_path / "cache"


class Counted:
    """A builder that writes fixed bytes and counts how often it is asked."""

    def __init__(self, image: bytes = IMAGE) -> None:
        self.image = image
        self.calls = 0

    def __call__(self, path: Path) -> None:
        self.calls += 1
        path.write_bytes(self.image)


def key_number(number: int) -> str:
    return f"{number:064x}"


def test_second_fetch_is_a_hit(directory: Path) -> None:
    builder = Counted()
    first, second = fetch_or_build(KEY, builder), fetch_or_build(KEY, builder)
    assert (first.hit, second.hit, builder.calls) == (False, True, 1)
    assert first.path == second.path == directory / f"{KEY}.so"
    assert first.image == second.image == IMAGE
    assert first.path.read_bytes().startswith(IMAGE)
    assert os.stat(directory).st_mode & 0o777 == 0o700


def empty(data: bytearray, _: random.Random) -> bytes:
    return b""


def one_byte(data: bytearray, _: random.Random) -> bytes:
    return bytes(data[:1])


def half(data: bytearray, _: random.Random) -> bytes:
    return bytes(data[: len(data) // 2])


def without_trailer(data: bytearray, _: random.Random) -> bytes:
    return bytes(data[: len(IMAGE)])


def last_byte_lost(data: bytearray, _: random.Random) -> bytes:
    return bytes(data[:-1])


def garbage_behind(data: bytearray, _: random.Random) -> bytes:
    return bytes(data) + b"garbage"


def garbage_inside(data: bytearray, rng: random.Random) -> bytes:
    begin = rng.randrange(len(IMAGE) - 64)
    data[begin : begin + 64] = bytes(64)
    return bytes(data)


def flipped_image(data: bytearray, rng: random.Random) -> bytes:
    data[rng.randrange(len(IMAGE))] ^= 1 << rng.randrange(8)
    return bytes(data)


def flipped_trailer(data: bytearray, rng: random.Random) -> bytes:
    data[rng.randrange(len(IMAGE), len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


DAMAGES = [
    empty,
    one_byte,
    half,
    without_trailer,
    last_byte_lost,
    garbage_behind,
    garbage_inside,
    flipped_image,
    flipped_trailer,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_entry_is_healed(damage: Callable[[bytearray, random.Random], bytes], seed: int) -> None:
    builder = Counted()
    path = fetch_or_build(KEY, builder).path
    whole = path.read_bytes()
    rng = random.Random(seed)
    for round_ in range(1, 9):
        damaged = damage(bytearray(whole), rng)
        if damaged == whole:
            continue
        path.write_bytes(damaged)
        fetched = fetch_or_build(KEY, builder)
        assert not fetched.hit
        assert fetched.image == IMAGE
        assert path.read_bytes() == whole
        assert fetch_or_build(KEY, builder).hit
        assert builder.calls <= round_ + 1


def test_entry_under_another_name_is_not_taken() -> None:
    first = fetch_or_build(KEY, Counted())
    other = key_number(1)
    first.path.rename(first.path.with_name(f"{other}.so"))
    fetched = fetch_or_build(other, Counted(b"the right one"))
    assert (fetched.hit, fetched.image) == (False, b"the right one")


@pytest.mark.parametrize("kind", ["directory", "dangling link", "fifo"])
def test_something_else_in_place_of_an_entry(kind: str, directory: Path) -> None:
    path = fetch_or_build(KEY, Counted()).path
    path.unlink()
    if kind == "directory":
        path.mkdir()
        (path / "file").touch()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(directory / "nothing")
    assert fetch_or_build(KEY, Counted()).image == IMAGE
    assert fetch_or_build(KEY, Counted()).hit


def test_entry_that_others_can_write_is_not_taken() -> None:
    path = fetch_or_build(KEY, Counted()).path
    path.chmod(0o777)
    assert not fetch_or_build(KEY, Counted()).hit


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_entry_or_directory_of_another_user_is_not_taken(directory: Path) -> None:
    path = fetch_or_build(KEY, Counted()).path
    os.chown(path, 12345, -1)
    assert not fetch_or_build(KEY, Counted()).hit
    os.chown(directory, 12345, -1)
    with pytest.raises(ToolchainError, match="belongs to user 12345"):
        fetch_or_build(KEY, Counted())


def test_directory_that_others_can_write_is_tightened(directory: Path) -> None:
    directory.mkdir()
    directory.chmod(0o775)
    fetch_or_build(KEY, Counted())
    assert os.stat(directory).st_mode & 0o777 == 0o755


@pytest.mark.parametrize("place", ["{file}/below", "/proc/polymat", "/dev/null"])
def test_directory_that_cannot_be_made(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    place = place.format(file=tmp_path / "file")
    monkeypatch.setenv("POLYMAT_CACHE_DIR", place)
    with pytest.raises(ToolchainError) as caught:
        fetch_or_build(KEY, Counted())
    assert f"cannot use the cache directory {place}" in str(caught.value)
    assert "POLYMAT_CACHE_DIR" in caught.value.hint
    assert "POLYMAT_CACHE=off" in caught.value.hint
    assert entries() == ()
    monkeypatch.setenv("POLYMAT_CACHE", "off")
    assert fetch_or_build(KEY, Counted()).image == IMAGE


@pytest.mark.parametrize(("mode", "what"), [("on", "to"), ("off", "the library to")])
def test_full_disk(mode: str, what: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMAT_CACHE", mode)

    def full(path: Path) -> None:
        path.write_bytes(IMAGE)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(ToolchainError, match=f"cannot write {what} .*: No space left on device"):
        fetch_or_build(KEY, full)
    assert not directory.exists() or not list(directory.glob("*.partial"))


def test_failed_build_leaves_nothing(directory: Path) -> None:
    def fail(path: Path) -> None:
        path.write_bytes(b"half a library")
        raise ToolchainError("no")

    with pytest.raises(ToolchainError, match="no"):
        fetch_or_build(KEY, fail)
    assert entries() == ()
    assert not list(directory.glob("*.partial"))


def test_off_builds_every_time_in_a_private_directory(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLYMAT_CACHE", "off")
    first, second = build(SOURCE), build(SOURCE)
    assert first.path != second.path
    assert first.scratch is not None
    assert os.stat(first.scratch).st_mode & 0o777 == 0o700
    library = ctypes.CDLL(str(first.path))
    first.release()
    assert not first.scratch.exists()
    assert library.answer() == 42
    forgotten = second.path
    del second
    gc.collect()
    assert not forgotten.exists()
    assert not directory.exists()


def test_readonly_uses_hits_and_writes_nothing(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = fetch_or_build(KEY, Counted()).path
    before = sorted(directory.iterdir())
    monkeypatch.setenv("POLYMAT_CACHE", "readonly")
    assert fetch_or_build(KEY, Counted()).path == stored
    missed = fetch_or_build(key_number(1), Counted())
    assert (missed.hit, missed.path.parent) == (False, missed.scratch)
    assert sorted(directory.iterdir()) == before
    directory.chmod(0o777)
    assert not fetch_or_build(KEY, Counted()).hit


def test_default_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POLYMAT_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.cache_directory() == tmp_path / "xdg" / "polymat"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.cache_directory() == tmp_path / ".cache" / "polymat"
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.delenv("HOME")
    fetched = fetch_or_build(KEY, Counted())
    assert fetched.path.parent == tmp_path / "tmp" / f"polymat-{os.geteuid()}"
    assert os.stat(fetched.path.parent).st_mode & 0o777 == 0o700


def test_key_depends_on_everything() -> None:
    inputs = ("source", ("-a", "-b"), "compiler", "cpu")
    variants = [
        inputs,
        ("Source", *inputs[1:]),
        ("source", ("-b", "-a"), *inputs[2:]),
        ("source", ("-a-b",), *inputs[2:]),
        ("source", ("-a",), *inputs[2:]),
        (*inputs[:2], "compiler2", "cpu"),
        (*inputs[:3], "cpu2"),
        (*inputs[:2], "compilerc", "pu"),
    ]
    keys = {cache_key(*variant) for variant in variants}
    assert len(keys) == len(variants)
    assert cache_key(*inputs) == cache_key(*inputs)
    assert len(cache_key("\udc80\0", (), "", "")) == 64


def test_build_reports_hits_and_times() -> None:
    first, second = build(SOURCE), build(SOURCE)
    assert (first.cache_hit, second.cache_hit) == (False, True)
    assert first.compile_seconds > 0.0 == second.compile_seconds
    assert first.image == second.image
    assert first.image[:4] == b"\x7fELF"
    assert build(SOURCE, Options(cflags=("-DOTHER",))).key != first.key
    first.release()
    assert first.path.exists()
    assert ctypes.CDLL(str(second.path)).answer() == 42


def run_builders(script: str, count: int) -> list[str]:
    """Run one Python program in many processes at once; what each printed."""
    command = [sys.executable, "-c", textwrap.dedent(script)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(count)
    ]
    outputs = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0] * count, outputs
    return outputs


PROGRAM = """
    import ctypes
    from polymat.runtime.libraryfile import build
    built = build("int answer(void) { return 42; }")
    assert ctypes.CDLL(str(built.path)).answer() == 42
    print("hit" if built.cache_hit else "built")
"""


def test_many_processes_build_once() -> None:
    outputs = run_builders(PROGRAM, 12)
    assert sorted(outputs) == ["built\n"] + ["hit\n"] * 11
    assert len(entries()) == 1


def test_many_processes_without_locks(directory: Path) -> None:
    """Every lock file is a directory here: no lock can be taken, and all the same everyone is served."""
    for bucket in range(cache._BUCKETS):
        (directory / f"lock-{bucket:02d}").mkdir(parents=True)
    outputs = run_builders(PROGRAM, 4)
    assert set(outputs) <= {"built\n", "hit\n"}
    assert len(entries()) == 1


def test_many_threads_build_once() -> None:
    builder = Counted()
    threads = [threading.Thread(target=fetch_or_build, args=(KEY, builder)) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert builder.calls == 1


def test_lock_that_is_never_released_is_not_waited_for_ever(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with filelock.bucket_lock(tmp_path / "lock", wait_seconds=0.05) as locked:
            assert not locked
    with filelock.bucket_lock(tmp_path / "lock", wait_seconds=0.05) as locked:
        assert locked


def test_killed_builder_leaves_a_usable_cache(directory: Path) -> None:
    script = """
        import os, signal
        from polymat.runtime.cache import fetch_or_build
        def die(path):
            path.write_bytes(b"half")
            os.kill(os.getpid(), signal.SIGKILL)
        fetch_or_build("ab" * 32, die)
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
    assert ended.returncode == -9
    left = list(directory.glob("*.partial"))
    assert len(left) == 1
    os.utime(left[0], (0, 0))
    assert fetch_or_build(KEY, Counted()).image == IMAGE
    assert not list(directory.glob("*.partial"))


def test_damage_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    fetch_or_build(KEY, Counted()).path.write_bytes(b"damaged")
    fetch_or_build(KEY, Counted())
    assert [record.message.endswith("damaged, will be rebuilt") for record in caplog.records] == [True]
