"""Blocks that walk over segments of depth, as convolutions have them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import polymat as pm
from polymat.codegen.products.blockshape import Shape
from polymat.codegen.products.registerblock import block_text
from polymat.codegen.products.walkblocks import has_whole_walk, walk, whole_walk
from polymat.machine.known import GENERIC
from tests.hosts import CompileFor
from tests.tolerance import assert_close

NARROW, WIDE = Shape("f32", 32, 6, 2, walks=True), Shape("f32", 64, 8, 3, walks=True)


def test_the_highest_blocks_of_whole_vectors_have_steps_written_out() -> None:
    sizes = [(rows, vectors) for rows in range(1, 7) for vectors in (1, 2)]
    assert [size for size in sizes if has_whole_walk(NARROW, *size)] == [(5, 2), (6, 2)]
    assert not any(has_whole_walk(WIDE, rows, 3) for rows in range(1, 9))
    text = block_text(whole_walk(NARROW, 6, 2))
    assert "turn < 4" in text
    assert "_pm_load" not in text


def test_those_of_parts_of_vectors_call_them_where_the_last_one_is_whole() -> None:
    text = block_text(walk(NARROW, 6, 2))
    assert "if (last == 8) {\n        _pm_whole_walk_f32_6x2(segments, at, depth, " in text
    assert "turn" not in text.replace("return", "")
    assert "_pm_whole_walk" not in block_text(walk(NARROW, 3, 2)) + block_text(walk(WIDE, 8, 3))


@pytest.mark.covering
@pytest.mark.parametrize("outputs", [16, 21, 32])
@pytest.mark.parametrize("channels", [1, 3, 4, 9])
def test_convolutions_of_whole_vectors_and_parts(
    compile_for: CompileFor, seed: int, outputs: int, channels: int
) -> None:
    compile_for(replace(GENERIC, vector_bits=256, vector_registers=16))
    H, W, K, C = (pm.Parameter(pm.Int, name) for name in "HWKC")
    h, w, k, r, s, c = (pm.Variable(pm.Int, name) for name in "hwkrsc")
    image = pm.Image(pm.Float, "I", [H + 2, W + 2, C])
    weights = pm.Image(pm.Float, "P", [3, 3, C, K])
    domain = [pm.Interval(pm.Int, 0, size - 1) for size in (H, W, K, 3, 3, C)]
    result = pm.Reduction(([h, w, k], domain[:3]), ([h, w, k, r, s, c], domain), pm.Float, "O")
    product = image(h + r, w + s, c) * weights(r, s, c, k)
    result.defn = [pm.Reduce(result(h, w, k), product, pm.Op.Sum)]
    estimates = {H: 20, W: 20, K: 32, C: 32}
    function = pm.compile(
        result, inputs=[image, weights], estimates=estimates, options=pm.Options(threads=1, blas="never")
    )
    rng = np.random.default_rng(seed)
    pixels = rng.standard_normal((15, 13, channels)).astype("float32")
    taps = rng.standard_normal((3, 3, channels, outputs)).astype("float32")
    expected = function.reference(pixels, taps)
    magnitude = function.reference(np.abs(pixels), np.abs(taps))
    assert_close(function(pixels, taps), expected, roundings=9 * channels + 4, magnitude=magnitude)
