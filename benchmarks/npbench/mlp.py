"""NPBench mlp: a network of three layers of weights, with what is negative cut off, and softmax, float32."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.npbench.stages import mapped, normalised
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
from polymat import Float, Matrix, Max, Vector

LAYERS = (("w1", "b1"), ("w2", "b2"), ("w3", "b3"))


def build() -> Description:
    """Describe the layers."""
    N, C, *widths = sizes = parameters("N C S0 S1 S2")
    n, s = variables("n s")
    x: Any = Matrix(Float, "image", [N, C])
    arrays = [x]
    for before, width, (w, b) in zip([C, *widths], widths, LAYERS, strict=False):
        weights, bias = Matrix(Float, w, [before, width]), Vector(Float, b, [width])
        arrays += [weights, bias]
        product = x @ weights
        value = product(n, s) + bias(s)
        last = width is widths[-1]
        x = mapped(f"x{b[-1]}", (n, s), (N, width), value if last else Max(value, 0.0), Float)
    return Description((normalised("out", x, (n, s), (N, widths[-1])),), tuple(arrays), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return random numbers of both signs, so small that products stay about 1."""
    N, C, *widths = extents(sizes, "N C S0 S1 S2")
    arrays = {"image": rng.random((N, C), dtype=np.float32)}
    for before, width, (w, b) in zip([C, *widths], widths, LAYERS, strict=False):
        scale = np.float32(1 / np.sqrt(max(before, 1)))
        arrays[w] = rng.standard_normal((before, width), dtype=np.float32) * scale
        arrays[b] = rng.random(width, dtype=np.float32)
    return arrays


def reference(image: Array, w1: Array, b1: Array, w2: Array, b2: Array, w3: Array, b3: Array) -> Arrays:
    """Solve with NumPy."""
    x = np.maximum(image @ w1 + b1, 0)
    x = np.maximum(x @ w2 + b2, 0)
    x = x @ w3 + b3
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return {"out": e / e.sum(axis=-1, keepdims=True)}


def weights(sizes: Sizes) -> int:
    """Count the weights."""
    C, S0, S1, S2 = extents(sizes, "C S0 S1 S2")
    return C * S0 + S0 * S1 + S1 * S2


PROGRAM = Program(
    name="mlp",
    sizes=size_table(
        "N C S0 S1 S2",
        S=(8, 3, 30000, 2000, 2000),
        M=(8, 3, 30000, 10000, 10000),
        L=(8, 3, 30000, 30000, 30000),
        PAPER=(8, 3, 30000, 10000, 1000),
    ),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=16,
    traffic=4,
    tolerance=1e-4,
    points=weights,
    relative=True,
)
