"""Filters by transforms of blocks: the same results as by sums, chosen where they are long."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Options
from polymat.driver import levels, request_for
from polymat.graph.pipeline import Pipeline
from polymat.idiom.librarymodel import Kind
from polymat.runtime.host import InstalledLibraries
from tests.hosts import CompileFor
from tests.tolerance import assert_close

N = pm.Parameter(pm.Int, "N")
ALWAYS, DIRECT = Options(fir="fft"), Options(fir="direct")


def transforms(compiled: Any) -> int:
    """How many stages a library transforms."""
    return sum(group.library_calls.count("fft") for group in compiled.explain().groups)


@pytest.mark.covering
@pytest.mark.parametrize("kind", [pm.Float, pm.Double])
@pytest.mark.parametrize("mode", ["valid", "causal", "same", "full"])
def test_lengths(mode: str, kind: Any) -> None:
    x, h = pm.Signal(kind, "x", N), pm.Vector(kind, "h", [37])
    compiled = pm.compile(x.fir(h, mode), name="filtered", inputs=[x, h], options=ALWAYS, estimates={N: 5000})
    assert transforms(compiled) == 3
    for length in (37, 38, 100, 997, 4001):
        rng = np.random.default_rng(length)
        a, b = rng.uniform(-1, 1, length).astype(kind.dtype), rng.uniform(-1, 1, 37).astype(kind.dtype)
        expected = compiled.reference(a, b)
        assert_close(compiled(a, b), expected, roundings=100, magnitude=37.0 * np.sqrt(1000))


def test_choice() -> None:
    x = pm.Signal(pm.Double, "x", 100_000)
    few, many = pm.Vector(pm.Double, "h", [8]), pm.Vector(pm.Double, "h", [4000])
    for taps, options, count in ((few, Options(), 0), (many, Options(), 3), (many, DIRECT, 0)):
        compiled = pm.compile(x.fir(taps), name="filtered", inputs=[x, taps], options=options)
        assert transforms(compiled) == count


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("mode", ["valid", "causal"])
def test_a_block_goes_through_all_stages_before_the_next(mode: str, threads: int) -> None:
    """Lengths around whole blocks, alone and shared out."""
    x = pm.Signal(pm.Double, "x", N)
    options = Options(fir="fft", threads=threads, parallel_threshold=0)
    compiled = pm.compile(x.fir(TAPS, mode), name="filtered", options=options, estimates={N: 1 << 20})
    (tiled,) = (group for group in compiled.explain().groups if group.kind == "tiles")
    assert len(tiled.stages) == 5
    assert tiled.library_calls == ("fft", "fft")
    assert "by library calls in each tile" in tiled.reason
    (size,) = tiled.tile_sizes.values()
    for length in (82, 83, size - 1, size, size + 1, size + 82, 2 * size + 83, 5 * size + 997):
        a = np.random.default_rng(length).uniform(-1, 1, length)
        expected = np.convolve(a, TAPS)[:length] if mode == "causal" else np.convolve(a, TAPS, "valid")
        if mode == "causal" or length >= 83:
            assert_close(compiled(a), expected, roundings=1000, magnitude=10.0)


def test_a_cascade() -> None:
    x = pm.Signal(pm.Double, "x", N)
    first, second = np.hanning(150), np.hamming(91)
    output = x.fir(first).fir(second, "same")[5:] + 1.0
    compiled = pm.compile(output, name="filtered", inputs=[x], options=ALWAYS, estimates={N: 5000})
    assert transforms(compiled) == 6
    a = np.random.default_rng(1).uniform(-1, 1, 3001)
    assert_close(compiled(a), compiled.reference(a), roundings=1000, magnitude=4000.0)


@pytest.mark.parametrize("mode", ["valid", "causal", "same", "full"])
def test_filters_without_taps_by_shared_transforms_are_zero(mode: str) -> None:
    T = pm.Parameter(pm.Int, "T")
    x, taps = pm.Signal(pm.Double, "x", N), [pm.Signal(pm.Double, f"h{k}", T) for k in range(4)]
    outputs = [x.fir(h, mode).named(f"y{k}") for k, h in enumerate(taps)]
    compiled = pm.compile(
        outputs, name="bank", inputs=[x, *taps], options=ALWAYS, estimates={N: 5000, T: 300}
    )
    assert transforms(compiled) > 0
    for length, count in ((0, 0), (1, 0), (5, 0), (100, 0), (5, 1), (100, 7)):
        rng = np.random.default_rng(length)
        arrays = [rng.uniform(-1, 1, n) for n in (length, *[count] * len(taps))]
        for result, expected in zip(compiled(*arrays), compiled.reference(*arrays), strict=True):
            assert_close(result, expected, roundings=100, magnitude=10.0)
            assert count > 0 or not result.any()


def test_names_stay_apart() -> None:
    x = pm.Signal(pm.Double, "y_padded", N)
    y = x.fir(np.hanning(70), "causal").named("y")
    compiled = pm.compile(y, inputs=[x], options=ALWAYS)
    a = np.random.default_rng(1).uniform(-1, 1, 301)
    assert_close(compiled(a), compiled.reference(a), roundings=100, magnitude=400.0)


TAPS = np.cos(np.arange(83.0)) / 83


AFTER: dict[str, Callable[[Any], list[Any]]] = {
    "spectrum": lambda y: [pm.rfft(y).named("r")],
    "interpolation": lambda y: [y.interp_fft(2).named("s")],
    "spectrum of twice the samples": lambda y: [pm.fft(y * 2.0).named("t")],
    "two": lambda y: [pm.rfft(y).named("r"), y.interp_fft(2).named("s")],
}


@pytest.mark.covering
@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize(
    ("mode", "options"),
    [
        *((mode, ALWAYS) for mode in ("valid", "causal", "same", "full")),
        ("causal", Options(fir="fft", fuse=False)),
        ("full", Options(fir="fft", keep=False)),
    ],
)
def test_transforms_of_filtered_signals(mode: str, options: Options, after: str) -> None:
    """The transform reads samples, not the blocks that they come from."""
    x = pm.Signal(pm.Double, "x", N)
    compiled = check(AFTER[after](x.fir(TAPS, mode)), x, options)
    assert transforms(compiled) > 3


def test_filters_and_products_of_filtered_signals() -> None:
    x = pm.Signal(pm.Double, "x", N)
    filtered = x.fir(TAPS, "same")
    check([filtered.fir(np.array([1.0, -2.0, 0.5])).named("y")], x)
    check([filtered.fir(TAPS, "full").named("y")], x)
    check([pm.einsum("i,i->", filtered, filtered).named("y")], x)
    check([pm.stft(filtered, np.hanning(16), 5).named("y")], x)
    W = pm.Matrix(pm.Double, "W", [6, N])
    compiled = pm.compile(pm.einsum("ij,j->i", W, filtered).named("y"), inputs=[x, W], options=ALWAYS)
    rng = np.random.default_rng(3)
    a, b = rng.uniform(-1, 1, 997), rng.uniform(-1, 1, (6, 997))
    assert_close(compiled(a, b), compiled.reference(a, b), roundings=1000, magnitude=100.0)


def check(outputs: list[Any], x: Any, options: Options = ALWAYS) -> Any:
    compiled = pm.compile(outputs, name="filtered", inputs=[x], options=options, estimates={N: 5000})
    for length in (83, 84, 997, 2003):
        a = np.random.default_rng(length).uniform(-1, 1, length)
        results, references = compiled(a), compiled.reference(a)
        for one, other in zip(
            *((r if isinstance(r, tuple) else (r,)) for r in (results, references)), strict=True
        ):
            assert_close(one, other, roundings=1000, magnitude=100.0)
    return compiled


@pytest.mark.parametrize(
    "options",
    [
        Options.paper(),
        Options.polymage(),
        Options(fft="never"),
        Options.naive(fir="auto"),
    ],
)
def test_filters_are_sums_where_no_transform_is_called(options: Options) -> None:
    """Transforms of blocks that loops would compute take thousands of times as long."""
    x = pm.Signal(pm.Double, "x", 20_000)
    taps = np.hanning(4000)
    compiled = pm.compile(x.fir(taps[:100], "full"), name="filtered", inputs=[x], options=options)
    assert transforms(compiled) == 0
    filtered = x.fir(taps).fir(taps)
    graphs = dict(levels(request_for([filtered.named("y")], options=options)))["graph"]
    assert isinstance(graphs, Pipeline)
    assert sum(stage.is_reduction for stage in graphs.stages) == 2
    a = np.random.default_rng(1).uniform(-1, 1, 20_000)
    assert_close(compiled(a), np.convolve(a, taps[:100]), roundings=200, magnitude=1.0)


def test_a_library_of_transforms_is_looked_for_where_there_is_a_filter_alone(compile_for: CompileFor) -> None:
    """Looking takes time, and a library that the user names wrongly is an error."""
    asked: list[str] = []

    class Asked(InstalledLibraries):
        def has(self, kind: Kind, routines: Collection[str]) -> bool:
            asked.append(kind)
            return False

    compile_for(libraries=Asked())
    v = pm.Vector(pm.Double, "v", [N])
    pm.compile((v + v).named("twice"))
    assert asked == []
    pm.compile(pm.Signal(pm.Double, "x", [N]).fir(np.ones(500)))
    assert set(asked) == {"fft"}


n, k = pm.Variable(pm.Int, "n"), pm.Variable(pm.Int, "k")


def summed(name: str, term: Any, count: Any, taps: int, dtype: Any, condition: Any = None) -> Any:
    """y(n) = sum of a term over k for n < count."""
    whole, each = pm.Interval(pm.Int, 0, count - 1), pm.Interval(pm.Int, 0, taps - 1)
    y = pm.Reduction(([n], [whole]), ([n, k], [whole, each]), dtype, name)
    value = pm.Reduce(y(n), term, pm.Op.Sum)
    y.defn = [value if condition is None else pm.Case(condition, value)]
    return y


def complex_values(seed: int, *shape: int) -> Any:
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


@pytest.mark.parametrize(
    ("way", "conjugate_taps", "conjugate_signal"),
    [
        *(("blocks", *conjugates) for conjugates in ((False, True), (True, False), (True, True))),
        ("whole", True, True),
        ("whole", True, False),
        ("fft", False, True),
    ],
)
def test_conjugates(way: Any, conjugate_taps: bool, conjugate_signal: bool) -> None:
    """Convolutions and correlations with either array conjugated, in every spelling."""
    taps = 37
    x, h = pm.Vector(pm.Complex, "x", [N]), pm.Vector(pm.Complex, "h", [taps])

    def term(weight: Any, sample: Any) -> Any:
        return (pm.Conj(h(weight)) if conjugate_taps else h(weight)) * (
            pm.Conj(x(sample)) if conjugate_signal else x(sample)
        )

    outputs = [
        summed("convolution", term(k, n - k + taps - 1), N - taps + 1, taps, pm.Complex),
        summed("correlation", term(k, n + k), N - taps + 1, taps, pm.Complex),
        summed("reversed", term(taps - 1 - k, n + k), N - taps + 1, taps, pm.Complex),
        summed("again", term(taps - 1 - k, n - k + taps - 1), N - taps + 1, taps, pm.Complex),
        summed("causal", term(k, n - k), N, taps, pm.Complex, pm.Condition(n - k, ">=", 0)),
        summed("ahead", term(k, n + k), N, taps, pm.Complex, pm.Condition(n + k, "<", N)),
    ]
    compiled = pm.compile(
        outputs, name="filtered", inputs=[x, h], options=Options(fir=way), estimates={N: 5000}
    )
    assert transforms(compiled) > 0
    for length in (37, 38, 100, 997, 4001):
        a, b = complex_values(length, length), complex_values(1, taps)
        for got, expected in zip(compiled(a, b), compiled.reference(a, b), strict=True):
            assert_close(got, expected, roundings=100, magnitude=37.0 * np.sqrt(1000))


def test_filters_of_a_signal_and_of_its_conjugate() -> None:
    """Those of the signal itself may share its transforms, the others not with them."""
    x = pm.Vector(pm.Complex, "x", [N])
    h = [pm.Vector(pm.Complex, f"h{each}", [61]) for each in range(3)]
    outputs = [
        summed("one", h[0](k) * x(n - k + 60), N - 60, 61, pm.Complex),
        summed("two", h[1](k) * pm.Conj(x(n - k + 60)), N - 60, 61, pm.Complex),
        summed("three", h[2](k) * x(n + k), N - 60, 61, pm.Complex),
    ]
    compiled = pm.compile(outputs, name="filtered", inputs=[x, *h], options=ALWAYS, estimates={N: 5000})
    notes = str(compiled.explain())
    assert "filters one, three share the transforms of x" in notes
    assert "filter two: " in notes
    arrays = [complex_values(1, 4001), *(complex_values(each, 61) for each in (2, 3, 4))]
    for got, expected in zip(compiled(*arrays), compiled.reference(*arrays), strict=True):
        assert_close(got, expected, roundings=100, magnitude=61.0 * np.sqrt(1000))


def test_a_correlation_costs_what_a_convolution_does() -> None:
    """Long ones are transforms, however they are written."""
    x, h = pm.Vector(pm.Double, "x", [100_000]), pm.Vector(pm.Double, "h", [4000])
    y = summed("y", h(k) * x(n + k), 96_001, 4000, pm.Double)
    compiled = pm.compile(y, name="filtered", inputs=[x, h])
    assert transforms(compiled) == 3
    rng = np.random.default_rng(2)
    a, b = rng.uniform(-1, 1, 100_000), rng.uniform(-1, 1, 4000)
    assert_close(compiled(a, b), np.correlate(a, b, "valid"), roundings=4000, magnitude=4000.0)


@pytest.mark.covering
@pytest.mark.parametrize("kind", [pm.Float, pm.Double, pm.Complex])
@pytest.mark.parametrize("count", [40, 90])
def test_the_time_of_sums_is_that_of_their_plan(kind: Any, count: int) -> None:
    """Both are asked of one model, so that a filter is no longer or shorter than its plan says."""
    x, h = pm.Signal(kind, "x", 100_000), pm.Vector(kind, "h", [count])
    compiled = pm.compile(x.fir(h), name="filtered", inputs=[x, h], options=Options(threads=1))
    report = compiled.explain()
    (note,) = (note for note in report.notes if "by sums" in note)
    (group,) = report.groups
    assert group.kind == "filter"
    sums, computing = (
        re.search(pattern, text)
        for pattern, text in ((r"(\S+) s by sums", note), (r"computing (\S+) s", str(report)))
    )
    assert sums is not None
    assert computing is not None
    assert float(sums[1]) == pytest.approx(float(computing[1]), rel=0.01)
