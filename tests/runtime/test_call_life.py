"""What surrounds a call: memory, threads, the library, what a pipeline says about itself."""

from __future__ import annotations

import copy
import dataclasses
import gc
import inspect
import os
import subprocess
import sys
import sysconfig
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from polymat.errors import NameClashError, PolymatError, ToolchainError
from polymat.runtime import _launch
from polymat.runtime.compiled import Compiled
from tests.runtime import hand_written as kernels


def counted(*shape: int) -> npt.NDArray[np.float64]:
    """Different small integers, so that sums are exact and a misread element shows."""
    return np.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape)


def test_out_of_memory_in_the_library(directory: Path) -> None:
    with pytest.raises(MemoryError, match=r"exhausted\(\): no memory for intermediate arrays"):
        kernels.exhausted(directory)()


def test_results_that_do_not_fit_into_memory(directory: Path) -> None:
    fill = kernels.fill(directory)
    for size in (2**46, 2**48):
        with pytest.raises(MemoryError):
            fill(T=size)
    with pytest.raises(MemoryError):
        kernels.reverse(directory)(np.broadcast_to(np.float64(1), (2**48,)))


def test_calls_are_vectorcalls(mm: Compiled) -> None:
    have_vectorcall = 1 << 11
    assert type(mm).__flags__ & have_vectorcall

    class WithCall(_launch.Launcher):
        def __call__(self, *args: Any, **kwargs: Any) -> int:
            return 1

    for wrong in (int, WithCall, 3):
        with pytest.raises(TypeError, match="expected a subclass of Launcher"):
            _launch.enable_vectorcall(wrong)  # type: ignore[type-var]


def test_sixteen_threads_at_once(mm: Compiled, axpy: Compiled) -> None:
    def work(seed: int) -> bool:
        a, b = counted(5, seed + 1), counted(seed + 1, 7)
        expected, out = a @ b, np.empty((5, 7))
        right = True
        for _ in range(300):
            right &= np.array_equal(mm(a, b), expected)
            right &= np.array_equal(mm(a, np.asfortranarray(b), out=out), expected)
            right &= np.array_equal(axpy(float(seed), a[0], b[:, 0]), seed * a[0] + b[:, 0])
        return right

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(work, range(16)))


def test_hard_work_releases_the_interpreter(directory: Path) -> None:
    sleeper = kernels.sleeper(directory)
    steps: list[float] = []
    thread = threading.Thread(target=sleeper, args=(np.array([0.5]),))
    thread.start()
    while thread.is_alive():
        steps.append(time.monotonic())
        time.sleep(0.001)
    thread.join()
    assert len(steps) > 5


def test_number_of_threads(directory: Path) -> None:
    free, fixed = kernels.team(directory, 0), None
    default = _launch.get_num_threads()
    try:
        _launch.set_num_threads(5)
        assert free() == 5
        previous = _launch.push_threads(3)
        assert previous == 0
        assert (_launch.get_num_threads(), free()) == (3, 3)
        inner = _launch.push_threads(2)
        assert (inner, free()) == (3, 2)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(free).result() == 5
        _launch.pop_threads(inner)
        assert free() == 3
        fixed_directory = directory / "fixed"
        fixed_directory.mkdir()
        fixed = kernels.team(fixed_directory, 7)
        assert fixed() == 3
        _launch.pop_threads(previous)
        assert (free(), fixed(), _launch.get_num_threads()) == (5, 7, 5)
    finally:
        _launch.pop_threads(0)
        _launch.set_num_threads(default)


@pytest.mark.parametrize("wrong", [0, -1, 2**31])
def test_impossible_numbers_of_threads(wrong: int) -> None:
    with pytest.raises(ValueError, match="number of threads"):
        _launch.set_num_threads(wrong)
    with pytest.raises(ValueError, match="number of threads"):
        _launch.push_threads(wrong)
    with pytest.raises(TypeError):
        _launch.set_num_threads("2")  # type: ignore[arg-type]


def _resident_kib() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer keeps freed memory")
def test_nothing_is_leaked(mm: Compiled, axpy: Compiled) -> None:
    a, b, out = counted(4, 4), counted(4, 4), np.empty((4, 4))
    strange = np.asfortranarray(b)

    def calls(count: int) -> None:
        for _ in range(count):
            mm(a, b, out=out)
            mm(a, strange, out=out.T)
            mm(A=a, B=b)
            axpy(2, a[0], b[0])
            with pytest.raises(PolymatError):
                mm(a, None)

    calls(200)
    gc.collect()
    objects = (a, b, out, strange, mm, np.dtype(np.float64), None)
    counts, resident = [sys.getrefcount(item) for item in objects], _resident_kib()
    calls(2000)
    for _ in range(100_000):
        mm(a, b, out=out)
        mm(a, strange)
    gc.collect()
    after = [sys.getrefcount(item) for item in objects]
    assert all(abs(new - old) < 50 for new, old in zip(after, counts, strict=True))
    assert _resident_kib() - resident < 2048


def test_a_library_is_closed_with_its_pipeline(tmp_path: Path) -> None:
    compiled = kernels.reverse(tmp_path)
    path, reference = compiled.path, weakref.ref(compiled)
    assert path in Path("/proc/self/maps").read_text()
    del compiled
    gc.collect()
    assert reference() is None
    assert path not in Path("/proc/self/maps").read_text()


def test_signature_for_people(axpy: Compiled, directory: Path) -> None:
    assert str(inspect.signature(axpy)) == "(alpha, X, Y, *, out=None)"
    assert axpy.__doc__ is not None
    assert axpy.__doc__.startswith("axpy(alpha, X, Y, *, out=None)\n")
    assert repr(axpy) == "<polymat axpy(alpha: float64, X: float64 (N,), Y: float64 (N,)) -> Z: float64 (N,)>"
    assert str(inspect.signature(kernels.fill(directory))) == "(*, T, out=None)"


def test_copies_are_the_pipeline_itself(axpy: Compiled) -> None:
    assert copy.copy(axpy) is axpy
    assert copy.deepcopy([axpy])[0] is axpy


def test_reference_gets_checked_arguments(directory: Path) -> None:
    seen: list[Any] = []

    def interpret(inputs: Any, scalars: Any, sizes: Any) -> list[Any]:
        seen.append((sorted(inputs), dict(scalars), dict(sizes)))
        return [inputs["A"] @ inputs["B"]]

    mm = kernels.mm(directory, reference=interpret, report="all good")
    a, b = counted(2, 3), counted(3, 4)
    np.testing.assert_array_equal(mm.reference(a, B=b), a @ b)
    assert seen == [(["A", "B"], {}, {"M": 2, "K": 3, "N": 4})]
    assert mm.explain() == "all good"
    with pytest.raises(PolymatError, match=r"mm\(\): argument B is missing"):
        mm.reference(a)
    with pytest.raises(PolymatError, match="takes no out="):
        mm.reference(a, b, out=np.empty((2, 4)))


def test_libraries_that_cannot_be_opened(tmp_path: Path, mm: Compiled) -> None:
    with pytest.raises(ToolchainError, match=r"cannot load the library of mm: .*missing\.so"):
        Compiled(tmp_path / "missing.so", mm.signature)
    foreign = kernels.build(tmp_path, mm.signature, "", flags=("-D_pm_work=other",))
    with pytest.raises(ToolchainError, match="not a library of polymat"):
        Compiled(foreign, mm.signature)


def test_names_that_clash(directory: Path, mm: Compiled) -> None:
    def renamed(name: str) -> Any:
        first, second = mm.signature.inputs
        inputs = (dataclasses.replace(first, name=name), second)
        return dataclasses.replace(mm.signature, inputs=inputs, order=(name, "B"))

    for name, text in (("out", "out= stands for the output"), ("B", "two arguments are called B")):
        with pytest.raises(NameClashError, match=text):
            Compiled(mm.path, renamed(name))
    keyword = Compiled(mm.path, renamed("lambda"))
    np.testing.assert_array_equal(keyword(**{"lambda": np.eye(2), "B": np.eye(2)}), np.eye(2))
    assert str(inspect.signature(keyword)) == "(*args, **kwargs)"


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer needs addresses")
def test_a_missing_gigabyte_has_a_name(tmp_path: Path) -> None:
    script = f"""
import pathlib, resource, numpy as np
from tests.runtime import hand_written
fill = hand_written.axpy(pathlib.Path({str(tmp_path)!r}))
x = np.broadcast_to(np.ones(1), 1 << 31)
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
try:
    fill(2.0, x, x)
except MemoryError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == f"axpy(): no memory for a contiguous copy of X, {8 << 31} bytes\n"


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a global lock")
def test_the_global_lock_stays_off() -> None:
    """The call path says that it needs none; an extension that does not switches it on for all."""
    script = "import sys, polymat.runtime.compiled; print(sys._is_gil_enabled())"
    command = [sys.executable, "-W", "error", "-c", script]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"


WITH_AN_ARRAY_BETWEEN = """
import resource, numpy as np
import polymat as pm
from polymat import Double, Function, Int, Interval, Parameter, Variable, Vector
N = Parameter(Int, "N")
x, i = Vector(Double, "x", [N]), Variable(Int, "i")
whole = Interval(Int, 0, N - 1)
f = Function(([i], [whole]), Double, "f")
f.defn = [x(i) + 1]
g = Function(([i], [whole]), Double, "g")
g.defn = [f(i) + f(N - 1 - i)]
run = pm.compile(g, options=pm.Options(fuse=False, inline=False, threads=1))
def pages(which):
    return int(open("/proc/self/statm").read().split()[which]) * resource.getpagesize()
"""


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer needs addresses")
def test_missing_intermediate_arrays_have_a_size() -> None:
    script = f"""{WITH_AN_ARRAY_BETWEEN}
data = np.zeros(1 << 28)
used = pages(0)
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), used + (1 << 30)))
try:
    run(data, out=data)
except MemoryError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    told, _, count = ran.stdout.removesuffix(" bytes\n").rpartition(" ")
    assert told == "g(): no memory for the intermediate array f,"
    assert 8 << 28 <= int(count) <= (8 << 28) + 4096  # lines of the cache


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer keeps freed memory")
def test_the_workspace_of_a_huge_call_goes_back() -> None:
    """With the next call that needs little of it; that of a large one, below 16 MiB, is kept."""
    script = f"""{WITH_AN_ARRAY_BETWEEN}
few = np.ones(50_000)
run(few)
for mib in 64, 8:
    data = np.ones(mib << 17)
    out = data.copy()
    before = pages(1)
    run(data, out=out)
    used = pages(1) - before
    run(few)
    print(used >> 20, pages(1) - before >> 20)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    huge, large = ([int(word) for word in line.split()] for line in ran.stdout.splitlines())
    assert huge[0] >= 48 > 16 > huge[1]
    assert large[0] >= 4
    assert large[1] >= 4
