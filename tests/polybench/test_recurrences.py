"""PolyBench's recurrences, compiled, against golden data, SciPy and the interpreter.

PolyBench's own data are a fixed point of seidel-2d and heat-3d and nearly one of the jacobi kernels, so
random data go beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from benchmarks.polybench import RECURRENCES, find_kernel
from benchmarks.polybench.kernel import Array, Arrays, Kernel, Sizes
from tests.polybench.golden import GOLDEN_DATASETS, assert_golden
from tests.polybench.indexorder import gramschmidt

EACH = pytest.mark.parametrize("kernel", RECURRENCES, ids=lambda kernel: kernel.name)
TIMED = [kernel for kernel in RECURRENCES if "T" in kernel.sizes["MINI"]]
# Nothing, one element, fewer points than the stencils reach, one interior point, and odd sizes.
EXTENTS = ((0, 0), (1, 1), (2, 3), (3, 2), (4, 4), (7, 5), (19, 23))
LEAST = {"durbin": 1, "correlation": 1, "covariance": 2}
"""The least N for which a problem has a solution."""
LONG = 100_000
"""Steps of which a whole history would take 60 MB at least."""
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


@pytest.mark.parametrize("kernel", TIMED, ids=lambda kernel: kernel.name)
def test_no_history_is_kept(kernel: Kernel, seed: int) -> None:
    extents = (8, 10) if kernel.name == "heat-3d" else (12, 9)
    sizes = odd_sizes(kernel, LONG, extents if kernel.name != "jacobi-1d" else (80,))
    arrays = random_inputs(kernel, sizes, seed)
    call = compiled(kernel.name)
    try:
        Path("/proc/self/clear_refs").write_text("5")  # forgets the largest size so far
    except OSError:
        pytest.skip("the high-water mark of memory cannot be set back here")
    before = memory("VmRSS")
    with pm.threads(1):
        call(*arrays.values(), **kernel.counted(sizes))
    assert memory("VmHWM") - before < 16_000
