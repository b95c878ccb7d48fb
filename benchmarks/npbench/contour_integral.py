"""NPBench contour_integral: moments of the solutions of systems at points z of a contour.

At each of them z H[0] + H[1] + H[2] / z is the matrix, and its solutions of all right-hand sides are summed
up, with and without a factor z, those from within the unit circle with the other sign.  The systems are
solved by Gauss and Jordan's elimination, with the largest element of a column as its pivot.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.npbench.stages import mapped, summed
from benchmarks.polybench.kernel import (
    Array,
    Arrays,
    Description,
    Sizes,
    extents,
    parameters,
    size_table,
    upto,
    variables,
)
from benchmarks.program import Program
from polymat import (
    Abs,
    Case,
    Clamp,
    Complex,
    Condition,
    Imag,
    Image,
    Long,
    Matrix,
    Op,
    Real,
    Reduce,
    Reduction,
    Select,
    Vector,
    iterate,
)

NAMES = "R M Z"


def build() -> Description:
    """Describe the elimination of a column of all systems as a step; there is an unknown, and a point."""
    R, M, Z = sizes = parameters(NAMES)
    z, i, j, m = variables("z i j m")
    H = Image(Complex, "H", [3, R, R])
    point = Vector(Complex, "point", [Z])
    Y = Matrix(Complex, "Y", [R, M])
    beside = [
        Case(Condition(j, "<", R), point(z) * H(0, i, j) + H(1, i, j) + H(2, i, j) / point(z)),
        Case(Condition(j, ">=", R), Y(i, j - R)),
    ]
    start = mapped("start", (z, i, j), (Z, R, R + M), beside, Complex)

    def step(system: Any, k: Any) -> Any:
        column = k - 1
        pivot = Reduction(([z], [upto(Z)]), ([z, i], [upto(Z), upto(R)]), Long, "pivot")
        size = Abs(Real(system(z, i, column))) + Abs(Imag(system(z, i, column)))
        pivot.defn = [Case(Condition(i, ">=", column), Reduce(pivot(z), size, Op.ArgMax))]
        chosen = Clamp(pivot(z), column, R - 1)
        scaled = mapped(
            "scaled", (z, j), (Z, R + M), system(z, chosen, j) / system(z, chosen, column), Complex
        )
        head = scaled(z, j)

        def moved(at: Any) -> Any:
            return Select(Condition(i, "==", pivot(z)), system(z, column, at), system(z, i, at))

        rest, solved = moved(j) - moved(column) * head, Condition(j, ">=", k)
        cases = [
            Case(Condition(j, "<", k), system(z, i, j)),
            Case(solved & Condition(i, "==", column), head),
            Case(solved & (Condition(i, "<", column) | Condition(i, ">", column)), rest),
        ]
        return mapped("after", (z, i, j), (Z, R, R + M), cases, Complex)

    last = iterate(step, start, steps=R)
    signed = Select(Condition(Abs(point(z)), "<", 1.0), -last(z, i, R + m), last(z, i, R + m))
    moments = [
        summed(name, (i, m), (R, M), (z,), (Z,), term, dtype=Complex)
        for name, term in (("P0", signed), ("P1", point(z) * signed))
    ]
    least = tuple(Condition(size, ">=", 1) for size in (R, Z))
    return Description(tuple(moments), (H, point, Y), sizes, least)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return random numbers."""
    R, M, Z = extents(sizes, NAMES)
    shapes = {"H": (3, R, R), "point": (Z,), "Y": (R, M)}
    return {name: rng.random(shape) + 1j * rng.random(shape) for name, shape in shapes.items()}


def reference(H: Array, point: Array, Y: Array) -> Arrays:
    """Solve with NumPy, point after point."""
    first, second = np.zeros_like(Y), np.zeros_like(Y)
    for z in point:
        x = np.linalg.solve(z * H[0] + H[1] + H[2] / z, Y)
        x = -x if abs(z) < 1 else x
        first += x
        second += z * x
    return {"P0": first, "P1": second}


PROGRAM = Program(
    name="contour_integral",
    sizes=size_table(NAMES, S=(50, 150, 32), M=(200, 400, 32), L=(600, 1000, 32), PAPER=(500, 1000, 32)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=8,
    traffic=0,
    tolerance=1e-9,
    points=lambda sizes: sizes["Z"] * sizes["R"] ** 2 * (sizes["R"] // 3 + sizes["M"]),
    relative=True,
)
