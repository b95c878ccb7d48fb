"""NPBench channel_flow: a fluid that a force drives along a channel, whose ends are one.

Rows are y, from one wall to the other; columns go round.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

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
from benchmarks.program import Program, between
from polymat import Case, Cast, Condition, Double, Function, Matrix, Parameter, Variable, iterate

SIDE = 2.0
NAMES = ("u", "v", "p")


Value = Callable[[Any, Any], Any]


def columns_around(rows: Condition, x: Variable, X: Parameter, value: Value) -> list[Any]:
    """Values, in some rows, of the columns to the left and to the right of each column."""
    inner = Condition(x, ">=", 1) & Condition(x, "<=", X - 2)
    return [
        Case(rows & Condition(x, "==", 0), value(X - 1, 1)),
        Case(rows & inner, value(x - 1, x + 1)),
        Case(rows & Condition(x, "==", X - 1), value(X - 2, 0)),
    ]


def pressed(source: Any, around: Any, at: Any, extents: Any, squares: Any) -> Any:
    """A step of pressure with a source; squares: of the distances along x and y."""
    (y, x), (Y, X), (dx2, dy2) = at, extents, squares

    def step(p: Any) -> Function:
        def value(left: Any, right: Any) -> Any:
            beside = (p(y, right) + p(y, left)) * dy2 + (p(y + 1, x) + p(y - 1, x)) * dx2
            return (beside - dx2 * dy2 * source(*at)) / (2.0 * (dx2 + dy2))

        inner = mapped("inner", at, (between(1, Y - 2), X), around(value))
        walls = [
            Case(Condition(y, "==", 0), inner(1, x)),
            Case(Condition(y, ">=", 1) & Condition(y, "<=", Y - 2), inner(*at)),
            Case(Condition(y, "==", Y - 1), inner(Y - 2, x)),
        ]
        return mapped("p_after", at, (Y, X), walls)

    return step


def build() -> Description:
    """Describe steps of velocity (u, v) and pressure p; there is a point within, and one beside each end."""
    Y, X, T, P = sizes = parameters("Y X T P")
    at = y, x = variables("y x")
    fields = tuple(Matrix(Double, name, [Y, X]) for name in NAMES)
    density, viscosity, force = (Parameter(Double, name) for name in ("density", "viscosity", "force"))
    dx, dy = SIDE / Cast(Double, X - 1), SIDE / Cast(Double, Y - 1)
    dt = 0.1 / (Cast(Double, X - 1) * Cast(Double, Y - 1))
    rows = between(1, Y - 2)
    within = Condition(y, ">=", 1) & Condition(y, "<=", Y - 2)

    def around(value: Value) -> list[Any]:
        return columns_around(within, x, X, value)

    def up(f: Any) -> Any:
        return (f(y + 1, x) - f(y - 1, x)) / (2.0 * dy)

    def source_of(u: Any, v: Any) -> Function:
        def value(left: Any, right: Any) -> Any:
            ux, vx = ((f(y, right) - f(y, left)) / (2.0 * dx) for f in (u, v))
            return density * ((ux + up(v)) / dt - ux * ux - 2.0 * up(u) * vx - up(v) * up(v))

        return mapped("source", at, (rows, X), around(value))

    def moved(name: str, f: Any, u: Any, v: Any, slope: Value, driven: Any) -> Function:
        def value(left: Any, right: Any) -> Any:
            here = f(*at)
            carried = u(*at) * dt / dx * (here - f(y, left)) + v(*at) * dt / dy * (here - f(y - 1, x))
            spread = dt / (dx * dx) * (f(y, right) - 2.0 * here + f(y, left))
            spread += dt / (dy * dy) * (f(y + 1, x) - 2.0 * here + f(y - 1, x))
            return here - carried - dt / density * slope(left, right) + viscosity * spread + driven

        after = Function(([y, x], [between(0, Y - 1), between(0, X - 1)]), Double, name, default=0.0)
        after.defn = around(value)
        return after

    def step(u: Any, v: Any, p: Any) -> tuple[Function, Function, Function]:
        after = iterate(pressed(source_of(u, v), around, (y, x), (Y, X), (dx * dx, dy * dy)), p, steps=P)

        def along(left: Any, right: Any) -> Any:
            return (after(y, right) - after(y, left)) / (2.0 * dx)

        def across(left: Any, right: Any) -> Any:
            return up(after)

        return moved("u_after", u, u, v, along, force * dt), moved("v_after", v, u, v, across, 0.0), after

    least = (Condition(X, ">=", 3), Condition(Y, ">=", 3))
    return Description(tuple(iterate(step, fields, steps=T)), fields, sizes, least)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return a fluid at rest, but for a little that tells columns apart."""
    shape = extents(sizes, "Y X")
    rest = {name: np.full(shape, float(name == "p")) for name in NAMES}
    return {name: field + 1e-3 * rng.random(shape) for name, field in rest.items()}


def reference(
    u: Array, v: Array, p: Array, T: int, P: int, density: float, viscosity: float, force: float
) -> Arrays:
    """Take the steps with NumPy."""
    dx, dy = SIDE / (u.shape[1] - 1), SIDE / (u.shape[0] - 1)
    dt = 0.1 / ((u.shape[1] - 1) * (u.shape[0] - 1))

    def near(f: Array) -> tuple[Array, Array, Array, Array]:
        """Left and right, below and above, of all rows but the outer ones."""
        inner = f[1:-1]
        return np.roll(inner, 1, axis=1), np.roll(inner, -1, axis=1), f[:-2], f[2:]

    def slopes(f: Array) -> tuple[Array, Array]:
        left, right, below, above = near(f)
        return (right - left) / (2 * dx), (above - below) / (2 * dy)

    def moved(f: Array, slope: Array) -> Array:
        left, right, below, above = near(f)
        here = f[1:-1]
        carried = u[1:-1] * dt / dx * (here - left) + v[1:-1] * dt / dy * (here - below)
        spread = dt / dx**2 * (right - 2 * here + left) + dt / dy**2 * (above - 2 * here + below)
        found: Array = here - carried - dt / density * slope + viscosity * spread
        return found

    p = p.copy()
    for _ in range(T):
        (ux, uy), (vx, vy) = slopes(u), slopes(v)
        source = density * ((ux + vy) / dt - ux**2 - 2 * uy * vx - vy**2)
        for _ in range(P):
            left, right, below, above = near(p)
            beside = (right + left) * dy**2 + (above + below) * dx**2
            p[1:-1] = (beside - dx**2 * dy**2 * source) / (2 * (dx**2 + dy**2))
            p[0], p[-1] = p[1], p[-2]
        along, up = slopes(p)
        driven = moved(u, along) + force * dt
        u, v = (np.pad(f, ((1, 1), (0, 0))) for f in (driven, moved(v, up)))
    return {"u": u, "v": v, "p": p}


PROGRAM = Program(
    name="channel_flow",
    # T steps of time, as many as NPBench takes until a step adds a thousandth; P steps of pressure in each.
    sizes=size_table(
        "Y X T P", S=(61, 61, 982, 5), M=(121, 121, 991, 10), L=(201, 201, 995, 20), PAPER=(101, 101, 989, 50)
    ),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=9,
    traffic=0,
    tolerance=1e-10,
    scalars=MappingProxyType({"density": 1.0, "viscosity": 0.1, "force": 1.0}),
    points=lambda sizes: sizes["Y"] * sizes["X"] * sizes["T"] * (sizes["P"] + 5),
    counts=("T", "P"),
    relative=True,
)
