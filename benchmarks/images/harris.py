"""Harris corners of a grey image: eleven stages, the response where all of its neighbourhood is there."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.polybench.kernel import Array, Arrays, Description, Sizes, parameters, size_table, variables
from benchmarks.program import Program, between, photograph
from polymat import Case, Condition, Float, Function, Image

A, B = 1 / 12, 1 / 6
NEAR = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)]
ACROSS = ((-1, -1, -A), (-1, 1, A), (0, -1, -B), (0, 1, B), (1, -1, -A), (1, 1, A))
DOWN = ((-1, -1, -A), (1, -1, A), (-1, 0, -B), (1, 0, B), (-1, 1, -A), (1, 1, A))
SENSITIVITY = 0.04


def build() -> Description:
    """Describe the pipeline; the response is zero within two pixels of the border."""
    H, W = sizes = parameters("R C")
    x, y = variables("x y")
    image = Image(Float, "image", [H, W])

    def stage(name: str, border: int, value: Any) -> Function:
        spans = [between(border, extent - 1 - border) for extent in (H, W)]
        found = Function(([x, y], spans), Float, name)
        found.defn = [value]
        return found

    def slope(weights: Any) -> Any:
        return sum(w * image(x + a, y + b) for a, b, w in weights)

    def window(f: Function) -> Any:
        return sum(f(x + a, y + b) for a, b in NEAR)

    dy, dx = stage("dy", 1, slope(ACROSS)), stage("dx", 1, slope(DOWN))
    ixx, iyy = stage("ixx", 1, dx(x, y) * dx(x, y)), stage("iyy", 1, dy(x, y) * dy(x, y))
    ixy = stage("ixy", 1, dx(x, y) * dy(x, y))
    sxx, syy, sxy = (stage(name, 2, window(f)) for name, f in (("sxx", ixx), ("syy", iyy), ("sxy", ixy)))
    det = stage("det", 2, sxx(x, y) * syy(x, y) - sxy(x, y) * sxy(x, y))
    trace = stage("trace", 2, sxx(x, y) + syy(x, y))
    harris = Function(([x, y], [between(0, H - 1), between(0, W - 1)]), Float, "harris", default=0.0)
    inside = Condition(x, ">=", 2) & Condition(x, "<=", H - 3)
    inside &= Condition(y, ">=", 2) & Condition(y, "<=", W - 3)
    harris.defn = [Case(inside, det(x, y) - SENSITIVITY * trace(x, y) * trace(x, y))]
    return Description((harris,), (image,), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return a picture."""
    return {"image": photograph((sizes["R"], sizes["C"]), rng)}


def reference(image: Array) -> Arrays:
    """Solve with NumPy."""
    result = np.zeros_like(image)
    if min(image.shape) > 4:
        dy, dx = _slope(image, ACROSS), _slope(image, DOWN)
        sxx, syy, sxy = _window(dx * dx), _window(dy * dy), _window(dx * dy)
        trace = sxx + syy
        result[2:-2, 2:-2] = (sxx * syy - sxy * sxy) - (np.float32(SENSITIVITY) * trace) * trace
    return {"harris": result}


def _near(image: Array, a: int, b: int) -> Array:
    rows, columns = image.shape
    return image[1 + a : rows - 1 + a, 1 + b : columns - 1 + b]


def _slope(image: Array, weights: Any) -> Array:
    terms = [np.float32(w) * _near(image, a, b) for a, b, w in weights]
    total: Array = sum(terms[1:], terms[0])
    return total


def _window(image: Array) -> Array:
    parts = [_near(image, a, b) for a, b in NEAR]
    total: Array = sum(parts[1:], parts[0])
    return total


PROGRAM = Program(
    name="harris-corner",
    sizes=size_table("R C", MINI=(37, 53), SMALL=(256, 256), PAPER=(6400, 6400)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=56,
    traffic=8,
    tolerance=1e-6,
    relative=True,
)
