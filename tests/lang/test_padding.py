"""Borders of arrays against `numpy.pad`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from tests.lang.refusals import Refusal, table

M, N = pm.Parameter(pm.Int, "M"), pm.Parameter(pm.Int, "N")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
A, x = pm.Matrix(pm.Double, "A", [M, N]), pm.Signal(pm.Double, "x", N)
image = pm.Image(pm.Short, "image", [M, 2, N])
LONG = [pm.Condition(size, ">", 2) for size in (M, N)]
WIDTHS: tuple[Any, ...] = (1, (2, 0), ((0, 0), (1, 2)), [[0, 1], [2, 0]], np.array([0, 2]), 0)
MODES: tuple[Any, ...] = ("constant", "edge", "reflect", "symmetric", "wrap")
SCOPE = {
    "pad": pm.pad,
    "A": A,
    "x": x,
    "image": image,
    "d": pm.dot(*(pm.Vector(pm.Double, n, [N]) for n in "uv")),
}


@pytest.mark.parametrize("mode", MODES)
def test_every_border(mode: Any) -> None:
    padded = [pm.pad(A, width, mode) for width in WIDTHS] + [pm.pad(x, 2, mode)]
    compiled = pm.compile(padded, name="padded", inputs=[A, x], constraints=LONG)
    for rows, columns in ((3, 3), (3, 5), (7, 4)):  # as short as a border of two allows
        a = np.random.default_rng(rows).normal(size=(rows, columns))
        expected = [np.pad(a, width, mode) for width in WIDTHS] + [np.pad(a[0], 2, mode)]
        for results in (compiled(a, a[0]), compiled.reference(a, a[0])):
            for actual, wanted in zip(results, expected, strict=True):
                np.testing.assert_array_equal(actual, wanted)


def test_three_dimensions_of_integers() -> None:
    widths = ((1, 0), (0, 0), (2, 1))
    compiled = pm.compile([pm.pad(image, widths, "reflect"), pm.pad(image, 1, value=-7)], constraints=LONG)
    given = np.arange(5 * 2 * 3, dtype=np.int16).reshape(5, 2, 3)
    mirrored, framed = compiled(given)
    np.testing.assert_array_equal(mirrored, np.pad(given, widths, "reflect"))
    np.testing.assert_array_equal(framed, np.pad(given, 1, constant_values=-7))


@pytest.mark.parametrize("size", [0, 1, 2])
def test_zeros_around_what_is_short_or_empty(size: int) -> None:
    given = np.arange(1.0, size + 1)
    np.testing.assert_array_equal(pm.compile(pm.pad(x, (1, 3)))(given), np.pad(given, (1, 3)))


@pytest.mark.parametrize("width", [(2, 0), (0, 2), 2])
def test_borders_of_lengths_below_zero_are_refused(width: Any) -> None:
    """The valid part of a filter of 12 taps and 10 samples has -1 of them: borders would meet."""
    valid = pm.compile(pm.pad(x.fir(np.ones(12)), width, value=7.0))
    rest = pm.compile(pm.pad(x[3:], width))
    twice = pm.compile(pm.pad(pm.pad(x[3:], width), 1))
    for length in (11, 12, 13, 40):
        samples = np.random.default_rng(length).integers(-9, 9, length).astype(float)
        wanted = np.pad(np.convolve(samples, np.ones(12))[11:length], width, constant_values=7.0)
        np.testing.assert_array_equal(valid(samples), wanted)
        np.testing.assert_array_equal(valid.reference(samples), wanted)
    for length in (0, 9, 10):
        with pytest.raises(pm.ArgumentError, match=r"refused for .*N = \d+.*: requires .* for pad\("):
            valid(np.ones(length))
    for length in (3, 4):
        samples = np.arange(length, dtype=float)
        np.testing.assert_array_equal(rest(samples), np.pad(samples[3:], width))
        np.testing.assert_array_equal(twice(samples), np.pad(np.pad(samples[3:], width), 1))
    for compiled in (rest, twice):
        with pytest.raises(pm.ArgumentError, match=r"refused for .*: requires N >= 3 for pad\("):
            compiled(np.ones(2))
    with pytest.raises(pm.LangError, match="no sizes meet all of these"):
        pm.compile(pm.pad(x.fir(np.ones(12)), width), sizes={N: 10})


def test_a_dimension_without_a_border_sets_no_condition() -> None:
    channels = pm.Signal(pm.Double, "channels", [M, N])
    filtered = pm.compile(pm.pad(channels.fir(np.ones(4)), ((1, 0), (0, 0))))
    assert filtered(np.ones((2, 2))).shape == (3, 0)
    np.testing.assert_array_equal(filtered(np.ones((2, 4))), [[0.0], [4.0], [4.0]])
    assert pm.pad(x, 1).requires == ()


def test_the_value_may_be_a_scalar_of_the_call() -> None:
    alpha = pm.Parameter(pm.Double, "alpha")
    result = pm.compile(pm.pad(x, 1, "constant", alpha))(np.ones(2), alpha=2.5)
    np.testing.assert_array_equal(result, [2.5, 1, 1, 2.5])


def test_matrices_stay_matrices_and_signals_signals() -> None:
    a = np.arange(6.0).reshape(2, 3)
    products = [pm.pad(A, 1) @ pm.pad(A, 1).T, pm.pad(x, 2).fir([1.0, 2.0, 3.0], mode="valid")]
    square, filtered = pm.compile(products, inputs=[A, x])(a, a[1])
    np.testing.assert_array_equal(square, np.pad(a, 1) @ np.pad(a, 1).T)
    np.testing.assert_array_equal(filtered, np.convolve(a[1], [1, 2, 3]))


@pytest.mark.parametrize("mode", ["constant", "reflect", "wrap"])
def test_a_stencil_is_fused_with_its_border(mode: Any) -> None:
    large = pm.pad(A, 1, mode)
    rows = pm.Interval(pm.Int, 0, M - 1)
    across = pm.Function(([i, j], [rows, pm.Interval(pm.Int, 0, N + 1)]), pm.Double, "across")
    across.defn = [large(i, j) + large(i + 1, j) - large(i + 2, j)]
    both = pm.Function(([i, j], [rows, pm.Interval(pm.Int, 0, N - 1)]), pm.Double, "both")
    both.defn = [across(i, j) * across(i, j + 1) + across(i, j + 2)]
    compiled = pm.compile(both, constraints=LONG, estimates={M: 2000, N: 2000})
    assert [group.stages[-2:] for group in compiled.explain().groups] == [("across", "both")]
    for shape in ((3, 3), (5, 131), (67, 33)):
        a = np.random.default_rng(1).integers(-9, 9, shape).astype(float)
        around = np.pad(a, 1, mode)
        sums = around[:-2] + around[1:-1] - around[2:]
        expected = sums[:, :-2] * sums[:, 1:-1] + sums[:, 2:]
        np.testing.assert_array_equal(compiled(a), expected)


REFUSED = """
pad(3, 1)
ShapeError: pad: 3 is no array

pad(d, 1)
ShapeError: pad: dot(u, v) is no array

pad(A, 1.5)
LangError: pad: the width is 1.5; expected an integer, a pair, or a pair for each of 2 dimensions

pad(A, [1, 2, 3])
LangError: pad: the width is list [1, 2, 3]; expected an integer, a pair, or a pair for each of 2 dimensions

pad(x, True)
LangError: pad: the width is bool True; expected an integer, a pair, or a pair for each of 1 dimension

pad(A, (0, -1))
LangError: pad: the width tuple (0, -1) is negative

pad(A, 1, "zeros")
LangError: pad: mode is 'constant', 'edge', 'reflect', 'symmetric' or 'wrap', got 'zeros'

pad(image, 1, "constant", 0.5)
DtypeError: pad: the value 0.5 is no Short, the type of image
"""


@pytest.mark.parametrize("refusal", table(REFUSED))
def test_refusal(refusal: Refusal) -> None:
    refusal.check(SCOPE)


@pytest.mark.parametrize(
    ("mode", "width", "shortest"),
    [("edge", 3, 1), ("reflect", (1, 3), 4), ("symmetric", (3, 0), 3), ("wrap", (2, 3), 3)],
)
def test_an_array_too_short_for_its_border_is_refused(mode: Any, width: Any, shortest: int) -> None:
    padded = pm.compile(pm.pad(x, width, mode))
    for length in (shortest, shortest + 1, 7):
        samples = np.arange(1.0, length + 1)
        for result in (padded(samples), padded.reference(samples)):
            np.testing.assert_array_equal(result, np.pad(samples, width, mode))
    for length in range(shortest):
        with pytest.raises(pm.ArgumentError, match=rf"N = {length}: requires N >= {shortest} for pad\("):
            padded(np.ones(length))


def test_a_known_extent_too_short_for_its_border_is_refused() -> None:
    with pytest.raises(pm.LangError, match="no sizes meet all of these"):
        pm.compile(pm.pad(image, ((0, 0), (2, 2), (0, 0)), "reflect"))
