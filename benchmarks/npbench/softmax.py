"""NPBench softmax: exp(x - max x) over its sum, along the last of four dimensions, float32."""

from __future__ import annotations

import numpy as np

from benchmarks.npbench.stages import normalised
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
from polymat import Float, Image


def build() -> Description:
    """Describe the pipeline."""
    N, H, S = sizes = parameters("N H S")
    at, whole = variables("n h r c"), (N, H, S, S)
    x = Image(Float, "x", list(whole))
    y = normalised("y", x, at, whole)
    return Description((y,), (x,), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return random numbers."""
    N, H, S = extents(sizes, "N H S")
    return {"x": rng.random((N, H, S, S), dtype=np.float32)}


def reference(x: Array) -> Arrays:
    """Solve with NumPy."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return {"y": e / e.sum(axis=-1, keepdims=True)}


PROGRAM = Program(
    name="softmax",
    sizes=size_table("N H S", S=(16, 16, 128), M=(32, 8, 256), L=(64, 16, 448), PAPER=(64, 16, 512)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=5,
    traffic=8,
    tolerance=1e-5,
    points=lambda sizes: sizes["N"] * sizes["H"] * sizes["S"] ** 2,
    relative=True,
)
