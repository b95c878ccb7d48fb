"""NPBench arc_distance: the angle between points of a sphere, pair by pair, by the haversine formula."""

from __future__ import annotations

import numpy as np

from benchmarks.npbench.stages import mapped
from benchmarks.polybench.kernel import Array, Arrays, Description, Sizes, parameters, size_table, variables
from benchmarks.program import Program
from polymat import Atan2, Cos, Double, Sin, Sqrt, Vector

NAMES = ("theta_1", "phi_1", "theta_2", "phi_2")


def build() -> Description:
    """Describe the pipeline."""
    (N,) = sizes = parameters("N")
    (i,) = variables("i")
    arrays = tuple(Vector(Double, name, [N]) for name in NAMES)
    theta_1, phi_1, theta_2, phi_2 = (array(i) for array in arrays)
    up, along = Sin((theta_2 - theta_1) / 2), Sin((phi_2 - phi_1) / 2)
    h = mapped("h", (i,), (N,), up * up + Cos(theta_1) * Cos(theta_2) * (along * along))
    angle = mapped("angle", (i,), (N,), 2 * Atan2(Sqrt(h(i)), Sqrt(1 - h(i))))
    return Description((angle,), arrays, sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return random angles below one radian."""
    return {name: rng.random(sizes["N"]) for name in NAMES}


def reference(theta_1: Array, phi_1: Array, theta_2: Array, phi_2: Array) -> Arrays:
    """Solve with NumPy."""
    h = np.sin((theta_2 - theta_1) / 2) ** 2
    h += np.cos(theta_1) * np.cos(theta_2) * np.sin((phi_2 - phi_1) / 2) ** 2
    return {"angle": 2 * np.arctan2(np.sqrt(h), np.sqrt(1 - h))}


PROGRAM = Program(
    name="arc_distance",
    sizes=size_table("N", S=(100_000,), M=(1_000_000,), L=(10_000_000,), PAPER=(10_000_000,)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=20,
    traffic=40,
    tolerance=1e-14,
    points=lambda sizes: sizes["N"],
)
