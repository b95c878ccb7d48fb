"""PolyBench's recurrences, compiled, against golden data, SciPy and the interpreter.

PolyBench's own data are a fixed point of seidel-2d and heat-3d and nearly one of the jacobi kernels, so
random data go beside them.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from benchmarks.polybench import RECURRENCES, find_kernel
from benchmarks.polybench.kernel import Array, Arrays, Kernel, Sizes, inside
from tests.polybench.golden import GOLDEN_DATASETS, assert_golden
from tests.polybench.indexorder import gramschmidt

EACH = pytest.mark.parametrize("kernel", RECURRENCES, ids=lambda kernel: kernel.name)
TIMED = [kernel for kernel in RECURRENCES if "T" in kernel.sizes["MINI"]]
# Nothing, one element, fewer points than the stencils reach, one interior point, and odd sizes.
EXTENTS = ((0, 0), (1, 1), (2, 3), (3, 2), (4, 4), (7, 5), (19, 23))
LEAST = {"durbin": 1, "correlation": 1, "covariance": 2}
"""The least N for which a problem has a solution."""
LARGE = {"jacobi-1d": (500_001,), "heat-3d": (80,)}
"""Extents of states of some megabytes, where 700 by 701 are not."""
MMAP_THRESHOLD = -3  # of mallopt
Generator = np.random.Generator


def dominant(rng: Generator, shape: tuple[int, ...]) -> Array:
    return rng.uniform(-1, 1, shape) + shape[0] * np.eye(shape[0])


def definite(rng: Generator, shape: tuple[int, ...]) -> Array:
    A = rng.uniform(-1, 1, shape)
    product: Array = A @ A.T + len(A) * np.eye(len(A))
    return product


# By kernel, for its first array: values for which the problem is well conditioned.
CONDITIONED: dict[str, Callable[[Generator, tuple[int, ...]], Array]] = {
    "lu": dominant,
    "ludcmp": dominant,
    "trisolv": dominant,
    "cholesky": definite,
    "gramschmidt": lambda rng, shape: rng.uniform(-1, 1, shape) + np.eye(shape[0], shape[1]),
    "durbin": lambda rng, shape: rng.uniform(-1, 1, shape) / shape[0],
    "floyd-warshall": lambda rng, shape: rng.integers(1, 1000, shape, dtype=np.int32),
    "nussinov": lambda rng, shape: rng.integers(0, 4, shape, dtype=np.int8),
}


def random_inputs(kernel: Kernel, sizes: Sizes, seed: int) -> Arrays:
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):  # PolyBench divides by sizes, which may be 0 here
        like = kernel.inputs(sizes)
    arrays = {name: rng.uniform(-1, 1, array.shape).astype(array.dtype) for name, array in like.items()}
    if kernel.name in CONDITIONED:
        first = next(iter(arrays))
        arrays[first] = CONDITIONED[kernel.name](rng, arrays[first].shape)
    return kernel.poisoned(arrays)


def odd_sizes(kernel: Kernel, steps: int, extents: tuple[int, ...]) -> Sizes:
    names = [name for name in kernel.sizes["MINI"] if name != "T"]
    return {**({"T": steps} if kernel in TIMED else {}), **dict(zip(names, extents, strict=False))}


@cache
def compiled(name: str) -> Any:
    return find_kernel(name).compile()


def run(kernel: Kernel, arrays: Arrays, sizes: Sizes) -> Arrays:
    results = compiled(kernel.name)(*arrays.values(), **kernel.counted(sizes))
    results = results if isinstance(results, tuple) else (results,)
    return dict(zip(kernel.solve(arrays, sizes), results, strict=True))


def assert_solves(kernel: Kernel, results: Arrays, arrays: Arrays, sizes: Sizes) -> None:
    assert all(array.dtype == kernel.dtype for array in results.values())
    assert kernel.error(tuple(results.values()), arrays, sizes) <= 1


@pytest.mark.covering
@pytest.mark.parametrize("dataset", GOLDEN_DATASETS)
@EACH
def test_compiled_on_polybench_data(kernel: Kernel, dataset: str) -> None:
    sizes = kernel.sizes[dataset]
    arrays = kernel.poisoned(kernel.inputs(sizes))
    results = run(kernel, arrays, sizes)
    assert_solves(kernel, results, arrays, sizes)
    if kernel.name == "gramschmidt":  # all of it has a signature only in the order of the suite's sums
        exact = gramschmidt(arrays["A"])
        assert_golden(exact, kernel.name, dataset)
        for name, values in kernel.sound(exact).items():
            np.testing.assert_allclose(kernel.sound(results)[name], values, rtol=1e-11, atol=1e-11)
    else:
        assert_golden(kernel.printed(results), kernel.name, dataset)


@pytest.mark.parametrize("extents", EXTENTS, ids=lambda extents: "x".join(map(str, extents)))
@EACH
def test_compiled_solves_random_problems(kernel: Kernel, extents: tuple[int, ...], seed: int) -> None:
    sizes = odd_sizes(kernel, 3, extents)
    if sizes.get("N", 0) < LEAST.get(kernel.name, 0):
        return
    arrays = random_inputs(kernel, sizes, seed)
    assert_solves(kernel, run(kernel, arrays, sizes), arrays, sizes)


@EACH
def test_compiled_solves_a_larger_random_problem(kernel: Kernel, seed: int) -> None:
    sizes = odd_sizes(kernel, 11, (67, 41))
    arrays = random_inputs(kernel, sizes, seed)
    assert_solves(kernel, run(kernel, arrays, sizes), arrays, sizes)


@pytest.mark.parametrize("steps", [0, 1])
@pytest.mark.parametrize("kernel", TIMED, ids=lambda kernel: kernel.name)
def test_steps_are_counted(kernel: Kernel, steps: int, seed: int) -> None:
    """A fixed point would hide a wrong number of steps."""
    sizes = odd_sizes(kernel, steps, (12, 9))
    arrays = random_inputs(kernel, sizes, seed)
    results = run(kernel, arrays, sizes)
    assert_solves(kernel, results, arrays, sizes)
    if kernel.counts:
        other = kernel.solve(arrays, {**sizes, "T": steps + 1})
        assert all(np.max(np.abs(results[name] - other[name])) > 1e-6 for name in results)


@pytest.mark.covering
@pytest.mark.parametrize("extents", [(2, 2), (4, 3), (9, 7)], ids=lambda extents: "x".join(map(str, extents)))
@EACH
def test_interpreter_solves_random_problems(kernel: Kernel, extents: tuple[int, ...], seed: int) -> None:
    sizes = odd_sizes(kernel, 3, extents)
    arrays = random_inputs(kernel, sizes, seed)
    found = compiled(kernel.name).reference(*arrays.values(), **kernel.counted(sizes))
    results = dict(
        zip(kernel.solve(arrays, sizes), found if isinstance(found, tuple) else (found,), strict=True)
    )
    assert_solves(kernel, results, arrays, sizes)


def memory(what: str) -> int:
    """Of this process, kB: "VmRSS" now, "VmHWM" at most."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what))


def taken(call: Callable[[], Any]) -> int:
    """Bytes that a call takes at most beside its arguments.

    Large arrays come from the system and go back to it, so that none takes the place of an earlier one.
    """
    ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, 1 << 17)
    try:
        Path("/proc/self/clear_refs").write_text("5")  # forgets the largest size so far
    except OSError:
        pytest.skip("the high-water mark of memory cannot be set back here")
    before = memory("VmRSS")
    with pm.threads(1):
        call()
    return 1024 * (memory("VmHWM") - before)


def planes(report: Any) -> int:
    """How many states are kept at a time, as `explain()` says."""
    kept = {}
    for group in report.groups:
        for name in (name for name, place in group.storage.items() if place == "workspace"):
            told = re.match(r"(\d+) of", group.folds.get(name, "1 of"))
            assert told, group.folds[name]
            kept[name] = int(told[1])
    return sum(kept.values())


@pytest.mark.parametrize("kernel", TIMED, ids=lambda kernel: kernel.name)
def test_memory_is_that_of_arrays_and_folded_states(kernel: Kernel, seed: int) -> None:
    """A history of all steps would be several times as much."""
    sizes = odd_sizes(kernel, 40, LARGE.get(kernel.name, (700, 701)))
    arrays = random_inputs(kernel, sizes, seed)
    call = compiled(kernel.name)
    given = sum(array.nbytes for array in arrays.values())
    state = next(iter(arrays.values())).nbytes
    states = len(call.signature.outputs) + planes(call.explain())
    most = 1.1 * (given + states * state)
    assert most < 0.5 * 40 * state
    assert given + taken(lambda: call(*arrays.values(), **kernel.counted(sizes))) <= most


def test_heat_takes_two_states_beside_its_arrays() -> None:
    N, T = pm.Parameter(pm.Int, "N"), pm.Parameter(pm.Int, "T")
    i, j, span = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j"), pm.Interval(pm.Int, 0, N - 1)

    def step(u: Any) -> pm.Function:
        after = pm.Function(([i, j], [span, span]), pm.Double, "after", default=u(i, j))
        near = u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0 * u(i, j)
        after.defn = [pm.Case(inside(N, i, j), u(i, j) + 0.2 * near)]
        return after

    heat = pm.iterate(step, pm.Matrix(pm.Double, "start", [N, N]), steps=T)
    options = pm.Options(cflags=("-O1",))
    call = pm.compile(heat, name="heat_2d", estimates={N: 1000, T: 10_000}, options=options)
    start = np.random.default_rng(0).random((1000, 1000))
    assert taken(lambda: call(start, T=40)) - start.nbytes <= 20 << 20
