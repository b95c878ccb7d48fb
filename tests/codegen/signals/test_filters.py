"""Filters by register blocks against the interpreter: lengths around runs and tiles, edges, steps, rows."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import polymat as pm
from polymat.codegen.signals.filterblocks import FilterShape
from polymat.lang.types import ScalarType
from polymat.machine.model import Machine
from polymat.options import Options
from polymat.tilesize.filterblock import filter_block
from tests.differential.under_sanitizers import clean_output
from tests.estimated import estimates_of
from tests.tolerance import assert_close

Array = npt.NDArray[Any]

M, N, K = (pm.Parameter(pm.Int, name) for name in "MNK")
i, j, k = (pm.Variable(pm.Int, name) for name in "ijk")
OPTIONS = Options(fir="direct", threads=2, parallel_threshold=0)
ESTIMATES = {M: 10, N: 100_000, K: 64}
TYPES = {np.float32: pm.Float, np.float64: pm.Double}
MODES = ("valid", "causal", "same", "full")
LANES, RUN = 8, 136  # of double precision on a machine with long vectors
LENGTHS = (1, 7, 8, 9, 17, 64, 65, 130, LANES * RUN + 8, 2 * LANES * RUN + 13)
CHUNK = 512  # results that vectors of neighbours compute at a time; up to 8 more at the end
TAPS = (1, 2, 3, 4, 5, 7, 8, 9, 23, 64, 101)


def compile_filters(outputs: list[Any], inputs: list[Any], count: int) -> pm.Compiled:
    estimates = estimates_of(outputs, ESTIMATES)
    compiled = pm.compile(outputs, inputs=inputs, name="filters", estimates=estimates, options=OPTIONS)
    kinds = [group.kind for group in compiled.explain().groups]
    assert kinds.count("filter") == count, kinds
    return compiled


def check(compiled: pm.Compiled, arrays: list[Array], taps: int, **scalars: float) -> None:
    actual, expected = compiled(*arrays, **scalars), compiled.reference(*arrays, **scalars)
    listed = zip(actual, expected, strict=True) if isinstance(actual, tuple) else [(actual, expected)]
    for number, (one, other) in enumerate(listed):
        assert_close(one, other, roundings=taps + 4, magnitude=30.0 * taps, name=f"output {number}")


def signals(length: int, taps: int, dtype: type[Any]) -> list[Array]:
    rng = np.random.default_rng(length + 1000 * taps)
    return [rng.standard_normal(length).astype(dtype), rng.standard_normal(taps).astype(dtype)]


@pytest.mark.covering
@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
def test_modes_and_steps(dtype: type[Any], steps: bool) -> None:
    kind = TYPES[dtype]
    x, h = pm.Signal(kind, "x", N), pm.Vector(kind, "h", [K])
    alpha = pm.Parameter(kind, "alpha")
    if steps:
        filtered = [x.fir(h, mode).down(step) for mode, step in zip(MODES, (2, 3, 10, 4), strict=True)]
    else:
        filtered = [x.fir(h, mode) for mode in MODES]
    outputs = [*filtered[:3], alpha * filtered[3]]
    compiled = compile_filters(outputs, [x, h, alpha], len(outputs))
    for length in LENGTHS:
        for taps in TAPS[length % 5 :: 5]:
            if taps <= length and taps * length < 20_000:
                check(compiled, [*signals(length, taps, dtype), dtype(1.5)], taps)


@pytest.mark.covering
@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
def test_interpolations(dtype: type[Any], steps: bool) -> None:
    kind = TYPES[dtype]
    x, h = pm.Signal(kind, "x", N), pm.Vector(kind, "h", [K])
    pairs = ((2, 3), (3, 2), (4, 6), (2, 2)) if steps else ((2, 1), (3, 1), (5, 1), (9, 1))
    modes = ("full", "same", "causal", "causal")
    outputs = [x.up(up).fir(h, mode).down(down) for (up, down), mode in zip(pairs, modes, strict=True)]
    compiled = compile_filters(outputs, [x, h], 4)
    for length in (1, 7, 8, 9, 131, 1201):
        for taps in TAPS[length % 5 :: 5]:
            check(compiled, signals(length, taps, dtype), taps)


def upsampled(x: Array, up: int) -> Array:
    """Zeros between the samples."""
    stuffed = np.zeros(len(x) * up, x.dtype)
    stuffed[::up] = x
    return stuffed


@pytest.mark.parametrize("dtype", TYPES)
def test_chunks_of_neighbouring_results(dtype: type[Any]) -> None:
    """Lengths around chunks, and as many taps as factors above 2 take to be computed so."""
    kind = TYPES[dtype]
    x, z = pm.Signal(kind, "x", N), pm.Signal(kind, "z", N)
    h, g = pm.Vector(kind, "h", [K]), pm.Vector(kind, "g", [K])
    ways = (("causal", 1, 1), ("valid", 1, 2), ("full", 1, 3), ("causal", 2, 1), ("full", 3, 1))
    outputs = [x.up(up).fir(h, mode).down(down) for mode, up, down in ways]
    outputs += [z + x.fir(g, "causal"), 0.5 * x.up(2).fir(g, "causal")]
    compiled = compile_filters(outputs, [x, z, h, g], len(outputs))
    for length in (CHUNK - 1, CHUNK, CHUNK + 7, CHUNK + 8, CHUNK + 9, 2 * CHUNK + 15, 3 * CHUNK + 41):
        for taps in (6, 13, 31, 150, 300):
            samples, weights = signals(length, taps, dtype)
            added = samples[::-1].copy()
            whole = {up: np.convolve(upsampled(samples, up), weights) for up in (1, 2, 3)}
            parts = {"causal": slice(length), "valid": slice(taps - 1, length), "full": slice(None)}
            parts_up = {"causal": slice(2 * length), "full": slice(None)}
            expected = [whole[up][(parts if up == 1 else parts_up)[mode]][::down] for mode, up, down in ways]
            expected += [added + whole[1][:length], dtype(0.5) * whole[2][: 2 * length]]
            for one, other in zip(compiled(samples, added, weights, weights), expected, strict=True):
                assert_close(one, other, roundings=taps + 4, magnitude=30.0 * taps, name=f"{length}, {taps}")


def test_what_is_added_to_may_not_be_overwritten() -> None:
    """Runs overlap, so that some results are computed twice."""
    x, z, h = pm.Signal(pm.Double, "x", N), pm.Signal(pm.Double, "z", N), pm.Vector(pm.Double, "h", [K])
    compiled = compile_filters([z + x.fir(h, "causal")], [x, z, h], 1)
    arrays = [*signals(3001, 9, np.float64), np.ones(3001)]
    samples, taps, added = arrays[0], arrays[1], arrays[2]
    expected = compiled.reference(samples, added, taps)
    assert_close(compiled(samples, added, taps, out=added), expected, roundings=16, magnitude=100.0)


@pytest.mark.parametrize("kind", [pm.ComplexFloat, pm.Complex])
def test_complex_samples(kind: ScalarType) -> None:
    x, h = pm.Signal(kind, "x", N), pm.Vector(kind, "h", [K])
    outputs = [x.fir(h), pm.correlate(x, h), x.fir(h, "causal").down(3), x + x.fir(h, "same")]
    compiled = compile_filters(outputs, [x, h], 4)
    for length in (1, 8, 9, 65, 300, 2048 + 3, 2048 + 40):
        for taps in (1, 2, 5, 9):
            if taps <= length:
                rng = np.random.default_rng(length)
                parts = [rng.standard_normal((2, count)) for count in (length, taps)]
                check(compiled, [(a + 1j * b).astype(kind.dtype) for a, b in parts], taps)


def correlated(kind: ScalarType) -> tuple[list[Any], list[Any]]:
    """A correlation, one with every second tap, and rows of a matrix each with its own taps."""
    x, h, a = pm.Vector(kind, "x", [N]), pm.Vector(kind, "h", [2 * K + 2]), pm.Matrix(kind, "A", [M, N])
    rows = pm.Matrix(kind, "R", [M, K])
    inner, taps = pm.Interval(pm.Int, 0, N - K), pm.Interval(pm.Int, 0, K - 1)
    every = pm.Interval(pm.Int, 0, M - 1)
    y = pm.Reduction(([i], [inner]), ([i, k], [inner, taps]), kind, "y")
    y.defn = [pm.Reduce(y(i), x(i + k) * h(k), pm.Op.Sum)]
    z = pm.Reduction(([i], [inner]), ([i, k], [inner, taps]), kind, "z")
    z.defn = [pm.Reduce(z(i), x(i - k + K - 1) * h(2 * k + 2), pm.Op.Sum)]
    w = pm.Reduction(([j, i], [every, inner]), ([j, i, k], [every, inner, taps]), kind, "w")
    w.defn = [pm.Reduce(w(j, i), a(j, i + k) * rows(j, K - 1 - k), pm.Op.Sum)]
    return [y, z, w], [x, h, a, rows]


@pytest.mark.parametrize("dtype", TYPES)
def test_correlations_and_rows(dtype: type[Any]) -> None:
    outputs, inputs = correlated(TYPES[dtype])
    compiled = compile_filters(outputs, inputs, 3)
    rng = np.random.default_rng(0)
    for rows, length, taps in ((1, 7, 3), (3, 8, 1), (2, 23, 5), (9, 40, 13), (0, 9, 2), (5, 1301, 37)):
        shapes = ((length,), (2 * taps + 2,), (rows, length), (rows, taps))
        check(compiled, [rng.standard_normal(shape).astype(dtype) for shape in shapes], taps)


def test_no_taps_and_no_results() -> None:
    outputs, inputs = correlated(pm.Double)
    compiled = compile_filters(outputs[:1], inputs[:2], 1)
    np.testing.assert_array_equal(compiled(np.full(9, np.inf), np.ones(2)), np.zeros(10))
    assert compiled(np.ones(2), np.ones(8)).shape == (0,)


def test_infinities_reach_their_own_results_alone() -> None:
    x, h = pm.Signal(pm.Double, "x", N), pm.Vector(pm.Double, "h", [K])
    compiled = compile_filters([x.fir(h, mode) for mode in MODES], [x, h], 4)
    for taps in (1, 4, 9, 37):
        samples, weights = signals(1200, taps, np.float64)
        samples[[0, 600, 1100]], samples[[300, 1199]] = np.inf, np.nan
        for weight in (1.0, np.inf):
            weights[taps // 2] = weight
            for one, other in zip(
                compiled(samples, weights), compiled.reference(samples, weights), strict=True
            ):
                np.testing.assert_array_equal(np.isfinite(one), np.isfinite(other))
                np.testing.assert_array_equal(np.isnan(one), np.isnan(other))


def test_shapes_of_blocks() -> None:
    for bits, registers in ((128, 16), (128, 32), (256, 16), (512, 32)):
        machine = Machine("m", 2, 1 << 15, 1 << 20, 1 << 24, vector_bits=bits, vector_registers=registers)
        for suffix, size in (("f32", 4), ("f64", 8)):
            block = filter_block(machine, size)
            shape = FilterShape(suffix, block.lanes, block.rows, block.taps, block.width)
            assert shape.lanes % 8 == 0
            assert 8 % shape.rows == 0 or shape.rows == 16
            assert shape.is_near == (bits <= 256)


@pytest.mark.turns(2)
def test_no_access_outside_an_array() -> None:
    printed = clean_output([sys.executable, "-m", "tests.codegen.sanitized_filters"])
    assert len(printed.splitlines()) == 2
