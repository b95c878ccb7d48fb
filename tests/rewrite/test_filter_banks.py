"""Filters of one signal that share its transforms, and filters by one transform of the whole signal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Complex, ComplexFloat, Double, Float, Options
from tests.tolerance import assert_close

N = pm.Parameter(pm.Int, "N")
T = pm.Parameter(pm.Int, "T")
POINTS = {"valid": 1024, "full": 2464, "causal": 1728, "same": 1728}


def values(rng: np.random.Generator, length: int, dtype: Any) -> Any:
    found = rng.uniform(-1, 1, length)
    return (found + 1j * rng.uniform(-1, 1, length) if dtype.kind == "c" else found).astype(dtype.dtype)


def expected(a: Any, taps: Any, mode: str) -> Any:
    whole = np.convolve(a.astype(np.result_type(a, np.float64)), taps)
    first = {"valid": len(taps) - 1, "same": (len(taps) - 1) // 2}.get(mode, 0)
    length = {"valid": len(a) - len(taps) + 1, "full": len(whole)}.get(mode, len(a))
    return whole[first : first + length]


def transforms(compiled: Any) -> int:
    return sum(group.library_calls.count("fft") for group in compiled.explain().groups)


@pytest.mark.parametrize(
    ("dtype", "mode", "counts"),
    [
        (Double, "valid", (90, 90)),
        (Float, "causal", (64, 101, 33)),
        (Double, "same", (120, 71, 71, 40)),
        (Double, "full", (31, 101, 64, 50, 77, 9)),
        (Complex, "valid", (90, 71, 84)),
        (ComplexFloat, "same", (73, 90)),
    ],
)
def test_a_bank(dtype: Any, mode: str, counts: tuple[int, ...]) -> None:
    """The signal is transformed once, whatever the lengths of the filters."""
    rng = np.random.default_rng(len(counts))
    x, taps = pm.Signal(dtype, "x", N), [values(rng, count, dtype) for count in counts]
    outputs = [x.fir(each, mode).named(f"y{k}") for k, each in enumerate(taps)]
    compiled = pm.compile(outputs, name="bank", options=Options(fir="blocks"), estimates={N: 100_000})
    report = compiled.explain()
    names = ", ".join(f"y{k}" for k in range(len(counts)))
    assert any(f"filters {names} share the transforms of x" in note for note in report.notes)
    assert transforms(compiled) == 1 + 2 * len(counts)
    tiled = next(group for group in report.groups if group.kind == "tiles" and group.library_calls)
    (size,) = tiled.tile_sizes.values()
    for length in (max(counts), 997, size - 1, size, size + max(counts), 3 * size + 1):
        a = values(rng, length, dtype)
        for result, each in zip(compiled(a), taps, strict=True):
            assert_close(result, expected(a, each, mode).astype(a.dtype), roundings=200, magnitude=100.0)


def test_a_short_filter_stays_apart() -> None:
    x = pm.Signal(Double, "x", N)
    outputs = [x.fir(np.hanning(count), "causal").named(f"y{count}") for count in (1000, 20, 2000)]
    compiled = pm.compile(outputs, name="bank", estimates={N: 1_000_000}, options=Options(threads=1))
    assert transforms(compiled) == 5
    assert any("filters y1000, y2000 share" in note for note in compiled.explain().notes)
    assert any(note.startswith("filter y20: ") and "by sums" in note for note in compiled.explain().notes)


def test_signals_that_differ_are_not_shared() -> None:
    x = pm.Signal(Double, "x", N)
    outputs = [(x * 2.0).fir(np.hanning(90)).named("y"), (x * 3.0).fir(np.hamming(90)).named("z")]
    compiled = pm.compile(outputs, name="bank", options=Options(fir="blocks", inline=False))
    assert transforms(compiled) == 6
    a = np.random.default_rng(1).uniform(-1, 1, 300)
    for result, reference in zip(compiled(a), compiled.reference(a), strict=True):
        assert_close(result, reference, roundings=200, magnitude=150.0)


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [Float, Double, Complex])
@pytest.mark.parametrize("mode", ["valid", "causal", "same", "full"])
def test_one_transform_of_a_known_length(mode: str, dtype: Any) -> None:
    rng = np.random.default_rng(1)
    x, taps = pm.Signal(dtype, "x", 1009), values(rng, 701, dtype)
    compiled = pm.compile(x.fir(taps, mode), name="whole", options=Options(fir="whole"))
    assert transforms(compiled) == 3
    (note,) = compiled.explain().notes
    assert f"transforms of all as {POINTS[mode]}" in note
    a = values(rng, 1009, dtype)
    assert_close(compiled(a), expected(a, taps, mode).astype(a.dtype), roundings=200, magnitude=100.0)


def test_one_transform_of_lengths_given_at_the_call() -> None:
    """Not even the number of taps is known."""
    x, h = pm.Signal(Double, "x", N), pm.Vector(Double, "h", [T])
    outputs = [x.fir(h, "full").named("y"), x.fir(h, "causal").named("z")]
    compiled = pm.compile(
        outputs, name="whole", inputs=[x, h], options=Options(fir="fft"), estimates={N: 9000, T: 5000}
    )
    assert transforms(compiled) >= 3
    rng = np.random.default_rng(1)
    for length, count in ((1, 1), (2, 1), (997, 13), (997, 997), (8191, 4097), (9000, 5000)):
        a, b = values(rng, length, Double), values(rng, count, Double)
        for result, mode in zip(compiled(a, b), ("full", "causal"), strict=True):
            assert_close(result, expected(a, b, mode), roundings=200, magnitude=100.0)


def test_the_whole_is_chosen_where_it_is_quicker() -> None:
    x = pm.Signal(Double, "x", 1 << 20)
    lasting = pm.compile(pm.Signal(Double, "x", 20_000).fir(np.hanning(15_000)), name="lasting")
    assert "transforms of all as" in lasting.explain().notes[0].split(";")[0]
    brief = pm.compile(x.fir(np.hanning(4000)), name="brief")
    assert "transforms of blocks" in brief.explain().notes[0].split(";")[0]


@pytest.mark.covering
@pytest.mark.parametrize("way", ["blocks", "whole"])
@pytest.mark.parametrize(("mode", "factor"), [("valid", 2), ("causal", 7), ("full", 10)])
def test_every_so_many_results(way: Any, mode: str, factor: int) -> None:
    """Transforms compute all results of a block, of which a part is kept."""
    rng = np.random.default_rng(factor)
    x, taps = pm.Signal(Double, "x", N), [values(rng, count, Double) for count in (90, 131)]
    outputs = [x.fir(each, mode).down(factor).named(f"y{k}") for k, each in enumerate(taps)]
    compiled = pm.compile(outputs, name="kept", options=Options(fir=way), estimates={N: 50_000})
    # Filters share what is transformed of the signal where their lengths differ by a number alone: not where
    # they are rounded down, nor to multiples of many samples, as some machines would have it.
    assert transforms(compiled) in ((5, 6) if mode == "causal" else (6,))
    for length in (131, 997, 4001, 12_007):
        a = values(rng, length, Double)
        for result, each in zip(compiled(a), taps, strict=True):
            assert_close(result, expected(a, each, mode)[::factor], roundings=200, magnitude=100.0)


def test_long_filters_of_which_few_results_are_kept_are_sums() -> None:
    x = pm.Signal(Double, "x", 1 << 20)
    for factor, count in ((2, 3), (4000, 0)):
        compiled = pm.compile(x.fir(np.hanning(4000)).down(factor), name="kept", options=Options(threads=1))
        assert transforms(compiled) == count


def test_other_sizes_of_a_pipeline() -> None:
    """A size that the filter has nothing to do with."""
    M = pm.Parameter(pm.Int, "M")
    x, v = pm.Signal(Double, "x", N), pm.Vector(Double, "v", [M])
    outputs = [(v + v).named("w"), x.fir(np.hanning(90)).named("y")]
    compiled = pm.compile(outputs, name="other", inputs=[v, x], options=Options(fir="blocks"))
    assert transforms(compiled) == 3
    a = np.random.default_rng(1).uniform(-1, 1, 301)
    assert_close(
        compiled(np.ones(3), a)[1], np.convolve(a, np.hanning(90), "valid"), roundings=200, magnitude=90.0
    )
