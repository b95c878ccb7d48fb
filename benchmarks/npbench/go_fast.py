"""NPBench go_fast: a matrix, and to each element the sum of tanh along the diagonal."""

from __future__ import annotations

import numpy as np

from benchmarks.npbench.stages import mapped, summed
from benchmarks.polybench.kernel import Array, Arrays, Description, Sizes, parameters, size_table, variables
from benchmarks.program import Program
from polymat import Double, Matrix, Tanh


def build() -> Description:
    """Describe the pipeline."""
    (N,) = sizes = parameters("N")
    i, j = variables("i j")
    a = Matrix(Double, "a", [N, N])
    trace = summed("trace", (), (), (i,), (N,), Tanh(a(i, i)))
    return Description((mapped("out", (i, j), (N, N), a(i, j) + trace()),), (a,), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return random numbers."""
    return {"a": rng.random((sizes["N"], sizes["N"]))}


def reference(a: Array) -> Arrays:
    """Solve with NumPy."""
    return {"out": a + np.tanh(np.diagonal(a)).sum()}


PROGRAM = Program(
    name="go_fast",
    sizes=size_table("N", S=(2000,), M=(6000,), L=(20000,), PAPER=(12500,)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=1,
    traffic=16,
    tolerance=1e-13,
    points=lambda sizes: sizes["N"] ** 2,
    relative=True,
)
