"""A recurrent cell: h(t) = tanh(W h(t - 1) + U x(t)), all states of it."""

from __future__ import annotations

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
from polymat import Case, Condition, Double, Function, Matrix, Tanh


def build() -> Description:
    """Describe states by time: one product in every step, the other one of all steps."""
    T, N, K = sizes = parameters("T N K")
    t, i, k = variables("t i k")
    W, U, x = (Matrix(Double, name, shape) for name, shape in (("W", [N, N]), ("U", [N, K]), ("x", [T, K])))
    steps = between(1, T)
    h = Function(([t, i], [between(0, T), between(0, N - 1)]), Double, "h")
    back = summed("back", (t, i), (steps, N), (k,), (N,), W(i, k) * h(t - 1, k))
    given = summed("given", (t, i), (steps, N), (k,), (K,), U(i, k) * x(t - 1, k))
    h.defn = [
        Case(Condition(t, "==", 0), 0.0),
        Case(Condition(t, ">=", 1), Tanh(back(t, i) + given(t, i))),
    ]
    return Description((mapped("states", (t, i), (T, N), h(t + 1, i)),), (W, U, x), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return weights that leave tanh where it bends."""
    T, N, K = extents(sizes, "T N K")
    return {
        "W": rng.uniform(-1, 1, (N, N)) / np.sqrt(N),
        "U": rng.uniform(-1, 1, (N, K)) / np.sqrt(K),
        "x": rng.uniform(-1, 1, (T, K)),
    }


def reference(W: Array, U: Array, x: Array) -> Arrays:
    """Take the steps with NumPy."""
    given, h = x @ U.T, np.zeros(len(W))
    states = np.empty_like(given)
    for t, row in enumerate(given):
        states[t] = h = np.tanh(W @ h + row)
    return {"states": states}


PROGRAM = Program(
    name="recurrent-cell",
    sizes=size_table("T N K", S=(20, 128, 128), M=(50, 512, 512)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=4,
    traffic=0,
    tolerance=1e-10,
    points=lambda sizes: sizes["T"] * sizes["N"] * sizes["N"],
)
