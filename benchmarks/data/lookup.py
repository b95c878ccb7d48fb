"""A picture through a table of 256 entries."""

from __future__ import annotations

import numpy as np

from benchmarks.npbench.stages import mapped
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
from polymat import Cast, Int, Matrix, UChar, Vector


def build() -> Description:
    """Describe the entries that the picture names."""
    R, C = sizes = parameters("R C")
    y, x = variables("y x")
    image, table = Matrix(UChar, "image", [R, C]), Vector(UChar, "table", [256])
    out = mapped("out", (y, x), (R, C), table(Cast(Int, image(y, x))), UChar)
    return Description((out,), (image, table), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return a picture of noise, and a curve of contrast."""
    curve = 255 * (np.arange(256) / 255) ** 0.45
    return {
        "image": rng.integers(0, 256, extents(sizes, "R C"), dtype=np.uint8),
        "table": np.round(curve).astype(np.uint8),
    }


def reference(image: Array, table: Array) -> Arrays:
    """Look up with NumPy."""
    return {"out": table[image]}


PROGRAM = Program(
    name="lookup",
    sizes=size_table("R C", S=(500, 600), M=(2000, 3000)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=1,
    traffic=2,
    tolerance=0,
)
