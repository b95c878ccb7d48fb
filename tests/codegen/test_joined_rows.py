"""Rows of several segments in one strip: images of a few pixels, and those of a batch, by many channels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.lang.types import ScalarType
from polymat.machine.known import GENERIC
from tests.hosts import CompileFor

# Panels of a few columns, of which there are many for some channels.
NARROW = replace(GENERIC, vector_bits=128, l1_bytes=1 << 12, l2_bytes=1 << 15, l3_bytes=1 << 17)
OUTPUTS = 200
# Images, pixels, inputs, taps and stride: whole strips, rows of one pixel, strips of several images, blocks
# of several strips, depth that ends within eight steps.
LAYERS = (
    (1, (7, 7), 5, (3, 3), 1),
    (3, (2, 5), 9, (2, 4), 1),
    (2, (1, 13), 11, (3, 3), 2),
    (4, (5, 1), 3, (3, 1), 1),
    (1, (17, 17), 4, (3, 3), 1),
    (2, (9, 10), 8, (5, 5), 2),
    (5, (3, 3), 1, (2, 2), 2),
)
Reader = Callable[[Any, Any, list[Any]], Any]


def _exponential(sums: Any, bias: Any, variables: list[Any]) -> Any:
    return pm.Exp(0.001 * sums(*variables) - 10.0) + bias(variables[-1])


READERS: dict[str, Reader | None] = {
    "none": None,
    "in registers": lambda sums, bias, at: pm.Max(sums(*at) + bias(at[-1]), 0.0),
    "on parts": _exponential,
}


def layers(dtype: ScalarType, stride: int, reader: str, options: pm.Options) -> Any:
    """Layers of images of a batch, and what is made of them."""
    N, H, W, K, R, S, C = sizes = [pm.Parameter(pm.Int, name) for name in "NHWKRSC"]
    n, h, w, k, r, s, c = variables = [pm.Variable(pm.Int, name) for name in "nhwkrsc"]
    image = pm.Image(dtype, "I", [N, stride * (H - 1) + R, stride * (W - 1) + S, C])
    weights, bias = pm.Image(dtype, "P", [R, S, C, K]), pm.Vector(dtype, "bias", [K])
    domain = [pm.Interval(pm.Int, 0, size - 1) for size in sizes]
    sums = pm.Reduction((variables[:4], domain[:4]), (variables, domain), dtype, "sums")
    pixel = image(n, stride * h + r, stride * w + s, c)
    sums.defn = [pm.Reduce(sums(n, h, w, k), pixel * weights(r, s, c, k), pm.Op.Sum)]
    read = READERS[reader]
    output: pm.Function = sums
    inputs: list[Any] = [image, weights]
    if read is not None:
        inputs, output = [*inputs, bias], pm.Function((variables[:4], domain[:4]), dtype, "read")
        output.defn = [read(sums, bias, variables[:4])]
    estimates = dict(zip(sizes, (2, 7, 7, 256, 3, 3, 64), strict=True))
    return pm.compile(output, name="layers", inputs=inputs, options=options, estimates=estimates)


@pytest.mark.parametrize(
    ("dtype", "reader", "threads"),
    [
        (pm.Float, "none", 1),
        (pm.Double, "none", 2),
        (pm.Float, "in registers", 2),
        (pm.Double, "on parts", 1),
    ],
    ids=str,
)
def test_layers_of_small_images(
    dtype: ScalarType, reader: str, threads: int, seed: int, compile_for: CompileFor
) -> None:
    compile_for(NARROW)
    options = pm.Options(blas="never", threads=threads, parallel_threshold=0)
    compiled = {stride: layers(dtype, stride, reader, options) for stride in (1, 2)}
    schemes = [str(each.explain()) for each in compiled.values()]
    assert all(("pack(I" in text) == (reader != "on parts") for text in schemes), schemes
    rng = np.random.default_rng(seed)
    for images, (height, width), channels, taps, stride in LAYERS:
        pixels = [stride * (size - 1) + tap for size, tap in zip((height, width), taps, strict=True)]
        shapes: list[tuple[int, ...]] = [(images, *pixels, channels), (*taps, channels, OUTPUTS), (OUTPUTS,)]
        arrays = [rng.integers(-9, 10, shape).astype(dtype.dtype) for shape in shapes]
        given = arrays[: 2 if reader == "none" else 3]
        found, expected = compiled[stride](*given), compiled[stride].reference(*given)
        np.testing.assert_allclose(found, expected, rtol=1e-5 if reader == "on parts" else 0)


def test_layers_added_to_an_array(seed: int, compile_for: CompileFor) -> None:
    """Once to one that lies like the result, and once to one of which each row has a gap."""
    compile_for(NARROW)
    for gap in (0, 3):
        H, W, K, R, C = sizes = [pm.Parameter(pm.Int, name) for name in "HWKRC"]
        h, w, k, r, c = variables = [pm.Variable(pm.Int, name) for name in "hwkrc"]
        image, weights = pm.Image(pm.Float, "I", [H + R - 1, W, C]), pm.Image(pm.Float, "P", [R, C, K])
        before = pm.Image(pm.Float, "before", [H, W + gap, K])
        domain = [pm.Interval(pm.Int, 0, size - 1) for size in sizes]
        start = 0.5 * before(h, w, k)
        sums = pm.Reduction((variables[:3], domain[:3]), (variables, domain), pm.Float, "sums", init=start)
        sums.defn = [pm.Reduce(sums(h, w, k), image(h + r, w, c) * weights(r, c, k), pm.Op.Sum)]
        inputs, options = [image, weights, before], pm.Options(blas="never", threads=1)
        estimates = dict(zip(sizes, (7, 7, 256, 3, 64), strict=True))
        compiled = pm.compile(sums, name="added", inputs=inputs, options=options, estimates=estimates)
        rng = np.random.default_rng(seed)
        for height, width, outputs, taps, channels in ((7, 7, 200, 3, 5), (4, 13, 260, 2, 17)):
            shapes = (
                (height + taps - 1, width, channels),
                (taps, channels, outputs),
                (height, width + gap, outputs),
            )
            arrays = [rng.integers(-9, 10, shape).astype(np.float32) for shape in shapes]
            np.testing.assert_array_equal(compiled(*arrays), compiled.reference(*arrays))


def test_result_rows_with_gaps_are_not_joined(seed: int, compile_for: CompileFor) -> None:
    """Rows of a result that another dimension lies between end their own strips."""
    compile_for(NARROW)
    letters = dict(zip("hwkrcx", (pm.Parameter(pm.Int, name) for name in "HWKRCX"), strict=True))
    a = pm.Image(pm.Float, "A", [letters[x] for x in "hrwc"])
    b = pm.Image(pm.Float, "B", [letters[x] for x in "rcxk"])
    compiled = pm.compile(
        pm.einsum("hrwc,rcxk->hxwk", a, b), name="apart", inputs=[a, b], options=pm.Options(blas="never")
    )
    rng = np.random.default_rng(seed)
    x = rng.integers(-9, 10, (5, 3, 7, 9)).astype(np.float32)
    y = rng.integers(-9, 10, (3, 9, 2, 150)).astype(np.float32)
    np.testing.assert_array_equal(compiled(x, y), np.einsum("hrwc,rcxk->hxwk", x, y))
