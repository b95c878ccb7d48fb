"""A blur of 25 taps over an image of three channels: channels last, flat in the same memory, and planes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from benchmarks.cases import Case, Results, rounding_bounds
from benchmarks.polybench.kernel import Array, Description, parameters, variables
from benchmarks.section import Section
from benchmarks.task import Task
from polymat import Cast, Float, Function, Image, Interval, Max, Min, UChar
from polymat import Int as Integer

SIDE = 5
CHANNELS = 3
TAPS = tuple(tuple((a + 1) * (b + 1) / 225.0 for b in range(SIDE)) for a in range(SIDE))
"""Weights that add up to 1."""

QUICK, USUAL = (270, 480), (1080, 1920)
FORMS = ("last", "flat", "planes", "bytes")


def describe(task: Task) -> Description:
    """The blur without borders; its form is where the channels are, and what the image is made of."""
    form = task.problem.removeprefix("blur-")
    R, C = sizes = parameters("R C")
    i, j, c = variables("i j c")
    rows, columns = Interval(Integer, 0, R - SIDE), Interval(Integer, 0, C - SIDE)
    channels, dtype = Interval(Integer, 0, CHANNELS - 1), UChar if form == "bytes" else Float
    if form == "planes":
        image = Image(Float, "image", [CHANNELS, R, C])
        out = Function(([c, i, j], [channels, rows, columns]), Float, "out")
    elif form == "flat":
        image = Image(Float, "image", [R, CHANNELS * C])
        out = Function(([i, j], [rows, Interval(Integer, 0, CHANNELS * (C - SIDE + 1) - 1)]), Float, "out")
    else:
        image = Image(dtype, "image", [R, C, CHANNELS])
        out = Function(([i, j, c], [rows, columns, channels]), dtype, "out")

    def tap(a: int, b: int) -> Any:
        at = {"planes": (c, i + a, j + b), "flat": (i + a, j + CHANNELS * b)}.get(form, (i + a, j + b, c))
        return image(*at) if dtype == Float else Cast(Float, image(*at))

    total = sum(TAPS[a][b] * tap(a, b) for a in range(SIDE) for b in range(SIDE))
    out.defn = [total if dtype == Float else Cast(UChar, Min(Max(total + 0.5, 0.0), 255.0))]
    return Description((out,), (image,), sizes)


def blurred(image: Array) -> Array:
    """The blur of an image with channels last, in double precision."""
    windows = sliding_window_view(image.astype(np.float64), (SIDE, SIDE), axis=(0, 1))
    return np.asarray(np.einsum("ijcab,ab->ijc", windows, np.array(TAPS), optimize=True))


def blur_case(form: str, rows: int, columns: int) -> Case:
    """The blur of one form; the same numbers in each."""
    values = np.random.default_rng(1).random((rows, columns, CHANNELS), dtype=np.float32)
    image = (values * 255).astype(np.uint8) if form == "bytes" else values

    def expected() -> tuple[Results, Results]:
        right = blurred(image)
        if form == "bytes":  # what is between two numbers may be rounded to either
            return ((right + 0.5).astype(np.uint8).astype(np.float64),), (np.ones(right.shape),)
        found = _formed(form, right.astype(np.float32))
        return (found,), rounding_bounds((np.ones_like(found),), 2 * SIDE * SIDE, np.float32)

    results = (rows - SIDE + 1) * (columns - SIDE + 1) * CHANNELS
    return Case(
        name=f"{form} {rows} x {columns}",
        group=form,
        task=Task(f"blur-{form}", {"image": _formed(form, image)}, {"sizes": {"R": rows, "C": columns}}),
        expected=expected,
        flops=2 * SIDE * SIDE * results,
        traffic=image.itemsize * (image.size + results),
        element_bytes=4,
        view=lambda array: array.astype(np.float64) if array.dtype == np.uint8 else array,
        stream="copy",
    )


def _formed(form: str, image: Array) -> Array:
    """An image with channels last in the form of a case."""
    if form == "planes":
        return np.ascontiguousarray(np.moveaxis(image, 2, 0))
    return image.reshape(len(image), -1) if form == "flat" else image


def cases(quick: bool) -> Iterator[Case]:
    """Every form."""
    for form in FORMS:
        yield blur_case(form, *(QUICK if quick else USUAL))


PROBLEMS = {f"blur-{form}": describe for form in FORMS}
SECTIONS = (
    Section(
        name="channels",
        title="A blur of 25 taps over three channels, float32 and uint8",
        cases=cases,
        rivals={"polymat": ("ndimage", "Numba")},
        goals=("channels last within 1.2 of the same memory without channels",),
    ),
)
