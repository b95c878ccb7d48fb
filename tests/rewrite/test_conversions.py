"""Stencils over small integers: when they compute with copies, and that the numbers stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Cast, Double, Float, Function, Image, Max, Min, Options, Short, UChar, UInt16
from tests.rewrite.channels import C, H, I, J, W, graph, interval

STEP = 0.0078125  # sums of multiples are exact, so that no rounding tells two orders of addition apart


def over(channels: int | None, margin: int) -> Any:
    sides = [interval(margin, H - 1 - margin), interval(margin, W - 1 - margin)]
    return ([I, J], sides) if channels is None else ([I, J, C], [*sides, interval(0, channels - 1)])


def clamped(value: Any, dtype: Any) -> Any:
    return Cast(dtype, Min(Max(value, 0.0), 255.0))


def blur(source: Any, target: Any, channels: int | None, computed: Any = Float, size: int = 3) -> Function:
    shape = [H, W] if channels is None else [H, W, channels]
    image, last = Image(source, "image", shape), [] if channels is None else [C]
    half = size // 2
    value: Any = 0
    for a in range(-half, half + 1):
        for b in range(-half, half + 1):
            value = value + Cast(computed, image(I + a, J + b, *last)) * (STEP * (a + 2 * b + 4))
    out = Function(over(channels, half), target, "out")
    out.defn = [value if target in (Float, Double) else clamped(value, target)]
    return out


def names(output: Any, **description: Any) -> tuple[str, ...]:
    return tuple(stage.name for stage in graph(output, **description).stages)


def check(output: Any, dtype: str, channels: int | None, **description: Any) -> None:
    compiled = pm.compile(output, name="converted", **description)
    info = np.iinfo(dtype)
    low, high = max(info.min, -300), min(info.max, 300)
    for height, width in ((5, 5), (5, 6), (7, 33), (41, 131)):
        shape = (height, width) if channels is None else (height, width, channels)
        image = np.random.default_rng(width).integers(low, high, shape, endpoint=True).astype(dtype)
        actual, expected = compiled(image), compiled.reference(image)
        assert actual.dtype == expected.dtype
        assert np.array_equal(actual, expected)


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("channels", [None, 1, 3, 4])
@pytest.mark.parametrize(
    ("source", "target"), [(UChar, UChar), (UInt16, UInt16), (Short, UChar), (UChar, Float)]
)
def test_a_blur_of_small_integers(source: Any, target: Any, channels: int | None, threads: int) -> None:
    out = blur(source, target, channels)
    expected = ("image_f32", "out") if target is Float else ("image_f32", "out_f32", "out")
    assert names(out) == expected
    check(out, source.dtype, channels, estimates={H: 1000, W: 1000}, options=Options(threads=threads))


def test_the_copy_stays_in_the_tiles() -> None:
    compiled = pm.compile(blur(UChar, UChar, 3), name="rows", estimates={H: 1000, W: 1000})
    report = compiled.explain()
    (group,) = report.groups
    assert group.storage["image_f32"] == group.storage["out_f32"] == "scratchpad"
    assert "image is converted to Float once, as image_f32" in report.notes


@pytest.mark.parametrize("size", [3, 5])
def test_sums_in_double(size: int) -> None:
    out = blur(UChar, UChar, None, Double, size)
    assert names(out) == ("image_f64", "out_f64", "out")
    check(out, "uint8", None)


def two(expression: Callable[[Any], Any], target: Any = UChar) -> Function:
    out = Function(([I, J], [interval(0, H - 3), interval(0, W - 3)]), target, "out")
    out.defn = [expression(Image(UChar, "image", [H, W]))]
    return out


def as_float(image: Any, *indices: Any) -> Any:
    return Cast(Float, image(*indices))


@pytest.mark.parametrize(
    "expression",
    [
        lambda image: Cast(UChar, as_float(image, I, J) * 0.5),
        lambda image: Cast(UChar, as_float(image, I, J) * 0.5 + as_float(image, I, J + 1) * 0.25),
        lambda image: Cast(
            UChar, as_float(image, I, 0) * 0.25 + as_float(image, I, 1) * 0.25 + as_float(image, I, 2)
        ),
        lambda image: image(I, J) + image(I, J + 1) + image(I, J + 2),
        lambda image: Cast(UChar, Cast(Float, image(I, J) + image(I, J + 1) + image(I, J + 2)) * 0.25),
    ],
)
def test_what_reads_each_element_once_or_computes_with_integers_is_left(expression: Any) -> None:
    out = two(expression)
    assert names(out) == ("out",)
    check(out, "uint8", None)


def test_interleaved_channels_that_are_mixed_are_read_once() -> None:
    image = Image(UChar, "image", [H, W, 3])
    grey = Function(([I, J], [interval(0, H - 1), interval(0, W - 1)]), UChar, "grey")
    grey.defn = [clamped(sum(Cast(Float, image(I, J, k)) * (0.125 * (k + 1)) for k in range(3)), UChar)]
    assert names(grey) == ("grey",)
    check(grey, "uint8", 3)


def test_several_stencils_share_a_copy() -> None:
    image = Image(UChar, "image", [H, W])
    sides = [interval(0, H - 3), interval(0, W - 3)]
    dx, dy = Function(([I, J], sides), Float, "dx"), Function(([I, J], sides), Float, "dy")
    dx.defn = [sum(as_float(image, I + k, J + 2) - as_float(image, I + k, J) for k in range(3))]
    dy.defn = [sum(as_float(image, I + 2, J + k) - as_float(image, I, J + k) for k in range(3))]
    out = Function(([I, J], sides), Short, "out")
    out.defn = [Cast(Short, dx(I, J) * dy(I, J) * 0.0625)]
    found = names(out)
    assert found.count("image_f32") == 1
    check(out, "uint8", None)


def test_a_filter_in_two_passes() -> None:
    image = Image(UChar, "image", [H, W, 3])
    variables = [I, J, C]
    channels, rows = interval(0, 2), interval(0, H - 1)
    across = Function((variables, [rows, interval(0, W - 5), channels]), Float, "across")
    across.defn = [sum(Cast(Float, image(I, J + b, C)) * (STEP * (b + 1)) for b in range(5))]
    down = Function((variables, [interval(0, H - 5), interval(0, W - 5), channels]), UChar, "down")
    down.defn = [clamped(sum(across(I + a, J, C) * (0.125 * (a + 1)) for a in range(5)), UChar)]
    for threads in (1, 2):
        check(down, "uint8", 3, estimates={H: 1000, W: 1000}, options=Options(threads=threads))


def test_without_tiles_nothing_is_copied() -> None:
    out = blur(UChar, UChar, 3)
    for options in (Options(tile=False), Options(fuse=False), Options.naive(), Options.paper()):
        assert names(out, options=options) == ("out",)
