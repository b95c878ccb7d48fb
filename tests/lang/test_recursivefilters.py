"""Recursive filters with states, channels and coefficients that come at the call, against SciPy."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import polymat as pm
from tests.tolerance import assert_close

signal: Any = importlib.import_module("scipy.signal")
Array = npt.NDArray[Any]

C, N = pm.Parameter(pm.Int, "C"), pm.Parameter(pm.Int, "N")
SECTIONS = signal.butter(5, 0.2, output="sos")
B, A = signal.butter(3, 0.2)
ONE, ROWS, COLUMNS = (pm.Signal(pm.Double, "x", extents) for extents in (N, [C, N], [N, C]))
LENGTHS = (1, 2, 3, 4, 57, 2100)


def noise(*shape: int) -> Array:
    return np.random.default_rng(shape).standard_normal(shape)


def check(found: Any, expected: Any) -> None:
    assert len(found) == len(expected)
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        assert_close(one, other, roundings=4000, magnitude=4.0, name=f"output {number}")


def both(outputs: Any, inputs: list[Any], arrays: list[Array], expected: Any) -> pm.Compiled:
    """The results compiled and interpreted."""
    compiled = pm.compile(list(outputs), inputs=inputs, name="filters")
    check(compiled(*arrays), expected)
    check(compiled.reference(*arrays), expected)
    return compiled


def test_sections_from_a_state() -> None:
    z = pm.Matrix(pm.Double, "z", [3, 2])
    state = noise(3, 2)
    x = noise(40)
    compiled = both(
        pm.sosfilt(SECTIONS, ONE, zi=z), [ONE, z], [x, state], signal.sosfilt(SECTIONS, x, zi=state)
    )
    for length in LENGTHS:
        x = noise(length)
        check(compiled(x, state), signal.sosfilt(SECTIONS, x, zi=state))
    result, kept = compiled(np.zeros(0), state)
    assert result.size == 0
    np.testing.assert_array_equal(kept, state)


def test_direct_form_from_a_state() -> None:
    z = pm.Vector(pm.Double, "z", [3])
    state = noise(3)
    x = noise(40)
    compiled = both(pm.lfilter(B, A, ONE, zi=z), [ONE, z], [x, state], signal.lfilter(B, A, x, zi=state))
    for length in LENGTHS:
        x = noise(length)
        check(compiled(x, state), signal.lfilter(B, A, x, zi=state))


@pytest.mark.parametrize(("b", "a"), [([1, 2, 3, 4], [1.0, 0.5]), ([2.0], [2, 0.3, 0.1]), ([1, 1, 2], [3])])
def test_lists_of_different_lengths(b: list[float], a: list[float]) -> None:
    order = max(len(a), len(b)) - 1
    z = pm.Vector(pm.Double, "z", [order])
    x, state = noise(30), noise(order)
    both(pm.lfilter(b, a, ONE, zi=z), [ONE, z], [x, state], signal.lfilter(b, a, x, zi=state))


@pytest.mark.parametrize("axis", [0, 1])
def test_channels_from_states(axis: int) -> None:
    x, channels = (ROWS, 3) if axis else (COLUMNS, 9)
    rows = pm.Image(pm.Double, "z", [3, C, 2] if axis else [3, 2, C])
    direct = pm.Matrix(pm.Double, "d", [C, 3] if axis else [3, C])
    samples = noise(channels, 30) if axis else noise(30, channels)
    states = [noise(3, channels, 2) if axis else noise(3, 2, channels)]
    states.append(noise(channels, 3) if axis else noise(3, channels))
    outputs = [*pm.sosfilt(SECTIONS, x, zi=rows, axis=axis), *pm.lfilter(B, A, x, zi=direct, axis=axis)]
    expected = [
        *signal.sosfilt(SECTIONS, samples, zi=states[0], axis=axis),
        *signal.lfilter(B, A, samples, zi=states[1], axis=axis),
    ]
    both(outputs, [x, rows, direct], [samples, *states], expected)


def test_coefficients_known_at_the_call() -> None:
    sos, z = pm.Matrix(pm.Double, "sos", [3, 6]), pm.Matrix(pm.Double, "z", [3, 2])
    b, a = pm.Vector(pm.Double, "b", [4]), pm.Vector(pm.Double, "a", [4])
    outputs = [
        *pm.sosfilt(sos, ONE, zi=z),
        pm.lfilter(b, a, ONE),
        pm.lfilter(B, a, ONE),
        pm.lfilter(b, A, ONE),
    ]
    x, state = noise(50), noise(3, 2)
    direct = signal.lfilter(B, A, x)
    expected = [*signal.sosfilt(SECTIONS, x, zi=state), 1.5 * direct, direct / 2, 3 * direct]
    both(outputs, [sos, ONE, z, b, a], [4 * SECTIONS, x, state, 3 * B, 2 * A], expected)


@pytest.mark.parametrize("chunk", [1, 7, 500, 2048])
def test_blocks_are_the_whole(chunk: int) -> None:
    z, d = pm.Matrix(pm.Double, "z", [3, 2]), pm.Vector(pm.Double, "d", [3])
    step = pm.compile([*pm.sosfilt(SECTIONS, ONE, zi=z), *pm.lfilter(B, A, ONE, zi=d)], inputs=[ONE, z, d])
    x = noise(5000 if chunk > 10 else 300)
    state, kept = np.zeros((3, 2)), np.zeros(3)
    parts = []
    for begin in range(0, len(x), chunk):
        one, state, other, kept = step(x[begin : begin + chunk], state, kept)
        parts.append((one, other))
    for found, expected in zip(
        map(np.concatenate, zip(*parts, strict=True)),
        (signal.sosfilt(SECTIONS, x), signal.lfilter(B, A, x)),
        strict=True,
    ):
        assert_close(found, expected, roundings=4000, magnitude=4.0)


def test_types() -> None:
    x = pm.Signal(pm.Float, "x", N)
    z = pm.Vector(pm.Float, "z", [1])
    outputs = [pm.lfilter([1.0], [1.0, 0.5], x), pm.lfilter([1.0], np.array([1.0, 0.5]), x)]
    outputs += [pm.sosfilt(SECTIONS, x), pm.sosfilt(SECTIONS.astype(np.float32), x)]
    outputs += [*pm.lfilter([1.0], np.array([1.0, 0.5]), x, zi=z)]
    names = [output.dtype.name for output in outputs]
    assert names == ["Float", "Double", "Double", "Float", "Double", "Double"]
    compiled = pm.compile(outputs, inputs=[x, z])
    samples, state = noise(60).astype(np.float32), noise(1).astype(np.float32)
    for one, other in zip(compiled(samples, state), compiled.reference(samples, state), strict=True):
        assert_close(one, other, roundings=400, magnitude=4.0)


def test_integers_and_complex_samples() -> None:
    x, w = pm.Signal(pm.Short, "x", N), pm.Signal(pm.Complex, "w", N)
    compiled = pm.compile([pm.sosfilt(SECTIONS, x), pm.sosfilt(SECTIONS, w)], inputs=[x, w])
    whole = np.random.default_rng(1).integers(-100, 100, 70).astype(np.int16)
    turned = noise(70) + 1j * noise(70)[::-1]
    expected = [signal.sosfilt(SECTIONS, each) for each in (whole.astype(np.float64), turned)]
    for one, other in zip(compiled(whole, turned), expected, strict=True):
        assert_close(one, other, roundings=4000, magnitude=100.0)


def test_filters_of_what_is_computed_and_readers() -> None:
    first = pm.sosfilt(SECTIONS, 2 * ONE + 1)
    outputs = [first, pm.sosfilt(SECTIONS, first), (first * first).down(3)]
    x = noise(2000)
    expected = signal.sosfilt(SECTIONS, 2 * x + 1)
    compiled = pm.compile(outputs, inputs=[ONE])
    assert [group.kind for group in compiled.explain().groups].count("recursive") == 2
    check(compiled(x), [expected, signal.sosfilt(SECTIONS, expected), (expected**2)[::3]])


def test_sections_of_complex_samples() -> None:
    """The first calls of each length: later ones find what those before left in the workspace."""
    x = pm.Signal(pm.Complex, "x", N)
    section = [[0.5, 0.5, 0, 1, -0.25, 0]]
    options = pm.Options(cflags=("-O3",))
    filtered = pm.compile(pm.sosfilt(section, x), inputs=[x], name="filtered", options=options)
    for length in (*LENGTHS, 9001):
        samples = noise(length) + 1j * noise(length, 1)[:, 0]
        assert_close(filtered(samples), signal.sosfilt(section, samples), roundings=4000, magnitude=4.0)


@pytest.mark.parametrize(("ahead", "behind"), [(3, 1), (3, 2), (40, 1), (40, 2), (3, 40)])
def test_coefficients_in_arrays_keep_their_type_however_many_they_are(ahead: int, behind: int) -> None:
    """As SciPy's do; NumPy's integers take the signal's type, as Python's numbers."""
    x = pm.Signal(pm.Float, "x", 50)
    for kind, wanted in (
        ("float32", pm.Float),
        ("float16", pm.Float),
        ("float64", pm.Double),
        ("int64", pm.Float),
    ):
        b, a = np.ones(ahead, kind), np.ones(behind, kind)
        assert pm.lfilter(b, a, x).dtype == wanted, kind
        assert pm.lfilter(b, a.tolist(), x).dtype == wanted, kind
