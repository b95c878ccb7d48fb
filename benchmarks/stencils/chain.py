"""Blur along rows, blur along columns, sharpen: three stages over a float32 image."""

from __future__ import annotations

import numpy as np

from benchmarks.polybench.kernel import Array, Arrays, Description, Sizes, parameters, size_table, variables
from polymat import Float, Function, Image, Interval
from polymat import Int as Integer

NAME = "chain"
SINGLE = 4
TAPS = (0.0625, 0.25, 0.375, 0.25, 0.0625)
SHARPER = 0.5
SIZES = size_table("R C", MINI=(45, 61), SMALL=(256, 256), MEDIUM=(1024, 1024), LARGE=(4096, 4096))


def build() -> Description:
    """Describe the chain; each stage is defined where everything it reads is."""
    R, C = sizes = parameters("R C")
    i, j = variables("i j")
    image = Image(Float, "image", [R, C])

    def stage(name: str, rows: int, columns: int) -> Function:
        spans = [Interval(Integer, rows, R - 1 - rows), Interval(Integer, columns, C - 1 - columns)]
        return Function(([i, j], spans), Float, name)

    across, down, sharp = stage("across", 0, 2), stage("down", 2, 2), stage("sharp", 2, 3)
    across.defn = [sum(w * image(i, j + k - 2) for k, w in enumerate(TAPS))]
    down.defn = [sum(w * across(i + k - 2, j) for k, w in enumerate(TAPS))]
    sharp.defn = [(1 + 2 * SHARPER) * down(i, j) - SHARPER * (down(i, j - 1) + down(i, j + 1))]
    return Description((sharp,), (image,), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return an image of noise."""
    return {"image": rng.random((sizes["R"], sizes["C"]), dtype=np.float32)}


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy; outside the interior the result is zero, and it has no columns behind it."""
    image = arrays["image"]
    rows, columns = image.shape
    result = np.zeros((max(rows - 2, 0), max(columns - 3, 0)), np.float32)
    if rows > 4 and columns > 6:
        across = _weighted([image[:, k : columns - 4 + k] for k in range(5)])
        down = _weighted([across[k : rows - 4 + k] for k in range(5)])
        sides = down[:, :-2] + down[:, 2:]
        result[2:, 3:] = np.float32(1 + 2 * SHARPER) * down[:, 1:-1] - np.float32(SHARPER) * sides
    return {"sharp": result}


def _weighted(arrays: list[Array]) -> Array:
    total: Array = np.float32(TAPS[0]) * arrays[0]
    for weight, array in zip(TAPS[1:], arrays[1:], strict=True):
        total += np.float32(weight) * array
    return total


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    return 22 * sizes["R"] * sizes["C"]


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move: the image in, the result out."""
    return 2 * SINGLE * sizes["R"] * sizes["C"]
