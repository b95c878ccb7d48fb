"""Harris corner detection: twelve stages from a colour image to the response of each pixel."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.polybench.kernel import Arrays, Description, Sizes, parameters, size_table, variables
from polymat import Float, Function, Image, Interval
from polymat import Int as Integer

NAME = "harris"
SINGLE = 4
GREY = (0.299, 0.587, 0.114)
SENSITIVITY = 0.04
SIZES = size_table("R C", MINI=(39, 53), SMALL=(256, 256), MEDIUM=(1024, 1024), LARGE=(4096, 4096))


def build() -> Description:
    """Describe the pipeline; each stage is defined where everything it reads is."""
    R, C = sizes = parameters("R C")
    i, j = variables("i j")
    image = Image(Float, "image", [3, R, C])

    def stage(name: str, border: int, value: Any) -> Function:
        spans = [Interval(Integer, border, extent - 1 - border) for extent in (R, C)]
        found = Function(([i, j], spans), Float, name)
        found.defn = [value]
        return found

    def window(f: Function) -> Any:
        return sum(f(i + a, j + b) for a in (-1, 0, 1) for b in (-1, 0, 1))

    def slope(f: Function, across: int) -> Any:
        """Sobel's derivative along rows or columns."""

        def side(s: int) -> Any:
            at = [(a, s) if across else (s, a) for a in (-1, 0, 1)]
            return (
                f(i + at[0][0], j + at[0][1])
                + 2 * f(i + at[1][0], j + at[1][1])
                + f(i + at[2][0], j + at[2][1])
            )

        return (side(1) - side(-1)) * (1 / 12)

    grey = stage("grey", 0, sum(w * image(k, i, j) for k, w in enumerate(GREY)))
    gx, gy = stage("gx", 1, slope(grey, 1)), stage("gy", 1, slope(grey, 0))
    ixx, ixy = stage("ixx", 1, gx(i, j) * gx(i, j)), stage("ixy", 1, gx(i, j) * gy(i, j))
    iyy = stage("iyy", 1, gy(i, j) * gy(i, j))
    sxx, sxy, syy = (stage(name, 2, window(f)) for name, f in (("sxx", ixx), ("sxy", ixy), ("syy", iyy)))
    det = stage("det", 2, sxx(i, j) * syy(i, j) - sxy(i, j) * sxy(i, j))
    trace = stage("trace", 2, sxx(i, j) + syy(i, j))
    harris = stage("harris", 2, det(i, j) - SENSITIVITY * trace(i, j) * trace(i, j))
    return Description((harris,), (image,), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return a colour image of noise, plane by plane."""
    return {"image": rng.random((3, sizes["R"], sizes["C"]), dtype=np.float32)}


def reference(arrays: Arrays) -> Arrays:
    """Solve with NumPy; outside the interior the result is zero, and it has nothing behind it."""
    image = arrays["image"]
    rows, columns = image.shape[1:]
    result = np.zeros((max(rows - 2, 0), max(columns - 2, 0)), np.float32)
    if rows > 4 and columns > 4:
        grey = np.tensordot(np.array(GREY, np.float32), image, 1)
        gx, gy = _slope(grey.T).T, _slope(grey)
        sxx, sxy, syy = (_window(product) for product in (gx * gx, gx * gy, gy * gy))
        trace = sxx + syy
        result[2:, 2:] = sxx * syy - sxy * sxy - np.float32(SENSITIVITY) * trace * trace
    return {"harris": result}


def _slope(f: Any) -> Any:
    """Sobel's derivative from row to row, in the interior."""
    smooth = f[:, :-2] + 2 * f[:, 1:-1] + f[:, 2:]
    return (smooth[2:] - smooth[:-2]) * np.float32(1 / 12)


def _window(f: Any) -> Any:
    """The sum of each point and its eight neighbours, in the interior."""
    rows = f[:-2] + f[1:-1] + f[2:]
    return rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    return 59 * sizes["R"] * sizes["C"]


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move: three planes in, the response out."""
    return 4 * SINGLE * sizes["R"] * sizes["C"]
