"""NPBench resnet: a block of three layers of filters around which its input goes, float32.

Each layer is normalised over the pictures, point by point, and what is negative is cut off.
"""

from __future__ import annotations

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
from benchmarks.program import Program, between
from polymat import Case, Cast, Condition, Float, Function, Image, Max, Sqrt

EPSILON = 1e-5


def build() -> Description:
    """Describe the block; the second layer reads a border of zeros, which are normalised as well."""
    N, H, W, C, D = sizes = parameters("N H W C D")
    n, y, x, c = at = variables("n y x c")
    image = Image(Float, "image", [N, H, W, C])
    shapes = ([1, 1, C, D], [3, 3, D, D], [1, 1, D, C])
    filters = [Image(Float, f"filters{layer}", shape) for layer, shape in enumerate(shapes, 1)]
    count = Cast(Float, N)

    def normalised(layer: int, f: Any, extents: Any) -> Any:
        place, spans = (y, x, c), extents[1:]
        total = summed(f"total{layer}", place, spans, (n,), (N,), f(*at), dtype=Float)
        mean = mapped(f"mean{layer}", place, spans, total(*place) / count, Float)
        off = f(*at) - mean(*place)
        square = summed(f"square{layer}", place, spans, (n,), (N,), off * off, dtype=Float)
        scale = mapped(f"scale{layer}", place, spans, Sqrt(Sqrt(square(*place) / count) + EPSILON), Float)
        return off / scale(*place)

    first = convolved("product1", image, filters[0], (N, H, W, D), (1, 1, C))
    rows, columns = (
        Condition(y, ">=", 1) & Condition(y, "<=", H),
        Condition(x, ">=", 1) & Condition(x, "<=", W),
    )
    wide = [between(0, N - 1), between(0, H + 1), between(0, W + 1), between(0, D - 1)]
    padded = Function((list(at), wide), Float, "padded", default=0.0)
    padded.defn = [Case(rows & columns, first(n, y - 1, x - 1, c))]
    one = mapped("one", at, wide, Max(normalised(1, padded, wide), 0.0), Float)
    second = convolved("product2", one, filters[1], (N, H, W, D), (3, 3, D))
    two = mapped("two", at, (N, H, W, D), Max(normalised(2, second, (N, H, W, D)), 0.0), Float)
    third = convolved("product3", two, filters[2], (N, H, W, C), (1, 1, D))
    value = Max(normalised(3, third, (N, H, W, C)) + image(*at), 0.0)
    out = mapped("out", at, (N, H, W, C), value, Float)
    return Description((out,), (image, *filters), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return random numbers."""
    N, H, W, C, D = extents(sizes, "N H W C D")
    shapes = {
        "image": (N, H, W, C),
        "filters1": (1, 1, C, D),
        "filters2": (3, 3, D, D),
        "filters3": (1, 1, D, C),
    }
    return {name: rng.random(shape, dtype=np.float32) for name, shape in shapes.items()}


def reference(image: Array, filters1: Array, filters2: Array, filters3: Array) -> Arrays:
    """Solve with NumPy."""

    def normalised(x: Array) -> Array:
        found: Array = (x - x.mean(axis=0)) / np.sqrt(x.std(axis=0) + np.float32(EPSILON))
        return found

    x = np.pad(windows(image, filters1), ((0, 0), (1, 1), (1, 1), (0, 0)))
    x = np.maximum(normalised(x), 0)
    x = np.maximum(normalised(windows(x, filters2)), 0)
    return {"out": np.maximum(normalised(windows(x, filters3)) + image, 0)}


def multiplications(sizes: Sizes) -> int:
    """Count those of the filters."""
    N, H, W, C, D = extents(sizes, "N H W C D")
    return N * H * W * D * (2 * C + 9 * D)


PROGRAM = Program(
    name="resnet",
    sizes=size_table(
        "N H W C D",
        S=(8, 14, 14, 32, 8),
        M=(8, 28, 28, 64, 16),
        L=(8, 56, 56, 128, 32),
        PAPER=(8, 56, 56, 256, 64),
    ),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=2,
    traffic=0,
    tolerance=1e-3,
    points=multiplications,
    relative=True,
)
