"""Memory of freed results comes back with the next result, and nobody can tell but by the time."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import subprocess
import sys
import textwrap
import time
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from polymat.runtime import _launch, recycling
from polymat.runtime.compiled import Compiled
from polymat.runtime.recycling import kept_limit
from polymat.runtime.settings import settings
from tests.runtime import hand_written as kernels
from tests.runtime.smaps import lazily_freed

MIB = 1 << 20
ENOUGH = 64 * MIB
CHECKED = settings().memory_checker


@pytest.fixture(scope="module")
def fill(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """Y = T in 4 T elements."""
    return kernels.fill(tmp_path_factory.mktemp("kernels"))


@pytest.fixture(autouse=True)
def kept() -> Iterator[None]:
    """A limit of its own for each test, and nothing kept before it."""
    _launch.keep_results(0)
    _launch.keep_results(ENOUGH)
    yield
    _launch.keep_results(0)
    _launch.keep_results(kept_limit())


def handler_of(array: npt.NDArray[Any]) -> str:
    name: str = np._core.multiarray.get_handler_name(array)  # type: ignore[attr-defined]
    return name


def size_of(mebibytes: float) -> int:
    """T of `fill` for a result of so many MiB."""
    return int(mebibytes * MIB) // 32


def address(array: npt.NDArray[Any]) -> int:
    return int(array.ctypes.data)


@pytest.mark.parametrize("mebibytes", [0.1, 0.3, 1, 3.3, 16, 33])
def test_memory_comes_back(fill: Compiled, mebibytes: float) -> None:
    T = size_of(mebibytes)
    first = fill(T=T)
    where = address(first)
    assert handler_of(first) == "polymat_recycle"
    assert where % (64 if mebibytes < 2 else 2 * MIB) == 0
    del first
    assert mebibytes * MIB <= _launch.kept_results() <= 1.3 * mebibytes * MIB
    for almost in (T, T - T // 64):
        again = fill(T=almost)
        assert address(again) == where
        assert _launch.kept_results() == 0
        assert again.shape == (4 * almost,)
        assert (again == almost).all()
        del again


def test_other_sizes_get_other_memory(fill: Compiled) -> None:
    del (first := [fill(T=size_of(4))])[0]
    kept = _launch.kept_results()
    for other in (size_of(5), size_of(3), 8):
        assert (fill(T=other) == other).all()
    assert _launch.kept_results() > kept
    assert first == []


def test_small_results_are_numpys(fill: Compiled) -> None:
    assert handler_of(fill(T=size_of(0.0625))) == "default_allocator"
    _launch.keep_results(0)
    assert handler_of(fill(T=size_of(4))) == "default_allocator"
    assert _launch.kept_results() == 0


def test_what_is_not_written_is_zero(tmp_path: Path) -> None:
    lower, N = kernels.lower(tmp_path), 301
    A = np.ones((N, N))
    for _ in range(3):
        result = lower(A)
        assert handler_of(result) == "polymat_recycle"
        np.testing.assert_array_equal(result, np.tril(A))
        result[...] = np.nan
        del result


def test_copies_of_inputs_come_back(tmp_path: Path) -> None:
    axpy, n = kernels.axpy(tmp_path), size_of(1) * 4
    X, out = np.arange(2.0 * n), np.empty(n)
    for _ in range(2):
        np.testing.assert_array_equal(axpy(2.0, X[::2], X[1::2], out=out), 2 * X[::2] + X[1::2])
        assert _launch.kept_results() >= 2 * MIB


def test_no_more_than_the_limit_is_kept(fill: Compiled) -> None:
    results = [fill(T=size_of(4)) for _ in range(40)]
    results.clear()
    assert 12 * MIB <= _launch.kept_results() <= ENOUGH
    results = [fill(T=size_of(0.5)) for _ in range(50)]
    results.clear()
    assert _launch.kept_results() == 16 * MIB
    del (large := [fill(T=size_of(65))])[0]
    assert large == []
    assert _launch.kept_results() == 16 * MIB
    _launch.keep_results(3 * MIB)
    assert _launch.kept_results() == 3 * MIB


def test_a_handler_that_somebody_chose_stays(fill: Compiled) -> None:
    python, bytes_of_a_handler = ctypes.pythonapi, 168
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    python.PyCapsule_New.restype = ctypes.py_object
    python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    api = python.PyCapsule_GetPointer(np._core._multiarray_umath._ARRAY_API, None)  # type: ignore[attr-defined]
    table = ctypes.cast(api, ctypes.POINTER(ctypes.c_void_p))
    choose = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[304] or 0)
    default = ctypes.cast(table[306] or 0, ctypes.POINTER(ctypes.py_object))[0]
    pointer = python.PyCapsule_GetPointer(default, b"mem_handler")
    text = ctypes.string_at(pointer, bytes_of_a_handler)
    theirs = ctypes.create_string_buffer(b"somebody\0" + text[9:], bytes_of_a_handler)
    previous = choose(python.PyCapsule_New(ctypes.addressof(theirs), b"mem_handler", None))
    try:
        result = fill(T=size_of(1))
        assert handler_of(result) == "somebody"
        del result
    finally:
        choose(previous)
    assert handler_of(fill(T=size_of(1))) == "polymat_recycle"


def test_results_are_resized(fill: Compiled) -> None:
    for T, length in ((size_of(1), 10), (size_of(1), 3 * MIB), (size_of(2), size_of(2) * 4 - 5)):
        result = fill(T=T)
        result.resize(length, refcheck=False)
        common = min(4 * T, length)
        assert (result[:common] == T).all()
        assert not result[common:].any()
        result[...] = 7
        del result
    empty = fill(T=size_of(1))
    empty.resize(0, refcheck=False)
    assert empty.size == 0


def test_tracemalloc_sees_results(fill: Compiled) -> None:
    fill(T=size_of(4))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = fill(T=size_of(4))
        assert tracemalloc.get_traced_memory()[0] - before > 4 * MIB
        del result
        assert tracemalloc.get_traced_memory()[0] - before < MIB
    finally:
        tracemalloc.stop()


def test_many_threads(fill: Compiled) -> None:
    def work(seed: int) -> bool:
        right = True
        for step in range(20):
            T = size_of(0.5) + seed * 500 + step
            right &= bool((fill(T=T) == T).all())
        return right

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
    assert _launch.kept_results() <= ENOUGH


@pytest.mark.skipif(CHECKED, reason="the tool writes notes of its own")
def test_a_second_call_meets_no_new_page(fill: Compiled) -> None:
    T = size_of(24)
    fill(T=T)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        fill(T=T)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 20


@pytest.mark.skipif(CHECKED or not sys.platform.startswith("linux"), reason="others say nothing of it")
def test_large_results_are_left_to_the_system_now_and_then(fill: Compiled) -> None:
    T = size_of(24)
    where = address(fill(T=T))
    for _ in range(20):
        time.sleep(0.03)
        begin = time.perf_counter()
        fill(T=T)
        assert lazily_freed(where) >= 24 * MIB
        fill(T=T)
        if time.perf_counter() - begin < 0.015:  # unless another process held this one up
            assert lazily_freed(where) == 0


def test_children_have_memory_of_their_own(fill: Compiled) -> None:
    T = size_of(4)
    mine = fill(T=T)
    del (spare := [fill(T=T)])[0]
    child = os.fork()
    if child == 0:
        right = (fill(T=T) == T).all() and (mine == T).all() and spare == []
        os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (mine == T).all()
    assert (fill(T=T) == T).all()


def in_a_process(text: str, path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run with `fill` compiled."""
    begin = """
        import sys, pathlib, resource
        from polymat.runtime import _launch
        from tests.runtime import hand_written as kernels
        fill = kernels.fill(pathlib.Path(sys.argv[1]))
    """
    command = [sys.executable, "-c", textwrap.dedent(begin) + textwrap.dedent(text), str(path)]
    root = Path(__file__).resolve().parents[2]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=root, env={**os.environ, **environment}, timeout=100
    )


@pytest.mark.skipif(CHECKED, reason="the tool needs addresses of its own")
def test_what_is_kept_gives_way(tmp_path: Path) -> None:
    text = """
        T = (48 << 20) // 32
        results = [fill(T=T) for _ in range(3)]
        results.clear()
        assert _launch.kept_results() >= 3 * (48 << 20), _launch.kept_results()
        room = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (room + (40 << 20), room + (40 << 20)))
        assert (fill(T=2 * T) == 2 * T).all()
        assert _launch.kept_results() < 3 * (48 << 20)
    """
    done = in_a_process(text, tmp_path, POLYMAT_KEEP_LIMIT="200", OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr


def test_a_limit_that_means_nothing_is_an_error(tmp_path: Path) -> None:
    text = """
        try:
            fill(T=100000)
        except OSError as error:
            assert "POLYMAT_KEEP_LIMIT is 'much'" in str(error), error
        else:
            raise SystemExit("no error")
        fill(T=10)
    """
    done = in_a_process(text, tmp_path, POLYMAT_KEEP_LIMIT="much")
    assert done.returncode == 0, done.stderr + done.stdout


def test_results_outlive_everything(tmp_path: Path) -> None:
    text = """
        class Late:
            def __init__(self):
                self.result = fill(T=1 << 17)
            def __del__(self):
                assert self.result[-1] == 1 << 17
                print("late")
        sys.modules["late"] = Late()
    """
    done = in_a_process(text, tmp_path, POLYMAT_KEEP_LIMIT="100")
    assert (done.returncode, done.stdout, done.stderr) == (0, "late\n", "")


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recycling, "total_memory", lambda: 80 * MIB)
    for name in ("POLYMAT_KEEP_LIMIT", "LD_PRELOAD"):
        monkeypatch.delenv(name, raising=False)
    assert kept_limit() == 10 * MIB
    monkeypatch.setenv("LD_PRELOAD", "/usr/lib/gcc/libasan.so.8")
    assert kept_limit() == 0
    monkeypatch.setenv("POLYMAT_KEEP_LIMIT", "1.5")
    assert kept_limit() == 3 * MIB // 2
    monkeypatch.setenv("POLYMAT_KEEP_LIMIT", "0")
    assert kept_limit() == 0
    gc.collect()
