"""Permuted tensors through register blocks: whichever dimension is contiguous, or continues another one."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import polymat as pm
from polymat.machine.known import GENERIC
from tests.hosts import CompileFor
from tests.tolerance import assert_close

SMALL_CACHES = replace(GENERIC, l1_bytes=1 << 11, l2_bytes=1 << 12, l3_bytes=1 << 14)
PERMUTED = {
    "abcd-dbea-ec": "columns gathered from segments that are neighbours",
    "abcd-aebf-dfce": "depth gathered from segments that are neighbours",
    "abcd-ea-ebcd": "columns in one piece",
    "abcd-ebad-ce": "columns of several segments that lie nearer than the next step of the depth",
    "abcd-abef-efcd": "rows, columns and depth in one piece",
    "abc-adc-bd": "all rows in one block, whose copy serves several blocks of few columns",
    "abcdef-efga-gdbc": "two of three dimensions in one piece",
}
EXTENTS = ((2, 3, 4, 5, 6, 7, 8), (17, 1, 9, 11, 3, 8, 2), (1, 8, 16, 1, 1, 1, 1), (9, 10, 3, 33, 19, 9, 2))


@pytest.mark.parametrize("contraction", PERMUTED)
def test_permuted_tensors(contraction: str, seed: int, compile_for: CompileFor) -> None:
    compile_for(SMALL_CACHES)
    result, left, right = contraction.split("-")
    sizes = {letter: pm.Parameter(pm.Int, f"n{letter}") for letter in sorted(left + right)}
    a, b = (pm.Image(pm.Float, x, [sizes[i] for i in of]) for x, of in (("A", left), ("B", right)))
    options = pm.Options(blas="never", threads=2, parallel_threshold=0)
    compiled = pm.compile(pm.einsum(contraction, a, b), name="permuted", inputs=[a, b], options=options)
    assert {group.kind for group in compiled.explain().groups} == {"kernel"}
    rng = np.random.default_rng(seed)
    for extents in EXTENTS:
        extent = dict(zip("abcdefg", extents, strict=True))
        arrays = [rng.standard_normal([extent[i] for i in of]).astype(np.float32) for of in (left, right)]
        depth = int(np.prod([extent[i] for i in {*left, *right} - {*result}]))
        formula = f"{left},{right}->{result}"
        double = [array.astype(np.float64) for array in arrays]
        assert_close(
            compiled(*arrays),
            np.einsum(formula, *double).astype(np.float32),
            roundings=depth + 4,
            magnitude=np.einsum(formula, *map(np.abs, double)),
            name=f"{contraction} of {extents}",
        )


@pytest.mark.covering
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("small", [False, True])
def test_convolutions(stride: int, small: bool, seed: int, compile_for: CompileFor) -> None:
    if small:
        compile_for(SMALL_CACHES)
    h, w, c, r, s, k = (pm.Parameter(pm.Int, name) for name in "HWCRSK")
    image, weights = pm.Image(pm.Float, "I", [h, w, c]), pm.Image(pm.Float, "P", [r, s, c, k])
    options = pm.Options(blas="never", threads=2, parallel_threshold=0)
    layer = pm.conv2d(image, weights, stride=stride)
    compiled = pm.compile(layer, name="conv", inputs=[image, weights], options=options)
    assert {group.kind for group in compiled.explain().groups} == {"kernel"}
    rng = np.random.default_rng(seed)
    # Strips of 7 rows, few and many panels, depth that continues from column to column, one tap.
    for shape, taps in (((9, 9, 24), (3, 3, 5)), ((16, 17, 3), (7, 7, 70)), ((6, 4, 33), (1, 1, 9))):
        arrays = [rng.standard_normal(shape).astype(np.float32)]
        arrays.append(rng.standard_normal((*taps[:2], shape[2], taps[2])).astype(np.float32))
        double = [array.astype(np.float64) for array in arrays]
        windows = np.lib.stride_tricks.sliding_window_view(double[0], taps[:2], (0, 1))[::stride, ::stride]
        formula = "hwcrs,rsck->hwk"
        assert_close(
            compiled(*arrays),
            np.einsum(formula, windows, double[1]).astype(np.float32),
            roundings=int(np.prod(taps[:2])) * shape[2] + 4,
            magnitude=np.einsum(formula, np.abs(windows), np.abs(double[1])),
            name=f"{shape} by {taps}",
        )


@pytest.mark.covering
@pytest.mark.parametrize("gap", [0, 1])
@pytest.mark.parametrize("channels_last", [True, False])
@pytest.mark.parametrize("small", [False, True])
def test_windows_of_weights_with_gaps(
    gap: int, channels_last: bool, small: bool, seed: int, compile_for: CompileFor
) -> None:
    """Weights of which some columns are not used, images with and without neighbours along the depth."""
    if small:
        compile_for(SMALL_CACHES)
    H, W, K, R, S, C = sizes = [pm.Parameter(pm.Int, name) for name in "HWKRSC"]
    h, w, k, r, s, c = variables = [pm.Variable(pm.Int, name) for name in "hwkrsc"]
    side = [H + R - 1, W + S - 1]
    image = pm.Image(pm.Float, "I", [*side, C] if channels_last else [C, *side])
    weights = pm.Image(pm.Float, "P", [R, S + gap, C, K])
    domain = [pm.Interval(pm.Int, 0, size - 1) for size in sizes]
    sums = pm.Reduction((variables[:3], domain[:3]), (variables, domain), pm.Float, "sums")
    pixel = image(h + r, w + s, c) if channels_last else image(c, h + r, w + s)
    sums.defn = [pm.Reduce(sums(h, w, k), pixel * weights(r, s, c, k), pm.Op.Sum)]
    inputs = [image, weights]
    options = pm.Options(blas="never", threads=2, parallel_threshold=0)
    estimates = dict(zip(sizes, (64, 64, 64, 3, 3, 32), strict=True))
    compiled = pm.compile(sums, name="windows", inputs=inputs, options=options, estimates=estimates)
    assert {group.kind for group in compiled.explain().groups} == {"kernel"}
    rng = np.random.default_rng(seed)
    # The last has no taps.
    for extents in ((5, 9, 49, 3, 3, 7), (1, 17, 70, 2, 5, 13), (3, 1, 1, 4, 1, 40), (4, 5, 20, 0, 3, 2)):
        height, width, outputs, rows, columns, channels = extents
        pixels = (height + rows - 1, width + columns - 1)
        shape = (*pixels, channels) if channels_last else (channels, *pixels)
        shapes: tuple[tuple[int, ...], ...] = (shape, (rows, columns + gap, channels, outputs))
        arrays = [rng.standard_normal(extent).astype(np.float32) for extent in shapes]
        assert_close(
            compiled(*arrays),
            compiled.reference(*arrays),
            roundings=rows * columns * channels + 4,
            magnitude=compiled.reference(*map(np.abs, arrays)),
            name=f"{extents}",
        )


@pytest.mark.parametrize("contraction", ["abcd-dbea-ec", "abcde-efbad-cf"])
def test_segments_gathered_in_long_runs(contraction: str, seed: int, compile_for: CompileFor) -> None:
    """Whole runs, runs cut where lines of cache end, and odd ones, with a second level for few of them."""
    machine = replace(GENERIC, vector_bits=512, vector_registers=32, l2_bytes=1 << 17)
    compile_for(machine)
    result, left, right = contraction.split("-")
    sizes = {letter: pm.Parameter(pm.Int, f"n{letter}") for letter in sorted(left + right)}
    a, b = (pm.Image(pm.Float, x, [sizes[i] for i in of]) for x, of in (("A", left), ("B", right)))
    estimates = {size: 64 for size in sizes.values()}
    options = pm.Options(blas="never", threads=1)
    product = pm.einsum(contraction, a, b)
    compiled = pm.compile(product, name="gathered", inputs=[a, b], options=options, estimates=estimates)
    rng = np.random.default_rng(seed)
    for extents in (
        (64, 2, 24, 32, 16, 16),
        (37, 3, 9, 25, 17, 11),
        (3, 1, 70, 19, 48, 13),
        (129, 1, 1, 24, 8, 5),
    ):
        extent = dict(zip("abcdef", extents, strict=True))
        arrays = [rng.standard_normal([extent[i] for i in of]).astype(np.float32) for of in (left, right)]
        double = [array.astype(np.float64) for array in arrays]
        formula = f"{left},{right}->{result}"
        assert_close(
            compiled(*arrays),
            np.einsum(formula, *double, optimize=True).astype(np.float32),
            roundings=2 * int(np.prod([extent[i] for i in {*left, *right} - {*result}])) + 4,
            magnitude=np.einsum(formula, *map(np.abs, double), optimize=True),
            name=f"{contraction} of {extents}",
        )


@pytest.mark.covering
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(
    "contraction",
    ["abcde-efbad-cf", "abcd-ea-ebcd", "abcdef-efgc-gdab", "abcdef-dfgc-geab", "abcdef-dega-gfbc"],
)
def test_results_past_the_caches(
    contraction: str, kind: type[np.floating], seed: int, compile_for: CompileFor
) -> None:
    """Whole lines of arrays that begin anywhere, blocks that go on to the right or not."""
    machine = replace(GENERIC, vector_bits=512, vector_registers=32, l2_bytes=1 << 17, l3_bytes=1 << 8)
    compile_for(machine)
    result, left, right = contraction.split("-")
    sizes = {letter: pm.Parameter(pm.Int, f"n{letter}") for letter in sorted({*left, *right})}
    dtype = pm.Float if kind is np.float32 else pm.Double
    a, b = (pm.Image(dtype, x, [sizes[i] for i in of]) for x, of in (("A", left), ("B", right)))
    estimates = {size: 32 for size in sizes.values()}
    options = pm.Options(blas="never", threads=2, parallel_threshold=0)
    product = pm.einsum(f"{left},{right}->{result}", a, b)
    compiled = pm.compile(product, name="past", inputs=[a, b], options=options, estimates=estimates)
    assert "written past the caches" in str(compiled.explain())
    rng = np.random.default_rng(seed)
    for extents in ((3, 2, 5, 16, 48, 16, 24), (2, 2, 3, 25, 96, 32, 5), (2, 1, 7, 72, 24, 48, 9)):
        extent = dict(zip("abcdefg", extents, strict=True))
        arrays = [rng.standard_normal([extent[i] for i in of]).astype(kind) for of in (left, right)]
        double = [array.astype(np.float64) for array in arrays]
        formula, shape = f"{left},{right}->{result}", [extent[i] for i in result]
        expected = np.einsum(formula, *double, optimize=True).astype(kind)
        magnitude = np.einsum(formula, *map(np.abs, double), optimize=True)
        depth = int(np.prod([extent[i] for i in {*left, *right} - {*result}]))
        for shift in (0, 1, 5, 7, 13):
            memory = np.full(expected.size + 64, -7.0, dtype=kind)
            first = -memory.ctypes.data % 64 // memory.itemsize + shift
            out = memory[first : first + expected.size].reshape(shape)
            compiled(*arrays, out=out)
            name = f"{contraction} of {extents} at {shift}"
            assert_close(out, expected, roundings=2 * depth + 4, magnitude=magnitude, name=name)
            rest = np.concatenate([memory[:first], memory[first + expected.size :]])
            assert (rest == -7.0).all(), name


@pytest.mark.parametrize(("n", "passes"), [(100, True), (1000, False)])
def test_schemes_say_what_results_past_the_caches_do(n: int, passes: bool, compile_for: CompileFor) -> None:
    """With a transposed left operand those are computed by blocks, others pass a part of the right one."""
    machine = replace(GENERIC, vector_bits=512, vector_registers=32, l2_bytes=1 << 15, l3_bytes=1 << 18)
    compile_for(machine)
    N = pm.Parameter(pm.Int, "N")
    A, B = pm.Matrix(pm.Double, "A", [N, N]), pm.Matrix(pm.Double, "B", [N, N])
    compiled = pm.compile(A.T @ B, inputs=[A, B], options=pm.Options(blas="never"), estimates={N: n})
    scheme = next(group.reason for group in compiled.explain().groups)
    assert re.findall(r"R\(([ij])\), ", scheme) == (["i", "j"] if passes else ["j", "i"])
