"""Real pipelines in many processes and threads at once, after damage, after a fork, and beside other code."""

from __future__ import annotations

import ctypes
import gc
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import polymat as pm
from polymat import (
    Condition,
    Double,
    Function,
    Int,
    Interval,
    Matrix,
    Op,
    Parameter,
    Reduce,
    Reduction,
    Variable,
    Vector,
)
from tests.compilers import plain_gcc

ROOT = Path(__file__).resolve().parents[2]
Doubles = npt.NDArray[np.float64]

PROGRAM = """
import os, sys
import numpy as np
import polymat as pm
from polymat import *
from polymat.runtime.logs import configure_logging

configure_logging()
N = Parameter(Int, "N")
i = Variable(Int, "i")
x, A = Vector(Double, "x", [N]), Matrix(Double, "A", [N, N])


def pipelines():
    scan = Function(([i], [Interval(Int, 0, N - 1)]), Double, "scan")
    scan.defn = [Case(Condition(i, "==", 0), x(0)), Case(Condition(i, ">", 0), scan(i - 1) + x(i))]
    yield pm.compile((A @ A + A.T).named("square")), lambda a: a @ a + a.T, np.arange(9.0).reshape(3, 3)
    yield pm.compile((x + x).named("twice")), lambda v: v + v, np.arange(5.0)
    yield pm.compile(scan), np.add.accumulate, np.arange(6.0)


def check():
    for compiled, reference, argument in pipelines():
        assert np.array_equal(compiled(argument), reference(argument)), compiled.__name__
"""


def start(directory: Path, program: str, **environment: str) -> subprocess.Popen[str]:
    """A process of its own; how well the C compiler does is not the subject."""
    variables = {"POLYMAT_CACHE_DIR": str(directory), "PYTHONPATH": str(ROOT), **plain_gcc(), **environment}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM + program],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    """What a process wrote to stderr; it must have ended well."""
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    return errors


def stored(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.so"))


@pytest.mark.turns(2)
def test_six_processes_fill_one_empty_cache(tmp_path: Path) -> None:
    directory = tmp_path / "cache"
    running = [start(directory, "check()", POLYMAT_LOG="cache") for _ in range(6)]
    logs = [finish(process) for process in running]
    assert len(stored(directory)) == 3
    parts = len(list(directory.glob("*.o")))  # of the product, which other programs may have as well
    assert parts > 0
    assert sum(log.count("polymat.cache: stored ") for log in logs) == 3 + parts
    known = ("lock-", "part-", "libraries")  # private copies of BLAS libraries have a directory of their own
    left = sorted(p.suffix for p in directory.iterdir() if not p.name.startswith(known))
    assert left == [".o"] * parts + [".so"] * 3


def bit_flipped(data: bytes) -> bytes:
    place = len(data) // 3
    return data[:place] + bytes([data[place] ^ 64]) + data[place + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda data: b"",
    "cut in half": lambda data: data[: len(data) // 2],
    "bit flipped": bit_flipped,
}


@pytest.mark.turns(2)
def test_a_damaged_cache_is_healed_by_the_next_process(tmp_path: Path) -> None:
    """Each of its files is damaged in another way."""
    directory = tmp_path / "cache"
    finish(start(directory, "check()"))
    whole = {path: path.read_bytes() for path in stored(directory)}
    for (path, data), damage in zip(whole.items(), DAMAGES.values(), strict=True):
        path.write_bytes(damage(data))
    errors = finish(start(directory, "check()"))
    assert all(f"ignored {path}: damaged, will be rebuilt" in errors for path in whole)
    assert stored(directory) == list(whole)
    assert finish(start(directory, "check()")) == ""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


N, M = Parameter(Int, "N"), Parameter(Int, "M")
i, j = Variable(Int, "i"), Variable(Int, "j")
x = Vector(Double, "x", [N])
A = Matrix(Double, "A", [M, N])


def halves() -> pm.Compiled:
    f = Function(([i], [Interval(Int, 0, N - 1)]), Double, "halves")
    f.defn = x(i) / 2
    return pm.compile(f)


def smooth(options: pm.Options | None = None) -> pm.Compiled:
    """Some stages with a workspace between them, all over rows of a matrix."""
    inner = [Interval(Int, 0, M - 1), Interval(Int, 1, N - 2)]
    first = Function(([i, j], inner), Double, "first")
    first.defn = A(i, j - 1) + A(i, j + 1)
    sums = Reduction(([i], inner[:1]), ([i, j], inner), Double, "sums")
    sums.defn = [Reduce(sums(i), first(i, j) * first(i, N - 1 - j), Op.Sum)]
    result = Function(([i, j], inner), Double, "smooth")
    result.defn = first(i, j) - sums(i)
    return pm.compile(result, options=options or pm.Options(), constraints=[Condition(N, ">=", 3)])


def smoothed(a: Doubles) -> Doubles:
    first = np.zeros_like(a[:, :-1])
    first[:, 1:] = a[:, :-2] + a[:, 2:]
    inner = first[:, 1:]
    return np.concatenate([first[:, :1], inner - (inner * inner[:, ::-1]).sum(axis=1)[:, None]], axis=1)


@pytest.mark.filterwarnings("default")
def test_random_damage_is_healed_in_one_process(cache: Path, seed: int) -> None:
    draw = random.Random(seed)
    halves()
    (path,) = stored(cache)
    whole = path.read_bytes()
    for _ in range(8):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 20)):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        path.write_bytes(data[: draw.choice([len(data), draw.randrange(len(data))])])
        gc.collect()
        assert np.array_equal(halves()(np.arange(4.0)), [0, 0.5, 1, 1.5])
        assert path.read_bytes() == whole


def test_a_cache_that_vanishes_takes_nothing_with_it(cache: Path) -> None:
    compiled = halves()
    for path in cache.iterdir():
        path.unlink()
    cache.rmdir()
    assert np.array_equal(compiled(np.arange(3.0)), [0, 0.5, 1])
    assert np.array_equal(halves()(np.arange(3.0)), [0, 0.5, 1])
    assert len(stored(cache)) == 1


def test_a_fork_after_use(tmp_path: Path) -> None:
    program = """
big = np.arange(1e6)
ready = [compiled for compiled, _, _ in pipelines()]
twice = ready[1]
with pm.threads(2):
    expected = twice(big)
    for generation in range(3):
        child = os.fork()
        if child == 0:
            good = np.array_equal(twice(big), expected) and np.array_equal(twice(big[:7]), expected[:7])
            check()
            os._exit(0 if good else 3)
        _, status = os.waitpid(child, 0)
        assert status == 0, status
        assert np.array_equal(twice(big), expected)
"""
    finish(start(tmp_path / "cache", program))


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Run `work(number)` in threads that start together; what any of them raises is raised here."""
    gate = threading.Barrier(count)
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            gate.wait()
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for failure in failures:
        raise failure


@pytest.mark.parametrize("team", [1, 2])
def test_sixteen_threads_call_one_pipeline(team: int) -> None:
    compiled = smooth(pm.Options(threads=team, parallel_threshold=1))
    rng = np.random.default_rng(7)
    arrays = [rng.integers(-8, 9, (3 + n, 50 + 7 * n)).astype(float) for n in range(16)]
    expected = [smoothed(a) for a in arrays]

    def work(number: int) -> None:
        out = np.zeros_like(expected[number])
        for turn in range(60):
            a = arrays[(number + turn) % 16]
            right = expected[(number + turn) % 16]
            assert np.array_equal(compiled(a), right)
            if turn % 16 == 0:
                assert compiled(arrays[number], out=out) is out
                assert np.array_equal(out, expected[number])

    in_threads(16, work)


def test_threads_compile_and_call_at_once(cache: Path) -> None:
    values = np.arange(12.0).reshape(3, 4)

    def work(number: int) -> None:
        compiled = smooth() if number % 2 else halves()
        argument = values if number % 2 else values[0]
        expected = smoothed(values) if number % 2 else values[0] / 2
        assert np.array_equal(compiled(argument), expected)

    in_threads(6, work)
    assert len(stored(cache)) == 2


@pytest.fixture
def restored_threads() -> Iterator[None]:
    before = pm.get_num_threads()
    yield
    pm.set_num_threads(before)


@pytest.mark.usefixtures("restored_threads")
def test_the_number_of_threads_changes_no_number() -> None:
    a = np.random.default_rng(3).uniform(-1, 1, (400, 300))
    compiled = smooth()
    pm.set_num_threads(1)
    one = compiled(a)
    for count in (2, 3, 8):
        pm.set_num_threads(count)
        assert pm.get_num_threads() == count
        assert np.array_equal(compiled(a), one)
    with pm.threads(5):
        assert np.array_equal(compiled(a), one)
        with pm.threads(1):
            assert pm.get_num_threads() == 1
            assert np.array_equal(compiled(a), one)
        assert pm.get_num_threads() == 5
    assert pm.get_num_threads() == 8
    assert np.array_equal(smooth(pm.Options(threads=2))(a), one)
    assert np.array_equal(smooth(pm.Options(threads=1))(a), one)


@pytest.mark.usefixtures("restored_threads")
def test_an_exception_inside_the_context_restores_the_number() -> None:
    pm.set_num_threads(3)
    with pytest.raises(pm.ArgumentError), pm.threads(2):
        halves()(np.zeros((2, 2)))
    assert pm.get_num_threads() == 3


def float_environment() -> tuple[Any, ...]:
    """Rounding, flush-to-zero and the masks of the present thread; not the flags that arithmetic sets."""
    libm = ctypes.CDLL("libm.so.6")
    state = (ctypes.c_ubyte * 64)()
    libm.fegetenv(ctypes.byref(state))
    if os.uname().machine != "x86_64":
        return (libm.fegetround(),)
    control = int.from_bytes(state[:2], "little")
    mxcsr = int.from_bytes(state[28:32], "little") & ~0x3F
    return (libm.fegetround(), control, mxcsr)


def test_the_floating_point_environment_stays_as_it_was() -> None:
    before = float_environment()
    tiny = 5e-324
    compiled = halves()
    assert float_environment() == before
    values = np.array([tiny * 2, tiny * 7, 2.2250738585072014e-308, np.inf, np.nan, -0.0] * 40_000)
    for team in (1, 2):
        with pm.threads(team):
            assert compiled(values).tobytes() == (values / 2).tobytes()
    assert float_environment() == before
    assert repr(tiny) == "5e-324"
    assert np.float64(tiny) * 1.0 == tiny
    fast = pm.Options(cflags=("-ffast-math",))
    f = Function(([i], [Interval(Int, 0, N - 1)]), Double, "fast")
    f.defn = x(i) / 4
    pm.compile(f, options=fast)(np.ones(3))
    assert float_environment() == before


def test_another_rounding_mode_is_kept_during_a_call() -> None:
    libm = ctypes.CDLL("libm.so.6")
    upward = {"x86_64": 0x800, "aarch64": 0x400000}.get(os.uname().machine)
    if upward is None:
        pytest.skip("the number of FE_UPWARD is not known here")
    f = Function(([i], [Interval(Int, 0, N - 1)]), Double, "third")
    f.defn = x(i) / 3
    compiled = pm.compile(f)
    nearest = libm.fegetround()
    try:
        assert libm.fesetround(upward) == 0
        result = compiled(np.ones(4))
        kept = libm.fegetround()
    finally:
        libm.fesetround(nearest)
    assert kept == upward
    assert np.all(result == np.nextafter(1 / 3, 1))
