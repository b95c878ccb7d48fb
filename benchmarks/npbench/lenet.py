"""NPBench lenet: two layers of filters, of squares of two the largest, and three layers of weights, float32.

The first weights take what the filters made by row, column and channel, which NumPy's program flattens.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from benchmarks.npbench.stages import convolved, mapped, summed, windows
from benchmarks.polybench.kernel import (
    Array,
    Arrays,
    Description,
    Sizes,
    extents,
    parameters,
    size_table,
    variables,
)
from benchmarks.program import Program
from polymat import Condition, Float, Image, Matrix, Max, Op, Vector

FILTERS = (1, 6, 16)
WIDTHS = (120, 84, 10)
WINDOW = 5


def halved(extent: Any) -> Any:
    """How many squares there are where windows fit."""
    return (extent - WINDOW + 1) // 2


def build() -> Description:
    """Describe the layers; something is left behind the second one."""
    N, H, W = sizes = parameters("N H W")
    n, y, x, c, a, b, o = variables("n y x c a b o")
    here: Any = Image(Float, "image", [N, H, W, FILTERS[0]])
    arrays, high, wide = [here], H, W
    for layer, (before, after) in enumerate(itertools.pairwise(FILTERS), 1):
        filters = Image(Float, f"filters{layer}", [WINDOW, WINDOW, before, after])
        bias = Vector(Float, f"bias{layer}", [after])
        shape = (N, high - WINDOW + 1, wide - WINDOW + 1, after)
        product = convolved(f"product{layer}", here, filters, shape, (WINDOW, WINDOW, before))
        bright = mapped(f"bright{layer}", (n, y, x, c), shape, Max(product(n, y, x, c) + bias(c), 0.0), Float)
        high, wide = halved(high), halved(wide)
        square = bright(n, 2 * y + a, 2 * x + b, c)
        pooled, place, extent = f"pooled{layer}", (n, y, x, c), (N, high, wide, after)
        here = summed(pooled, place, extent, (a, b), (2, 2), square, op=Op.Max, dtype=Float)
        arrays += [filters, bias]
    for layer, (before, after) in enumerate(zip((0, *WIDTHS), WIDTHS, strict=False), 1):
        weights: Any
        over: tuple[Any, ...]
        lengths: tuple[Any, ...]
        bias = Vector(Float, f"b{layer}", [after])
        if layer == 1:
            weights = Image(Float, "w1", [high, wide, FILTERS[-1], after])
            term, over, lengths = here(n, y, x, c) * weights(y, x, c, o), (y, x, c), (high, wide, FILTERS[-1])
        else:
            weights = Matrix(Float, f"w{layer}", [before, after])
            term, over, lengths = here(n, c) * weights(c, o), (c,), (before,)
        total = summed(f"total{layer}", (n, o), (N, after), over, lengths, term, dtype=Float)
        value = total(n, o) + bias(o)
        here = mapped(
            f"x{layer}", (n, o), (N, after), value if after == WIDTHS[-1] else Max(value, 0.0), Float
        )
        arrays += [weights, bias]
    least = tuple(Condition(extent, ">=", 16) for extent in (H, W))
    return Description((here,), tuple(arrays), sizes, least)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return random numbers; weights are of both signs."""
    N, H, W = extents(sizes, "N H W")
    high, wide = halved(halved(H)), halved(halved(W))
    arrays = {"image": rng.random((N, H, W, FILTERS[0]), dtype=np.float32)}
    for layer, (before, after) in enumerate(itertools.pairwise(FILTERS), 1):
        shape = WINDOW, WINDOW, before, after
        arrays[f"filters{layer}"] = rng.standard_normal(shape, dtype=np.float32) / np.float32(WINDOW)
        arrays[f"bias{layer}"] = rng.random(after, dtype=np.float32)
    rows: Any = (high, wide, FILTERS[-1])
    for layer, after in enumerate(WIDTHS, 1):
        scale = np.float32(1 / np.sqrt(np.prod(rows)))
        arrays[f"w{layer}"] = rng.standard_normal((*rows, after), dtype=np.float32) * scale
        arrays[f"b{layer}"] = rng.random(after, dtype=np.float32)
        rows = (after,)
    return arrays


def reference(image: Array, f1: Array, g1: Array, f2: Array, g2: Array, *layers: Array) -> Arrays:
    """Solve with NumPy."""
    x = image
    for weights, bias in ((f1, g1), (f2, g2)):
        x = np.maximum(windows(x, weights) + bias, 0)
        high, wide = x.shape[1] // 2 * 2, x.shape[2] // 2 * 2
        x = np.maximum(x[:, :high:2, :wide], x[:, 1:high:2, :wide])
        x = np.maximum(x[:, :, ::2], x[:, :, 1::2])
    x = x.reshape(len(x), -1)
    for weights, bias in zip(layers[::2], layers[1::2], strict=True):
        last = bias is layers[-1]
        x = x @ weights.reshape(-1, len(bias)) + bias
        x = x if last else np.maximum(x, 0)
    return {"x3": x}


def multiplications(sizes: Sizes) -> int:
    """Count those of the filters."""
    N, H, W = extents(sizes, "N H W")
    first = (H - 4) * (W - 4) * 25 * 6
    second: int = (halved(H) - 4) * (halved(W) - 4) * 25 * 6 * 16
    return N * (first + second)


PROGRAM = Program(
    name="lenet",
    sizes=size_table("N H W", S=(4, 28, 28), M=(8, 56, 56), L=(8, 176, 176), PAPER=(16, 256, 256)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=2,
    traffic=0,
    tolerance=1e-4,
    points=multiplications,
    relative=True,
)
