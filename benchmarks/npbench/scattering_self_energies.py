"""NPBench scattering_self_energies: how electrons of a device scatter at vibrations of its atoms.

Sigma[k, E, a] is the sum over neighbours b, directions i and j, momenta q and energies w <= E of
G[k, E - w, neighbour] dH[a, b, i] dH[a, b, j] D[q, w, a, b, i, j]; sums over q and j come first.
"""

from __future__ import annotations

import numpy as np

from benchmarks.npbench.stages import intervals, summed
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
from benchmarks.program import Program
from polymat import Case, Complex, Condition, Image, Int, Op, Reduce, Reduction

NAMES = "K E Q W D A B N"


def build() -> Description:
    """Describe three sums."""
    K, E, Q, W, D, A, B, N = sizes = parameters(NAMES)
    k, e, q, w, i, j, a, b, m, n, o = variables("k e q w i j a b m n o")
    near = Image(Int, "near", [A, B], values=(0, A - 1))
    dH = Image(Complex, "dH", [A, B, D, N, N])
    G = Image(Complex, "G", [K, E, A, N, N])
    P = Image(Complex, "P", [Q, W, A, B, D, D])
    moved = summed(
        "moved", (w, a, b, i, m, n), (W, A, B, D, N, N), (q, j), (Q, D),
        dH(a, b, j, m, n) * P(q, w, a, b, i, j), dtype=Complex,
    )  # fmt: skip
    right = summed(
        "right", (w, a, b, m, n), (W, A, B, N, N), (i, o), (D, N),
        dH(a, b, i, m, o) * moved(w, a, b, i, o, n), dtype=Complex,
    )  # fmt: skip
    here, over = [k, e, a, m, n], [k, e, a, m, n, w, b, o]
    spans = intervals((K, E, A, N, N))
    sigma = Reduction((here, spans), (over, [*spans, *intervals((W, B, N))]), Complex, "sigma")
    scattered = G(k, e - w, near(a, b), m, o) * right(w, a, b, o, n)
    sigma.defn = [Case(Condition(w, "<=", e), Reduce(sigma(*here), scattered, Op.Sum))]
    return Description((sigma,), (near, dH, G, P), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return random numbers; neighbours are the atoms around one, in a ring."""
    K, E, Q, W, D, A, B, N = extents(sizes, NAMES)
    near = (np.arange(A)[:, None] + np.arange(B) - B // 2) % max(A, 1)
    shapes = {"dH": (A, B, D, N, N), "G": (K, E, A, N, N), "P": (Q, W, A, B, D, D)}
    drawn = {name: rng.random(shape) + 1j * rng.random(shape) for name, shape in shapes.items()}
    return {"near": near.astype(np.int32), **drawn}


def reference(near: Array, dH: Array, G: Array, P: Array) -> Arrays:
    """Solve with NumPy, for each loss of energy."""
    moved = np.einsum("abjmn,qwabij->wabimn", dH, P)
    right = np.einsum("abimo,wabion->wabmn", dH, moved)
    sigma = np.zeros_like(G)
    around = G[:, :, near]
    for w in range(P.shape[1]):
        sigma[:, w:] += np.einsum("keabmo,abon->keamn", around[:, : G.shape[1] - w], right[w])
    return {"sigma": sigma}


PROGRAM = Program(
    name="scattering_self_energies",
    sizes=size_table(
        NAMES,
        S=(2, 4, 2, 2, 2, 6, 2, 3),
        M=(3, 5, 3, 2, 2, 10, 3, 4),
        L=(3, 10, 3, 3, 3, 12, 4, 4),
        PAPER=(4, 10, 4, 3, 3, 20, 4, 4),
    ),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=8,
    traffic=0,
    tolerance=1e-12,
    points=lambda s: s["K"] * s["E"] * s["W"] * s["A"] * s["B"] * s["N"] ** 3,
    relative=True,
)
