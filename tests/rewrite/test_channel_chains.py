"""Several stages over images with channels last: they run along rows of all channels as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Condition, Double, Float, Function, Image, Options, Select
from tests.rewrite.channels import LONG, WIDTHS, C, H, I, J, W, check, data, dims, graph, interval
from tests.tolerance import assert_close


def pipeline_of_three(channels: int) -> tuple[Function, ...]:
    """A blur, a sharpening that reads it, and the grey values of that."""
    image = Image(Double, "image", [H + 4, W + 4, channels])
    across, down, out = (
        Function(
            ([I, J, C], [interval(0, H + more), interval(0, W + wide), interval(0, channels - 1)]), Double, n
        )
        for n, more, wide in (("across", 3, -1), ("down", -1, -1), ("out", -1, -1))
    )
    across.defn = [sum(image(I, J + b, C) * (0.1 * (b + 1)) for b in range(5))]
    down.defn = [sum(across(I + a, J, C) * (0.1 * (a + 1)) for a in range(5))]
    out.defn = [image(I + 2, J + 2, C) * 1.5 - down(I, J, C) * 0.5]
    grey = Function(([I, J], [interval(0, H - 1), interval(0, W - 1)]), Double, "grey")
    grey.defn = [sum(out(I, J, channel) * (0.25 + channel) for channel in range(channels))]
    return across, down, out, grey


@pytest.mark.parametrize("channels", [1, 2, 3, 5])
def test_chains_are_joined_as_a_whole(channels: int) -> None:
    across, _, out, _ = pipeline_of_three(channels)
    found = graph(out)
    assert found.stage(across.name or "").dims == found.stage("out").dims == LONG
    check(out, *((9, width + 4, channels) for width in WIDTHS))


@pytest.mark.covering
@pytest.mark.parametrize("channels", [1, 2, 3, 5])
@pytest.mark.parametrize("threads", [1, 2])
def test_who_mixes_channels_reads_them_from_long_rows(channels: int, threads: int) -> None:
    *_, out, grey = pipeline_of_three(channels)
    assert dims(grey, "grey") == ("i", "j")
    check(grey, *((9, width + 4, channels) for width in WIDTHS), options=Options(threads=threads))
    compiled = pm.compile([out, grey], name="both", options=Options(threads=threads))
    for width in (1, 2, 40):
        given = data((9, width + 4, channels))
        for actual, expected in zip(compiled(given), compiled.reference(given), strict=True):
            assert_close(actual, expected, roundings=60, magnitude=100.0)


def harris() -> Function:
    image = Image(Double, "image", [H + 4, W + 4, 3])

    def stage(name: str, more: int) -> Function:
        sides = [interval(0, H - 1 + more), interval(0, W - 1 + more), interval(0, 2)]
        return Function(([I, J, C], sides), Double, name)

    dx, dy = stage("dx", 2), stage("dy", 2)
    dx.defn = [sum((image(I + a, J + 2, C) - image(I + a, J, C)) * w for a, w in enumerate((1.0, 2.0, 1.0)))]
    dy.defn = [sum((image(I + 2, J + b, C) - image(I, J + b, C)) * w for b, w in enumerate((1.0, 2.0, 1.0)))]
    sums = []
    for name, one, two in (("sxx", dx, dx), ("sxy", dx, dy), ("syy", dy, dy)):
        each = stage(name, 0)
        each.defn = [sum(one(I + a, J + b, C) * two(I + a, J + b, C) for a in range(3) for b in range(3))]
        sums.append(each)
    sxx, sxy, syy = (each(I, J, C) for each in sums)
    out = stage("out", 0)
    trace = sxx + syy
    out.defn = [sxx * syy - sxy * sxy - 0.04 * trace * trace]
    return out


@pytest.mark.parametrize("threads", [1, 2])
def test_corners_of_every_channel(threads: int) -> None:
    out = harris()
    found = graph(out)
    assert all(len(stage.dims) == 2 for stage in found.stages)
    compiled = pm.compile(out, name="corners", options=Options(threads=threads))
    for height, width in ((5, 5), (6, 6), (9, 11), (40, 37), (23, 131)):
        given = data((height, width, 3))
        assert_close(compiled(given), compiled.reference(given), roundings=400, magnitude=9 * 64.0**2)


@pytest.mark.drawn(6)
@pytest.mark.parametrize("seed", range(12))
def test_random_chains(seed: int) -> None:
    random = np.random.default_rng(seed)
    channels = int(random.integers(1, 6))
    dtype = [Double, Float][seed % 2]
    margin = 3
    image = Image(dtype, "image", [H, W, channels])
    columns = [interval(margin * k, W - 1 - margin * k) for k in range(4)]
    source: Any = image
    for k in range(1, 4):
        variables = ([I, J, C], [interval(0, H - 1), columns[k], interval(0, channels - 1)])
        stage = Function(variables, dtype, f"stage{k}" if k < 3 else "out")
        shifts = random.integers(-margin, margin + 1, 4)
        value = sum(source(I, J + int(shift), C) for shift in shifts)
        low = int(random.integers(0, 12))
        stage.defn = [Select(Condition(J, "<", low + I), value * 0.25, value - image(I, J, C))]
        source = stage
    compiled = pm.compile(source, name="random_chain")
    assert dims(source) == LONG
    for width in (6 * margin + 1, 6 * margin + 2, 61):
        given = data((5, width, channels), seed).astype(dtype.dtype)
        assert_close(compiled(given), compiled.reference(given), roundings=60, magnitude=125.0)
