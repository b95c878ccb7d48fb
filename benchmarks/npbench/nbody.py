"""NPBench nbody: bodies that attract each other, by the leapfrog method, and their energies at each step."""

from __future__ import annotations

from types import MappingProxyType
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
    variables,
)
from benchmarks.program import Program, between
from polymat import Case, Condition, Double, Function, Matrix, Parameter, Sqrt, Vector

UNIT = float(np.finfo(np.float64).eps)
SEVERAL = 30  # times what one rounding comes to: each step rounds
SCALARS = MappingProxyType({"step": 0.02, "gravity": 1.0, "softening": 0.1})


def build() -> Description:
    """Describe positions, velocities and accelerations by time, which need each other."""
    N, T = sizes = parameters("N T")
    t, i, j, d = variables("t i j d")
    mass = Vector(Double, "mass", [N])
    start, moving = Matrix(Double, "position", [N, 3]), Matrix(Double, "velocity", [N, 3])
    step, gravity, softening = (Parameter(Double, name) for name in SCALARS)
    times, at = between(0, T), (t, i, d)
    where = [times, between(0, N - 1), between(0, 2)]
    position, half, velocity = (Function((list(at), where), Double, name) for name in ("p", "half", "v"))
    first, later = Condition(t, "==", 0), Condition(t, ">=", 1)

    momentum = summed("momentum", (d,), (3,), (i,), (N,), mass(i) * moving(i, d))
    total = summed("total", (), (), (i,), (N,), mass(i))

    def apart(axis: int) -> Any:
        return position(t, j, axis) - position(t, i, axis)

    square = sum(apart(axis) * apart(axis) for axis in range(3))
    soft = square + softening * softening
    pull = mapped("pull", (t, i, j), (times, N, N), mass(j) / (soft * Sqrt(soft)))
    force = summed(
        "force", at, (times, N, 3), (j,), (N,), (position(t, j, d) - position(t, i, d)) * pull(t, i, j)
    )
    accelerated = 0.5 * step * gravity
    half.defn = [Case(first, 0.0), Case(later, velocity(t - 1, i, d) + accelerated * force(t - 1, i, d))]
    position.defn = [Case(first, start(i, d)), Case(later, position(t - 1, i, d) + step * half(t, i, d))]
    velocity.defn = [
        Case(first, moving(i, d) - momentum(d) / total()),
        Case(later, half(t, i, d) + accelerated * force(t, i, d)),
    ]
    square_of_speed = velocity(t, i, d) * velocity(t, i, d)
    twice = summed("twice", (t,), (times,), (i, d), (N, 3), mass(i) * square_of_speed)
    kinetic = mapped("kinetic", (t,), (times,), 0.5 * twice(t))
    pairs = summed(
        "pairs", (t,), (times,), (i, j), (N, between(i + 1, N - 1)), mass(i) * mass(j) / Sqrt(square)
    )
    potential = mapped("potential", (t,), (times,), -gravity * pairs(t))
    return Description((kinetic, potential), (mass, start, moving), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return bodies of equal mass, 20 in all, anywhere in a cube."""
    (N,) = extents(sizes, "N")
    return {
        "mass": np.full(N, 20.0 / max(N, 1)),
        "position": rng.random((N, 3)),
        "velocity": rng.random((N, 3)),
    }


def reference(
    mass: Array, position: Array, velocity: Array, T: int, step: float, gravity: float, softening: float
) -> Arrays:
    """Solve with NumPy."""
    position = position.copy()
    velocity = velocity - mass @ velocity / mass.sum()
    kinetic, potential = np.empty(T + 1), np.empty(T + 1)
    pairs = np.triu_indices(len(mass), 1)

    def force() -> tuple[Array, Array]:
        apart = position - position[:, None]
        square = (apart**2).sum(axis=-1)
        pull = (square + softening**2) ** -1.5 * mass
        return gravity * (apart * pull[..., None]).sum(axis=1), square

    acceleration, square = force()
    for t in range(T + 1):
        if t > 0:
            velocity += 0.5 * step * acceleration
            position += step * velocity
            acceleration, square = force()
            velocity += 0.5 * step * acceleration
        kinetic[t] = 0.5 * (mass @ velocity**2).sum()
        potential[t] = -gravity * (np.outer(mass, mass)[pairs] / np.sqrt(square[pairs])).sum()
    return {"kinetic": kinetic, "potential": potential}


def undecided(mass: Array, position: Array, velocity: Array, T: int, **scalars: float) -> Arrays:
    """What bodies that begin a rounding apart come to, step by step: encounters multiply it."""
    moved = position * (1 + np.where(np.arange(position.size) % 2, UNIT, -UNIT).reshape(position.shape))
    both = [reference(mass, start, velocity, T, **scalars) for start in (position, moved)]
    off = {name: np.abs(both[0][name] - both[1][name]) for name in both[0]}
    return {name: SEVERAL * np.maximum.accumulate(each) for name, each in off.items()}


PROGRAM = Program(
    name="nbody",
    # So many steps as lead to the time at which NPBench ends.
    sizes=size_table("N T", S=(25, 40), M=(50, 250), L=(100, 900), PAPER=(100, 1000)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=25,
    traffic=0,
    tolerance=1e-11,
    scalars=SCALARS,
    undecided=undecided,
    points=lambda sizes: sizes["N"] ** 2 * sizes["T"],
    counts=("T",),
    relative=True,
)
