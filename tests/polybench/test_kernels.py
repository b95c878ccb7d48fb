"""The compiled kernels, in each way of writing, against NumPy, the interpreter and the golden data."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest

from benchmarks.polybench import PRODUCTS, find_kernel
from benchmarks.polybench.kernel import Array, Arrays, Kernel, Sizes
from tests.polybench.golden import GOLDEN_DATASETS, assert_golden
from tests.tolerance import assert_close


def each_way(kernels: Iterable[Kernel]) -> pytest.MarkDecorator:
    """Run a test for every kernel and every way it is written."""
    ways = [pytest.param(k, way, id=f"{k.name}-{way}") for k in kernels for way in k.builds]
    return pytest.mark.parametrize(("kernel", "way"), ways)


EACH_WAY = each_way(PRODUCTS)
EACH_WAY_IN_PLACE = each_way(kernel for kernel in PRODUCTS if kernel.inplace)
# Edges first: a dimension of 0 or 1, then numbers that no tile size divides.
ODD_EXTENTS = ((0, 0, 0, 0, 0), (1, 1, 1, 1, 1), (0, 3, 5, 2, 4), (5, 0, 3, 4, 1), (1, 7, 2, 1, 3),
               (7, 1, 0, 3, 0), (13, 17, 11, 7, 19), (33, 31, 65, 16, 9))  # fmt: skip


@cache
def compiled(name: str, way: str) -> Any:
    return find_kernel(name).compile(way)


def odd_sizes(kernel: Kernel, extents: tuple[int, ...]) -> Sizes:
    names = kernel.sizes["MINI"]
    return dict(zip(names, extents, strict=False))


def random_inputs(kernel: Kernel, sizes: Sizes, seed: int) -> Arrays:
    """Values of both signs, in the shapes of the kernel's own inputs."""
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):  # PolyBench divides by sizes, which may be 0 here
        shapes = {name: array.shape for name, array in kernel.inputs(sizes).items()}
    return {name: rng.uniform(-1, 1, shape) for name, shape in shapes.items()}


def run(kernel: Kernel, way: str, arrays: Arrays, *, interpret: bool = False, **options: Any) -> Arrays:
    """Results by name."""
    call = compiled(kernel.name, way)
    results = (call.reference if interpret else call)(*arrays.values(), **kernel.scalars, **options)
    results = results if isinstance(results, tuple) else (results,)
    names = kernel.reference(arrays)
    return dict(zip(names, results, strict=True))


def assert_solves(kernel: Kernel, results: Arrays, arrays: Arrays, sizes: Sizes) -> None:
    """Compare with NumPy within gamma_n |A| |B|, which is the same computation on magnitudes."""
    expected = kernel.reference(arrays)
    magnitudes = kernel.reference({name: np.abs(array) for name, array in arrays.items()})
    for name, values in expected.items():
        assert_close(
            results[name],
            values,
            roundings=kernel.roundings(sizes),
            magnitude=magnitudes[name],
            name=f"{kernel.name} {name}",
        )


@pytest.mark.parametrize("dataset", GOLDEN_DATASETS)
@EACH_WAY
def test_compiled_on_polybench_data(kernel: Kernel, way: str, dataset: str) -> None:
    sizes = kernel.sizes[dataset]
    arrays = kernel.poisoned(kernel.inputs(sizes))
    results = run(kernel, way, arrays)
    assert_solves(kernel, results, arrays, sizes)
    assert_golden(results, kernel.name, dataset)


@EACH_WAY
def test_interpreter_on_polybench_data(kernel: Kernel, way: str) -> None:
    sizes = kernel.sizes["MINI"]
    arrays = kernel.poisoned(kernel.inputs(sizes))
    results = run(kernel, way, arrays, interpret=True)
    assert_solves(kernel, results, arrays, sizes)
    assert_golden(results, kernel.name, "MINI")


@EACH_WAY
def test_compiled_at_medium_size(kernel: Kernel, way: str, seed: int) -> None:
    sizes = kernel.sizes["MEDIUM"]
    arrays = kernel.poisoned(random_inputs(kernel, sizes, seed))
    assert_solves(kernel, run(kernel, way, arrays), arrays, sizes)


@pytest.mark.parametrize("extents", ODD_EXTENTS, ids=lambda extents: "x".join(map(str, extents)))
@EACH_WAY
def test_compiled_at_odd_sizes(kernel: Kernel, way: str, extents: tuple[int, ...], seed: int) -> None:
    sizes = odd_sizes(kernel, extents)
    arrays = kernel.poisoned(random_inputs(kernel, sizes, seed))
    assert_solves(kernel, run(kernel, way, arrays), arrays, sizes)


@pytest.mark.parametrize("extents", ODD_EXTENTS[:7], ids=lambda extents: "x".join(map(str, extents)))
@EACH_WAY
def test_interpreter_at_odd_sizes(kernel: Kernel, way: str, extents: tuple[int, ...], seed: int) -> None:
    sizes = odd_sizes(kernel, extents)
    arrays = kernel.poisoned(random_inputs(kernel, sizes, seed))
    assert_solves(kernel, run(kernel, way, arrays, interpret=True), arrays, sizes)


def outputs_in_place(kernel: Kernel, arrays: Arrays) -> Array | tuple[Array, ...]:
    targets = tuple(arrays[kernel.inplace[name]] for name in kernel.reference(arrays))
    return targets if len(targets) > 1 else targets[0]


@EACH_WAY_IN_PLACE
def test_compiled_in_place(kernel: Kernel, way: str, seed: int) -> None:
    """PolyBench's own convention: the result replaces an input."""
    sizes = kernel.sizes["MINI"]
    arrays = random_inputs(kernel, sizes, seed)
    before = {name: array.copy() for name, array in arrays.items()}
    results = run(kernel, way, arrays, out=outputs_in_place(kernel, arrays))
    assert_solves(kernel, results, before, sizes)
    for name, array in arrays.items():
        if name in kernel.inplace.values():
            np.testing.assert_array_equal(array, results[name])
        else:
            np.testing.assert_array_equal(array, before[name])


@EACH_WAY
def test_inputs_are_left_alone(kernel: Kernel, way: str, seed: int) -> None:
    arrays = random_inputs(kernel, kernel.sizes["MINI"], seed)
    for array in arrays.values():
        array.flags.writeable = False
    run(kernel, way, arrays)


@EACH_WAY
def test_transposed_inputs(kernel: Kernel, way: str, seed: int) -> None:
    """Column-major arrays are packed, never misread."""
    sizes = kernel.sizes["MINI"]
    arrays = kernel.poisoned(random_inputs(kernel, sizes, seed))
    arrays = {name: np.asfortranarray(array) for name, array in arrays.items()}
    assert_solves(kernel, run(kernel, way, arrays), arrays, sizes)


@EACH_WAY
def test_nan_in_a_read_entry_shows(kernel: Kernel, way: str) -> None:
    """The poisoned runs prove nothing unless NaN gets through where it is read."""
    arrays = kernel.inputs(kernel.sizes["MINI"])
    first = next(iter(arrays.values()))
    first[-1, 0] = np.nan
    with np.errstate(invalid="ignore"):
        assert any(np.isnan(values).any() for values in run(kernel, way, arrays).values())


@EACH_WAY
def test_estimates_do_not_change_the_result(kernel: Kernel, way: str, seed: int) -> None:
    call = kernel.compile(way, estimates=kernel.sizes["LARGE"])
    sizes = kernel.sizes["MINI"]
    arrays = kernel.poisoned(random_inputs(kernel, sizes, seed))
    results = call(*arrays.values(), **kernel.scalars)
    results = results if isinstance(results, tuple) else (results,)
    assert_solves(kernel, dict(zip(kernel.reference(arrays), results, strict=True)), arrays, sizes)
