"""NPBench conv2d_bias: a layer of filters over all channels of pictures, and a bias of each, float32."""

from __future__ import annotations

import numpy as np

from benchmarks.npbench.stages import convolved, mapped, windows
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
from polymat import Condition, Float, Image, Vector


def build() -> Description:
    """Describe the layer; a window fits into a picture."""
    N, C_in, C_out, K, H, W = sizes = parameters("N C_in C_out K H W")
    image = Image(Float, "image", [N, H, W, C_in])
    weights, bias = Image(Float, "weights", [K, K, C_in, C_out]), Vector(Float, "bias", [C_out])
    n, y, x, c = at = variables("n y x c")
    shape = (N, H - K + 1, W - K + 1, C_out)
    product = convolved("product", image, weights, shape, (K, K, C_in))
    out = mapped("out", at, shape, product(n, y, x, c) + bias(c), Float)
    fits = (Condition(H, ">=", K), Condition(W, ">=", K))
    return Description((out,), (image, weights, bias), sizes, fits)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return random numbers."""
    N, C_in, C_out, K, H, W = extents(sizes, "N C_in C_out K H W")
    shapes = {"image": (N, H, W, C_in), "weights": (K, K, C_in, C_out), "bias": (C_out,)}
    return {name: rng.random(shape, dtype=np.float32) for name, shape in shapes.items()}


def reference(image: Array, weights: Array, bias: Array) -> Arrays:
    """Solve with NumPy."""
    return {"out": windows(image, weights) + bias}


def multiplications(sizes: Sizes) -> int:
    """Count them."""
    N, C_in, C_out, K, H, W = extents(sizes, "N C_in C_out K H W")
    return N * C_in * C_out * K * K * (H - K + 1) * (W - K + 1)


PROGRAM = Program(
    name="conv2d_bias",
    sizes=size_table(
        "N C_in C_out K H W",
        S=(8, 3, 16, 2, 32, 32),
        M=(8, 3, 8, 5, 64, 64),
        L=(8, 3, 8, 10, 128, 128),
        PAPER=(8, 3, 16, 20, 256, 256),
    ),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=2,
    traffic=0,
    tolerance=1e-5,
    points=multiplications,
    relative=True,
)
