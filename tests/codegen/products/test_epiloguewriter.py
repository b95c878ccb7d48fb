"""Point-wise readers of contractions, computed on parts of the result, against the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.lang.types import ScalarType
from polymat.machine.model import Machine
from tests.codegen.products.test_contractionwriter import (
    DTYPES,
    MACHINES,
    SIZES,
    K,
    M,
    N,
    check,
    product_from,
    values,
)
from tests.hosts import CompileFor
from tests.tolerance import assert_close

# Register blocks are written in vectors; -O3 takes twice as long for them, 20 s a program of 512 bits.
OWN = pm.Options(blas="never", cflags=("-O0",))
ROW, COLUMN = (pm.Variable(pm.Int, name) for name in "ij")
ROWS, COLUMNS = (pm.Interval(pm.Int, 0, size - 1) for size in (M, N))
WHOLE = ([ROW, COLUMN], [ROWS, COLUMNS])


@pytest.fixture(params=["wide", "small caches"])
def machine(request: pytest.FixtureRequest, compile_for: CompileFor) -> Machine:
    """Compile for one of the machines."""
    chosen = MACHINES[request.param]
    compile_for(chosen)
    return chosen


def operands(dtype: ScalarType) -> tuple[pm.Matrix, pm.Matrix]:
    return pm.Matrix(dtype, "A", [M, K]), pm.Matrix(dtype, "B", [K, N])


def point(dtype: ScalarType, name: str, value: Any, domain: Any = WHOLE) -> pm.Function:
    """A stage over the points of the product."""
    stage = pm.Function(domain, dtype, name)
    stage.defn = [value]
    return stage


def is_fused(compiled: pm.Compiled, *stages: str) -> bool:
    """Whether one group of register blocks computes these stages, after a product."""
    groups = compiled.explain().groups
    return len(groups) == 1 and groups[0].kind == "kernel" and groups[0].stages[1:] == stages


def layer(dtype: ScalarType, options: pm.Options = OWN) -> pm.Compiled:
    a, b = operands(dtype)
    bias = pm.Vector(dtype, "bias", [N])
    positive = point(dtype, "positive", pm.Max((a @ b)(ROW, COLUMN) + bias(COLUMN), 0))
    return pm.compile(positive, name="layer", inputs=[a, b, bias], options=options)


@pytest.mark.parametrize(("dtype", "name"), DTYPES)
def test_bias_and_relu(machine: Machine, seed: int, dtype: ScalarType, name: str) -> None:
    compiled = layer(dtype)
    assert is_fused(compiled, "positive")
    assert "no array" in compiled.explain().groups[0].storage[compiled.explain().groups[0].stages[0]]
    rng = np.random.default_rng(seed)
    for m, n, k in SIZES:
        check(compiled, [values(rng, name, *shape) for shape in ((m, k), (k, n), (n,))], k)


@pytest.mark.parametrize("dtype", [pm.Float, pm.Double])
def test_two_threads_share_rows_or_columns(seed: int, dtype: ScalarType) -> None:
    compiled = layer(dtype, pm.Options(blas="never", threads=2, parallel_threshold=0))
    rng, name = np.random.default_rng(seed), "float32" if dtype is pm.Float else "float64"
    for m, n, k in (*SIZES[:4], (9, 25, 17), (101, 97, 203)):
        check(compiled, [values(rng, name, *shape) for shape in ((m, k), (k, n), (n,))], k)
    a, b = operands(dtype)
    squared = point(dtype, "R", (a @ b)(ROW, COLUMN) * 0.5)
    wide = pm.compile(
        squared,
        inputs=[a, b],
        estimates={M: 16, N: 4000},
        options=pm.Options(blas="never", threads=2, parallel_threshold=0),
    )
    assert is_fused(wide, "R")
    assert wide.explain().groups[0].parallel == "j"
    for m, n, k in (*SIZES[:4], (16, 501, 40)):
        check(wide, [values(rng, name, m, k), values(rng, name, k, n)], k)


def test_the_product_is_an_output_too(machine: Machine, seed: int) -> None:
    a, b = operands(pm.Double)
    product = a @ b
    half = point(pm.Double, "half", product(ROW, COLUMN) * 0.5)
    compiled = pm.compile([product, half], name="both", inputs=[a, b], options=OWN)
    assert is_fused(compiled, "half")
    rng = np.random.default_rng(seed)
    for m, n, k in SIZES:
        arrays = [values(rng, "float64", m, k), values(rng, "float64", k, n)]
        whole, halved = compiled(*arrays)
        bound = np.abs(arrays[0]) @ np.abs(arrays[1])
        assert_close(whole, compiled.reference(*arrays)[0], roundings=k + 4, magnitude=bound)
        assert np.array_equal(halved, whole * 0.5)


def test_a_chain_of_readers_with_another_array(machine: Machine, seed: int) -> None:
    """S = P + X, R = S + max(P, S): S is an output as well, and P is read twice."""
    a, b = operands(pm.Double)
    x = pm.Matrix(pm.Double, "X", [M, N])
    product = a @ b
    first = point(pm.Double, "S", product(ROW, COLUMN) + x(ROW, COLUMN))
    last = point(pm.Double, "R", first(ROW, COLUMN) + pm.Max(product(ROW, COLUMN), first(ROW, COLUMN)))
    compiled = pm.compile([first, last], name="chain", inputs=[a, b, x], options=OWN)
    assert is_fused(compiled, "S", "R")
    rng = np.random.default_rng(seed)
    for m, n, k in SIZES:
        arrays = [values(rng, "float64", *shape) for shape in ((m, k), (k, n), (m, n))]
        bound = 4 * (np.abs(arrays[0]) @ np.abs(arrays[1]) + np.abs(arrays[2]))
        for got, expected in zip(compiled(*arrays), compiled.reference(*arrays), strict=True):
            assert_close(got, expected, roundings=k + 8, magnitude=bound)


def test_a_residual_is_read_before_it_is_overwritten(machine: Machine, seed: int) -> None:
    """R = P + X with out=X: the product must not be computed in the array that is still to be read."""
    a, b = operands(pm.Double)
    x = pm.Matrix(pm.Double, "X", [M, N])
    compiled = pm.compile(
        point(pm.Double, "R", pm.Max((a @ b)(ROW, COLUMN), 0) + x(ROW, COLUMN)), inputs=[a, b, x], options=OWN
    )
    assert is_fused(compiled, "R")
    rng = np.random.default_rng(seed)
    for m, n, k in SIZES:
        arrays = [values(rng, "float64", *shape) for shape in ((m, k), (k, n), (m, n))]
        check(compiled, arrays, k)
        expected, inout = compiled.reference(*arrays), arrays[2].copy()
        bound = np.abs(arrays[0]) @ np.abs(arrays[1]) + np.abs(arrays[2])
        compiled(arrays[0], arrays[1], inout, out=inout)
        assert_close(inout, expected, roundings=k + 4, magnitude=bound)


def test_a_reader_of_another_type(machine: Machine, seed: int) -> None:
    """The product has an array of its own then, of which nobody else knows."""
    a, b = operands(pm.Float)
    wide = point(pm.Double, "wide", pm.Cast(pm.Double, (a @ b)(ROW, COLUMN)) * 3)
    compiled = pm.compile(wide, inputs=[a, b], options=OWN)
    assert is_fused(compiled, "wide")
    rng = np.random.default_rng(seed)
    for m, n, k in SIZES:
        arrays = [values(rng, "float32", m, k), values(rng, "float32", k, n)]
        bound = 3 * (np.abs(arrays[0]) @ np.abs(arrays[1])) + 1
        got, expected = (
            result.astype("float32") for result in (compiled(*arrays), compiled.reference(*arrays))
        )
        assert_close(got, expected, roundings=k + 8, magnitude=bound)


def test_a_reader_on_a_triangle(machine: Machine, seed: int) -> None:
    """It overwrites half of the product, which is therefore not computed in its array."""
    a, b = pm.Matrix(pm.Double, "A", [M, K]), pm.Matrix(pm.Double, "B", [K, M])
    triangle = ([ROW, COLUMN], [ROWS, pm.Interval(pm.Int, 0, ROW)])
    lower = point(pm.Double, "lower", pm.Max((a @ b)(ROW, COLUMN), 0), triangle)
    compiled = pm.compile(lower, inputs=[a, b], options=OWN)
    assert is_fused(compiled, "lower")
    rng = np.random.default_rng(seed)
    for m, _, k in SIZES:
        check(compiled, [values(rng, "float64", m, k), values(rng, "float64", k, m)], k)


def test_sums_that_start_from_something(machine: Machine, seed: int) -> None:
    a, b = operands(pm.Double)
    x = pm.Matrix(pm.Double, "X", [M, N])
    outputs = []
    for name, start in (("less", lambda i, j: -x(i, j)), ("biased", lambda i, j: pm.Sin(x(i, j)) + 1)):
        product = product_from(a, b, start, 0.5, f"{name}_product")
        outputs.append(point(pm.Double, name, pm.Max(product(ROW, COLUMN), 0)))
    compiled = pm.compile(outputs, name="started", inputs=[a, b, x], options=OWN)
    groups = compiled.explain().groups
    assert [(g.kind, g.stages[1:]) for g in groups] == [("kernel", ("less",)), ("kernel", ("biased",))]
    rng = np.random.default_rng(seed)
    for m, n, k in SIZES:
        arrays = [values(rng, "float64", *shape) for shape in ((m, k), (k, n), (m, n))]
        bound = np.abs(arrays[0]) @ np.abs(arrays[1]) + np.abs(arrays[2]) + 2
        for found, expected in zip(compiled(*arrays), compiled.reference(*arrays), strict=True):
            assert_close(found, expected, roundings=k + 8, magnitude=bound)


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_convolutions_with_bias_and_relu6(
    machine: Machine, seed: int, batch: tuple[int, ...], threads: int
) -> None:
    """The rows of the product are the pixels of one row each; the first image is not at index 0 of it."""
    H, W, C, F = (pm.Parameter(pm.Int, name) for name in "HWCF")
    image = pm.Image(pm.Float, "image", [*batch, H + 2, W + 2, C])
    weights = pm.Image(pm.Float, "weights", [3, 3, C, F])
    bias = pm.Vector(pm.Float, "bias", [F])
    dims = [pm.Variable(pm.Int, f"x{k}") for k in range(3 + len(batch))]
    extents: tuple[Any, ...] = (*batch, H, W, F)
    convolved = pm.conv2d(image, weights)
    domain = (dims, [pm.Interval(pm.Int, 0, extent - 1) for extent in extents])
    value = pm.Min(pm.Max(convolved(*dims) + bias(dims[-1]), 0), 6)
    options = pm.Options(blas="never", threads=threads, parallel_threshold=0)
    compiled = pm.compile(
        point(pm.Float, "relu", value, domain), inputs=[image, weights, bias], options=options
    )
    assert is_fused(compiled, "relu")
    rng = np.random.default_rng(seed)
    for h, w, c, f in ((0, 3, 2, 2), (3, 3, 0, 3), (1, 1, 1, 1), (7, 9, 5, 23), (13, 13, 17, 50)):
        shapes = ((*batch, h + 2, w + 2, c), (3, 3, c, f), (f,))
        arrays = [values(rng, "float32", *shape) for shape in shapes]
        bound = 9.0 * c * max((float(np.abs(a).max(initial=0)) for a in arrays), default=0.0) ** 2 + 6
        expected = compiled.reference(*arrays)
        assert_close(
            compiled(*arrays), expected, roundings=9 * c + 4, magnitude=np.full(expected.shape, bound)
        )


def test_segments_of_rows_and_of_columns(machine: Machine, seed: int) -> None:
    sizes = {letter: pm.Parameter(pm.Int, letter.upper()) for letter in "abcdefg"}
    words, inputs, outputs = [], [], []
    for number, text in enumerate(("aeb,edc->abcd", "aebf,dfce->abcd", "abe,dce->abcd", "gce,ged->gcd")):
        left, rest = text.split(",")
        right, out = rest.split("->")
        arrays = [
            pm.Image(pm.Double, f"{name}{number}", [sizes[c] for c in word])
            for name, word in zip("XYZ", (left, right, out), strict=True)
        ]
        dims = [pm.Variable(pm.Int, f"x{k}") for k in range(len(out))]
        domain = (dims, [pm.Interval(pm.Int, 0, sizes[c] - 1) for c in out])
        value = pm.Max(pm.einsum(text, *arrays[:2])(*dims), 0) + arrays[2](*dims) * dims[0]
        outputs.append(point(pm.Double, f"R{number}", value, domain))
        inputs += arrays
        words += [left, right, out]
    compiled = pm.compile(outputs, name="segments", inputs=inputs, options=OWN)
    groups = compiled.explain().groups
    assert [(group.kind, group.stages[1:]) for group in groups] == [("kernel", (f"R{n}",)) for n in range(4)]
    rng = np.random.default_rng(seed)
    for extents in ((0, 1, 2, 3, 4, 5, 6), (1,) * 7, (5, 3, 4, 9, 11, 2, 3), (3, 17, 3, 25, 2, 7, 2)):
        length = dict(zip("abcdefg", extents, strict=True))
        data = [values(rng, "float64", *(length[c] for c in word)) for word in words]
        check(compiled, data, length["e"] * length["f"] + 4)


def test_a_value_that_is_not_a_number_stays_one() -> None:
    compiled = layer(pm.Double)
    a, b = np.ones((11, 13)), np.ones((13, 29))
    a[3, 5], a[7, 0] = np.nan, -np.inf
    result = compiled(a, b, np.zeros(29))
    assert np.isnan(result[3]).all()
    assert (result[7] == 0).all()
    assert np.all(np.delete(result, [3, 7], axis=0) == 13)


def test_who_reads_other_points_waits_for_the_whole_product(seed: int) -> None:
    a, b = (pm.Matrix(pm.Double, name, [M, M]) for name in "AB")
    whole = ([ROW, COLUMN], [ROWS, ROWS])
    product = a @ b
    rng = np.random.default_rng(seed)
    for value in (
        pm.Max(product(COLUMN, ROW), product(ROW, COLUMN)),
        pm.Max(product(ROW, M - 1 - COLUMN), 0),
    ):
        compiled = pm.compile(point(pm.Double, "R", value, whole), inputs=[a, b], options=OWN)
        assert not is_fused(compiled, "R")
        for m in (0, 1, 7, 61):
            check(compiled, [values(rng, "float64", m, m) for _ in range(2)], m)


def test_a_path_that_leaves_the_group_forbids_it(seed: int) -> None:
    """R reads P and a sum over P: it cannot run before the whole of P is known."""
    a, b = operands(pm.Double)
    product = a @ b
    total = pm.Reduction(([ROW], [ROWS]), ([ROW, COLUMN], [ROWS, COLUMNS]), pm.Double, "total")
    total.defn = [pm.Reduce(total(ROW), product(ROW, COLUMN), pm.Op.Sum)]
    last = point(pm.Double, "R", pm.Max(product(ROW, COLUMN), 0) + total(ROW))
    compiled = pm.compile(last, inputs=[a, b], options=OWN)
    assert not is_fused(compiled, "R")
    rng = np.random.default_rng(seed)
    for m, n, k in SIZES:
        arrays = [values(rng, "float64", m, k), values(rng, "float64", k, n)]
        bound = np.abs(arrays[0]) @ np.abs(arrays[1])
        bound = bound + bound.sum(axis=1, keepdims=True)
        expected = compiled.reference(*arrays)
        assert_close(compiled(*arrays), expected, roundings=k + n + 8, magnitude=bound)


def test_few_channels_make_a_deep_product_of_a_convolution(machine: Machine) -> None:
    """The taps are packed behind each other: a register block is not filled anew for three channels."""
    H, W, C, F = sizes = [pm.Parameter(pm.Int, name) for name in "HWCF"]
    image, weights = (
        pm.Image(pm.Float, "image", [H + 2, W + 2, C]),
        pm.Image(pm.Float, "weights", [3, 3, C, F]),
    )
    dims = [pm.Variable(pm.Int, f"x{k}") for k in range(3)]
    domain = (dims, [pm.Interval(pm.Int, 0, extent - 1) for extent in (H, W, F)])
    relu = point(pm.Float, "relu", pm.Max(pm.conv2d(image, weights)(*dims), 0), domain)
    estimates = dict(zip(sizes, (544, 544, 3, 32), strict=True))
    compiled = pm.compile(relu, inputs=[image, weights], options=OWN, estimates=estimates)
    assert is_fused(compiled, "relu")
