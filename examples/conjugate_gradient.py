"""Conjugate gradients for a sparse system: products with a CSR matrix within the steps of an iteration."""

import numpy as np

import polymat as pm
from polymat import Double, Int, Interval, Op, Parameter, Reduce, Reduction, Variable, Vector

N, NNZ, STEPS = Parameter(Int, "N"), Parameter(Int, "NNZ"), Parameter(Int, "STEPS")
row = Vector(Int, "row", [N + 1], values=(0, NNZ), sorted=True)
column = Vector(Int, "column", [NNZ], values=(0, N - 1))
value, b, x0 = Vector(Double, "value", [NNZ]), Vector(Double, "b", [N]), Vector(Double, "x0", [N])
i, k = Variable(Int, "i"), Variable(Int, "k")


def product(v: pm.Function | pm.Vector, name: str) -> Reduction:
    """The sparse matrix times a vector: each row from row(i) on, to row(i + 1)."""
    rows, inside = Interval(Int, 0, N - 1), Interval(Int, row(i), row(i + 1) - 1)
    total = Reduction(([i], [rows]), ([i, k], [rows, inside]), Double, name)
    total.defn = [Reduce(total(i), value(k) * v(column(k)), Op.Sum)]
    return total


def step(x: pm.Function, r: pm.Function, p: pm.Function) -> tuple[pm.Function, ...]:
    """One step: the next solution, residual and direction."""
    image = product(p, "image")
    squared = pm.dot(r, r)
    length = squared() / pm.dot(p, image)()
    after = r - length * image
    return x + length * p, after, after + (pm.dot(after, after)() / squared()) * p


residual = (b - product(x0, "start")).named("residual")
solution, left, _ = pm.iterate(step, [x0, residual, residual], steps=STEPS)
solve = pm.compile([solution, pm.dot(left, left)], inputs=[row, column, value, b, x0])


def laplacian(side: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The five-point Laplacian of a square, as the three arrays of CSR."""
    point = np.arange(side * side).reshape(side, side)
    near = np.full((side, side, 5), -1)
    near[1:, :, 0], near[:, 1:, 1], near[:, :, 2] = point[:-1], point[:, :-1], point
    near[:, :-1, 3], near[:-1, :, 4] = point[:, 1:], point[1:]
    there = near >= 0
    weights = np.broadcast_to(np.array([-1.0, -1, 4, -1, -1]), near.shape)
    ends = np.cumsum(there.sum(axis=2).ravel())
    return np.append(0, ends).astype(np.int32), near[there].astype(np.int32), weights[there]


side = 60
matrix = laplacian(side)
right = np.random.default_rng(0).random(side * side)
for steps in (0, 80, 160, 240):
    found, squared = solve(*matrix, right, np.zeros(side * side), STEPS=steps)
    print(f"after {steps:3} steps: residual {np.sqrt(squared):.1e}")
pressed = np.pad(found.reshape(side, side), 1)
around = pressed[:-2, 1:-1] + pressed[2:, 1:-1] + pressed[1:-1, :-2] + pressed[1:-1, 2:]
assert np.allclose(4 * pressed[1:-1, 1:-1] - around, right.reshape(side, side))
