"""NPBench cavity_flow: a fluid in a box under a lid that moves, by steps of pressure within steps of time.

Rows are y, from the bottom; the last row is the lid.
"""

from __future__ import annotations

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
    inside,
    parameters,
    size_table,
    variables,
)
from benchmarks.program import Program, between
from polymat import Case, Cast, Condition, Double, Function, Matrix, Parameter, iterate

SIDE = 2.0
NAMES = ("u", "v", "p")


def build() -> Description:
    """Describe steps of velocity (u, v) and pressure p; there is a point within the box."""
    Y, X, T, P = sizes = parameters("Y X T P")
    y, x = at = variables("y x")
    fields = tuple(Matrix(Double, name, [Y, X]) for name in NAMES)
    density, viscosity = Parameter(Double, "density"), Parameter(Double, "viscosity")
    dx, dy = SIDE / Cast(Double, X - 1), SIDE / Cast(Double, Y - 1)
    dt = 0.1 / (Cast(Double, X - 1) * Cast(Double, Y - 1))
    rows, columns = between(1, Y - 2), between(1, X - 2)

    def along(f: Any) -> Any:
        return (f(y, x + 1) - f(y, x - 1)) / (2.0 * dx)

    def up(f: Any) -> Any:
        return (f(y + 1, x) - f(y - 1, x)) / (2.0 * dy)

    def pressed(source: Any) -> Any:
        def step(p: Any) -> Function:
            beside = (p(y, x + 1) + p(y, x - 1)) * dy * dy + (p(y + 1, x) + p(y - 1, x)) * dx * dx
            value = (beside - dx * dx * dy * dy * source(*at)) / (2.0 * (dx * dx + dy * dy))
            inner = mapped("inner", at, (rows, columns), value)
            wide = [
                Case(Condition(x, "==", 0), inner(y, 1)),
                Case(Condition(x, ">=", 1) & Condition(x, "<=", X - 2), inner(*at)),
                Case(Condition(x, "==", X - 1), inner(y, X - 2)),
            ]
            sides = mapped("sides", at, (rows, X), wide)
            high = [
                Case(Condition(y, "==", 0), sides(1, x)),
                Case(Condition(y, ">=", 1) & Condition(y, "<=", Y - 2), sides(*at)),
                Case(Condition(y, "==", Y - 1), 0.0),
            ]
            return mapped("p_after", at, (Y, X), high)

        return step

    def moved(name: str, f: Any, u: Any, v: Any, slope: Any, lid: float) -> Function:
        here = f(*at)
        carried = u(*at) * dt / dx * (here - f(y, x - 1)) + v(*at) * dt / dy * (here - f(y - 1, x))
        spread = dt / (dx * dx) * (f(y, x + 1) - 2.0 * here + f(y, x - 1))
        spread += dt / (dy * dy) * (f(y + 1, x) - 2.0 * here + f(y - 1, x))
        after = Function(([y, x], [between(0, Y - 1), between(0, X - 1)]), Double, name, default=0.0)
        within = inside(Y, y) & inside(X, x)
        after.defn = [Case(within, here - carried - dt / density * slope + viscosity * spread)]
        if lid:
            after.defn = [*after.defn, Case(Condition(y, "==", Y - 1), lid)]
        return after

    def step(u: Any, v: Any, p: Any) -> tuple[Function, Function, Function]:
        turning = along(u) * along(u) + 2.0 * up(u) * along(v) + up(v) * up(v)
        source = mapped("source", at, (rows, columns), density * ((along(u) + up(v)) / dt - turning))
        after = iterate(pressed(source), p, steps=P)
        return moved("u_after", u, u, v, along(after), 1.0), moved("v_after", v, u, v, up(after), 0.0), after

    least = (Condition(X, ">=", 3), Condition(Y, ">=", 3))
    return Description(tuple(iterate(step, fields, steps=T)), fields, sizes, least)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return a fluid at rest."""
    return {name: np.zeros(extents(sizes, "Y X")) for name in NAMES}


def reference(u: Array, v: Array, p: Array, T: int, P: int, density: float, viscosity: float) -> Arrays:
    """Take the steps with NumPy."""
    dx, dy = SIDE / (u.shape[1] - 1), SIDE / (u.shape[0] - 1)
    dt = 0.1 / ((u.shape[1] - 1) * (u.shape[0] - 1))

    def along(f: Array) -> Array:
        found: Array = (f[1:-1, 2:] - f[1:-1, :-2]) / (2 * dx)
        return found

    def up(f: Array) -> Array:
        found: Array = (f[2:, 1:-1] - f[:-2, 1:-1]) / (2 * dy)
        return found

    def moved(f: Array, u: Array, v: Array, slope: Array) -> Array:
        here = f[1:-1, 1:-1]
        carried = u[1:-1, 1:-1] * dt / dx * (here - f[1:-1, :-2])
        carried += v[1:-1, 1:-1] * dt / dy * (here - f[:-2, 1:-1])
        spread = dt / dx**2 * (f[1:-1, 2:] - 2 * here + f[1:-1, :-2])
        spread += dt / dy**2 * (f[2:, 1:-1] - 2 * here + f[:-2, 1:-1])
        return np.pad(here - carried - dt / density * slope + viscosity * spread, 1)

    p = p.copy()
    for _ in range(T):
        turning = along(u) ** 2 + 2 * up(u) * along(v) + up(v) ** 2
        source = density * ((along(u) + up(v)) / dt - turning)
        for _ in range(P):
            beside = (p[1:-1, 2:] + p[1:-1, :-2]) * dy**2 + (p[2:, 1:-1] + p[:-2, 1:-1]) * dx**2
            p[1:-1, 1:-1] = (beside - dx**2 * dy**2 * source) / (2 * (dx**2 + dy**2))
            p[:, -1], p[0], p[:, 0], p[-1] = p[:, -2], p[1], p[:, 1], 0
            p[0, 0], p[0, -1] = p[1, 1], p[1, -2]
        u, v = moved(u, u, v, along(p)), moved(v, u, v, up(p))
        u[-1] = 1
    return {"u": u, "v": v, "p": p}


PROGRAM = Program(
    name="cavity_flow",
    # T steps of time, P steps of pressure in each.
    sizes=size_table(
        "Y X T P", S=(61, 61, 25, 5), M=(121, 121, 50, 10), L=(201, 201, 100, 20), PAPER=(101, 101, 700, 50)
    ),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=9,
    traffic=0,
    tolerance=1e-10,
    scalars=MappingProxyType({"density": 1.0, "viscosity": 0.1}),
    points=lambda sizes: sizes["Y"] * sizes["X"] * sizes["T"] * (sizes["P"] + 5),
    counts=("T", "P"),
    relative=True,
)
