"""NPBench compute: clip(x, 2, 10) a + y b + c, all in integers of 64 bits."""

from __future__ import annotations

from types import MappingProxyType

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
from polymat import Clamp, Long, Matrix, Parameter

LEAST, MOST = 2, 10


def build() -> Description:
    """Describe the pipeline."""
    M, N = sizes = parameters("M N")
    i, j = variables("i j")
    x, y = Matrix(Long, "x", [M, N]), Matrix(Long, "y", [M, N])
    a, b, c = (Parameter(Long, name) for name in "abc")
    out = mapped("out", (i, j), (M, N), Clamp(x(i, j), LEAST, MOST) * a + y(i, j) * b + c, Long)
    return Description((out,), (x, y), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return random integers."""
    shape = extents(sizes, "M N")
    return {name: rng.integers(0, 1000, shape, dtype=np.int64) for name in ("x", "y")}


def reference(x: Array, y: Array, a: int, b: int, c: int) -> Arrays:
    """Solve with NumPy."""
    return {"out": np.clip(x, LEAST, MOST) * a + y * b + c}


PROGRAM = Program(
    name="compute",
    sizes=size_table("M N", S=(2000, 2000), M=(5000, 5000), L=(16000, 16000), PAPER=(12500, 12500)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=6,
    traffic=24,
    tolerance=0,
    scalars=MappingProxyType({"a": 4, "b": 3, "c": 9}),
    points=lambda sizes: sizes["M"] * sizes["N"],
)
