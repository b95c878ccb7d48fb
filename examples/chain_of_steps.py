"""Several arrays over time: a chain of steps, each of which writes into arrays that are there."""

import numpy as np

import polymat as pm
from polymat import Case, Condition, Double, Function, Int, Interval, Parameter, Variable, Vector

N = Parameter(Int, "N")
i = Variable(Int, "i")
position, velocity = Vector(Double, "position", [N]), Vector(Double, "velocity", [N])
step = Parameter(Double, "step")

# A row of masses on springs, both ends held: one step of the velocities, then one of the positions.
whole = Interval(Int, 0, N - 1)
inside = Condition(i, ">=", 1) & Condition(i, "<=", N - 2)
pull = position(i - 1) - 2 * position(i) + position(i + 1)
faster = Function(([i], [whole]), Double, "faster", default=0.0)
faster.defn = [Case(inside, velocity(i) + step * pull)]
moved = Function(([i], [whole]), Double, "moved")
moved.defn = [position(i) + step * velocity(i)]

kick = pm.compile(faster, inputs=[position, velocity])
drift = pm.compile(moved, inputs=[position, velocity])

# out= may be the input: each step happens in place.
start = np.sin(np.linspace(0, np.pi, 101))
x = start.copy()
v = np.zeros_like(x)
history = np.empty((5, x.size))
for frame in history:
    for _ in range(50):
        kick(x, v, step=0.1, out=v)
        drift(x, v, step=0.1, out=x)
    frame[:] = x

print("middle of the string:", " ".join(f"{value:.3f}" for value in history[:, 50]))


def energy(x: np.ndarray, v: np.ndarray) -> float:
    return float((v**2).sum() + (np.diff(x) ** 2).sum())


# Steps of this kind keep the energy but for an error that does not grow.
assert abs(energy(x, v) / energy(start, 0 * start) - 1) < 0.01
