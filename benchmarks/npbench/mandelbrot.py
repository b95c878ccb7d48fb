"""NPBench mandelbrot1 and mandelbrot2: how soon z -> z z + c leaves a circle, c over a grid of the plane.

Both go on with each point until it is outside, and have the last z and a count of steps; the circle itself is
outside for the first alone, and they differ in what they say of points that never leave.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.npbench.stages import mapped
from benchmarks.polybench.kernel import Array, Arrays, Description, Sizes, parameters, size_table, variables
from benchmarks.program import Program
from polymat import Cast, Condition, Double, Int, Parameter, Select, iterate

FAR = 4.0  # the square of the circle's radius
WINDOW = MappingProxyType({"left": -2.0, "right": 0.5, "low": -1.25, "high": 1.25})
UNIT = float(np.finfo(np.float64).eps)
State = tuple[Any, Any, Any]


def describe(still: str, finished: Callable[[State, Any], State]) -> Description:
    """Describe steps of real and imaginary parts while z is inside, and what is said of the last ones."""
    X, Y, T = sizes = parameters("X Y T")
    at = y, x = variables("y x")
    left, right, low, high = (Parameter(Double, name) for name in WINDOW)
    re = left + (right - left) * Cast(Double, x) / Cast(Double, X - 1)
    im = low + (high - low) * Cast(Double, y) / Cast(Double, Y - 1)

    def step(a: Any, b: Any, count: Any) -> Any:
        u, v, n = a(*at), b(*at), count(*at)
        inside = Condition(u * u + v * v, still, FAR)
        return (
            mapped("a_after", at, (Y, X), Select(inside, u * u - v * v + re, u)),
            mapped("b_after", at, (Y, X), Select(inside, 2.0 * u * v + im, v)),
            mapped("n_after", at, (Y, X), Select(inside, n + 1, n), Int),
        )

    kinds = {"real": Double, "imaginary": Double, "count": Int}
    starts = [mapped(f"{name}_0", at, (Y, X), 0, kind) for name, kind in kinds.items()]
    values = finished(tuple(state(*at) for state in iterate(step, starts, steps=T)), T)
    named = zip(kinds.items(), values, strict=True)
    outputs = tuple(mapped(name, at, (Y, X), value, kind) for (name, kind), value in named)
    return Description(outputs, (), sizes, (Condition(X, ">=", 2), Condition(Y, ">=", 2)))


def build() -> Description:
    """The last z, and the number of the last step from inside, from 0 on; 0 if it is the last one of all."""

    def finished(state: State, T: Any) -> State:
        a, b, n = state
        return a, b, Select(Condition(n, "<", T), n - 1, 0)

    return describe("<", finished)


def build_two() -> Description:
    """The first z outside, and how many steps led there; 0 of both where none is."""

    def finished(state: State, T: Any) -> State:
        a, b, n = state
        outside = Condition(a * a + b * b, ">", FAR)
        return Select(outside, a, 0.0), Select(outside, b, 0.0), Select(outside, n, 0)

    return describe("<=", finished)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """There are none."""
    return {}


def grid(X: int, Y: int, left: float, right: float, low: float, high: float) -> Array:
    """The numbers c."""
    found: Array = np.linspace(left, right, X) + 1j * np.linspace(low, high, Y)[:, None]
    return found


def followed(c: Array, T: int) -> tuple[Array, Array]:
    """The last z, and the number of steps from inside."""
    z, count = np.zeros_like(c), np.zeros(c.shape, np.int32)
    for _ in range(T):
        inside = np.abs(z) < np.sqrt(FAR)
        count[inside] += 1
        z[inside] = z[inside] ** 2 + c[inside]
    return z, count


def reference(X: int, Y: int, T: int, **window: float) -> Arrays:
    """Solve with NumPy."""
    z, count = followed(grid(X, Y, **window), T)
    return {"real": z.real, "imaginary": z.imag, "count": np.where(count < T, count - 1, 0)}


def reference_two(X: int, Y: int, T: int, **window: float) -> Arrays:
    """Solve with NumPy, of points that are still inside alone."""
    c = grid(X, Y, **window).ravel()
    last, steps, left = np.zeros_like(c), np.zeros(c.shape, np.int32), np.arange(c.size)
    z, c = np.zeros_like(c), c.copy()
    for step in range(1, T + 1):
        z = z * z + c
        outside = np.abs(z) > np.sqrt(FAR)
        last[left[outside]], steps[left[outside]] = z[outside], step
        z, c, left = z[~outside], c[~outside], left[~outside]
    whole = last.reshape(Y, X)
    return {"real": whole.real, "imaginary": whole.imag, "count": steps.reshape(Y, X)}


def undecided(X: int, Y: int, T: int, **window: float) -> Arrays:
    """What rounding of all steps comes to: anything, where it may decide which side of the circle z is on."""
    c = grid(X, Y, **window)
    z, off, open_ = np.zeros_like(c), np.zeros(c.shape), np.zeros(c.shape, bool)
    for _ in range(T):
        size = np.abs(z)
        open_ |= np.abs(size - np.sqrt(FAR)) <= off
        inside = size < np.sqrt(FAR)
        further = 2 * size * off + off * off + 8 * UNIT * (size * size + 4)
        off = np.minimum(np.where(inside, further, off), FAR)
        z[inside] = z[inside] ** 2 + c[inside]
    open_ |= np.abs(np.abs(z) - np.sqrt(FAR)) <= off
    parts = np.where(open_, 8 * FAR, off)
    return {"real": parts, "imaginary": parts, "count": np.where(open_, T, 0)}


PROGRAM = Program(
    name="mandelbrot1",
    sizes=size_table(
        "X Y T", S=(125, 125, 60), M=(250, 250, 150), L=(833, 833, 200), PAPER=(1000, 1000, 200)
    ),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=8,
    traffic=0,
    tolerance=0,
    scalars=WINDOW,
    undecided=undecided,
    points=lambda sizes: sizes["X"] * sizes["Y"] * sizes["T"],
    counts=("X", "Y", "T"),
)
TWO = replace(
    PROGRAM,
    name="mandelbrot2",
    sizes=size_table(
        "X Y T", S=(200, 200, 40), M=(500, 500, 80), L=(1000, 1000, 100), PAPER=(1000, 1000, 200)
    ),
    build=build_two,
    reference=reference_two,
)
