"""A Kalman filter of many tracks over time: two places are measured of a state of places and speeds."""

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
    variables,
)
from benchmarks.program import Program, between
from polymat import Case, Condition, Double, Function, Image, Matrix, Select

STATES, MEASURED = 4, 2


def build() -> Description:
    """Describe predictions, gains, states and their covariances by time, which need each other."""
    T, B = sizes = parameters("T B")
    t, i, j, k, b = variables("t i j k b")
    z, x0, P0 = (
        Image(Double, name, shape)
        for name, shape in (("z", [T, MEASURED, B]), ("x0", [STATES, B]), ("P0", [STATES, STATES, B]))
    )
    F, Q = Matrix(Double, "F", [STATES, STATES]), Matrix(Double, "Q", [STATES, STATES])
    H, R = Matrix(Double, "H", [MEASURED, STATES]), Matrix(Double, "R", [MEASURED, MEASURED])
    length = {"n": STATES, "m": MEASURED}
    first, later, steps = Condition(t, "==", 0), Condition(t, ">=", 1), between(1, T)

    def where(shape: str) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return (t, *(i, j)[: len(shape)], b), (steps, *(length[each] for each in shape), B)

    def times(name: str, shape: str, depth: str, term: Any) -> Any:
        return summed(name, *where(shape), (k,), (length[depth],), term)

    def value(name: str, shape: str, term: Any) -> Any:
        return mapped(name, *where(shape), term)

    def over_time(name: str, shape: str) -> Any:
        at, spans = where(shape)
        inner = [between(0, span - 1) for span in spans[1:]]
        return Function((list(at), [between(0, T), *inner]), Double, name)

    state, covariance = over_time("state", "n"), over_time("covariance", "nn")
    ahead = times("ahead", "n", "n", F(i, k) * state(t - 1, k, b))
    moved = times("moved", "nn", "n", F(i, k) * covariance(t - 1, k, j, b))
    both_sides = times("both_sides", "nn", "n", moved(t, i, k, b) * F(j, k))
    prior = value("prior", "nn", both_sides(t, i, j, b) + Q(i, j))
    seen = times("seen", "m", "n", H(i, k) * ahead(t, k, b))
    off = value("off", "m", z(t - 1, i, b) - seen(t, i, b))
    cross = times("cross", "nm", "n", prior(t, i, k, b) * H(j, k))
    both = times("both", "mm", "n", H(i, k) * cross(t, k, j, b))
    spread = value("spread", "mm", both(t, i, j, b) + R(i, j))
    ends, others = spread(t, 0, 0, b) * spread(t, 1, 1, b), spread(t, 0, 1, b) * spread(t, 1, 0, b)
    det = value("det", "", ends - others)
    # Of two rows the inverse is (d, -b; -c, a) / det.
    turned = Select(Condition(i, "==", j), spread(t, 1 - i, 1 - j, b), -spread(t, i, j, b))
    inverse = value("inverse", "mm", turned / det(t, b))
    gain = times("gain", "nm", "m", cross(t, i, k, b) * inverse(t, k, j, b))
    known = times("known", "nn", "m", gain(t, i, k, b) * H(k, j))
    less = times("less", "nn", "n", known(t, i, k, b) * prior(t, k, j, b))
    by = times("by", "n", "m", gain(t, i, k, b) * off(t, k, b))
    state.defn = [Case(first, x0(i, b)), Case(later, ahead(t, i, b) + by(t, i, b))]
    covariance.defn = [Case(first, P0(i, j, b)), Case(later, prior(t, i, j, b) - less(t, i, j, b))]
    states = mapped("states", (t, i, b), (T, STATES, B), state(t + 1, i, b))
    last = mapped("last", (i, j, b), (STATES, STATES, B), covariance(T, i, j, b))
    return Description((states, last), (z, x0, P0, F, Q, H, R), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return tracks of bodies that are pushed at random, and what is seen of them."""
    T, B = extents(sizes, "T B")
    F = np.eye(STATES) + 0.1 * np.eye(STATES, k=2)
    place, speed, z = rng.normal(0, 1, (2, B)), rng.normal(0, 1, (2, B)), np.empty((T, MEASURED, B))
    for seen in z:
        speed = speed + rng.normal(0, 0.1, (2, B))
        place = place + 0.1 * speed
        seen[:] = place + rng.normal(0, 0.5, (2, B))
    return {
        "z": z,
        "x0": rng.normal(0, 1, (STATES, B)),
        "P0": np.repeat(np.eye(STATES)[..., None], B, 2),
        "F": F,
        "Q": 0.01 * np.eye(STATES),
        "H": np.eye(MEASURED, STATES),
        "R": 0.25 * np.eye(MEASURED),
    }


def reference(z: Array, x0: Array, P0: Array, F: Array, Q: Array, H: Array, R: Array) -> Arrays:
    """Filter with NumPy, all tracks in one product."""
    x, P = x0.T[..., None], np.moveaxis(P0, 2, 0)
    states = np.empty((len(z), *x0.shape))
    for t, seen in enumerate(z):
        x, P = F @ x, F @ P @ F.T + Q
        gain = P @ H.T @ np.linalg.inv(H @ P @ H.T + R)
        x = x + gain @ (seen.T[..., None] - H @ x)
        P = P - gain @ H @ P
        states[t] = x[..., 0].T
    return {"states": states, "last": np.moveaxis(P, 0, 2)}


PROGRAM = Program(
    name="kalman-filter",
    sizes=size_table("T B", S=(100, 64), M=(1000, 512)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=672,
    traffic=48,
    tolerance=1e-9,
    points=lambda sizes: sizes["T"] * sizes["B"],
)
