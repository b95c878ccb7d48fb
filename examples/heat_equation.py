"""Heat spreading over a plate: a recurrence in time, compared with the same steps in NumPy."""

import numpy as np

import polymat as pm
from polymat import Case, Condition, Double, Function, Int, Interval, Matrix, Parameter, Variable

steps, M, N = (Parameter(Int, name) for name in ("steps", "M", "N"))
rate = Parameter(Double, "rate")
start = Matrix(Double, "start", [M, N])
t, i, j = (Variable(Int, name) for name in ("t", "i", "j"))
rows, columns = Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)

inside = Condition(i, ">=", 1) & Condition(i, "<=", M - 2) & Condition(j, ">=", 1) & Condition(j, "<=", N - 2)
edge = Condition(i, "==", 0) | Condition(i, "==", M - 1) | Condition(j, "==", 0) | Condition(j, "==", N - 1)

# The plate at every time step, in terms of the step before; its edge keeps its temperature.
plate = Function(([t, i, j], [Interval(Int, 0, steps), rows, columns]), Double, "plate")
around = plate(t - 1, i - 1, j) + plate(t - 1, i + 1, j) + plate(t - 1, i, j - 1) + plate(t - 1, i, j + 1)
plate.defn = [
    Case(Condition(t, "==", 0), start(i, j)),
    Case(Condition(t, ">=", 1) & inside, plate(t - 1, i, j) + rate * (around - 4 * plate(t - 1, i, j))),
    Case(Condition(t, ">=", 1) & edge, plate(t - 1, i, j)),
]
final = Function(([i, j], [rows, columns]), Double, "final")
final.defn = [plate(steps, i, j)]

heat = pm.compile(final, inputs=[start])


def heat_numpy(plate: np.ndarray, steps: int, rate: float) -> np.ndarray:
    """The same steps, one array operation after the other."""
    plate = plate.copy()
    for _ in range(steps):
        inner = plate[1:-1, 1:-1]
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        plate[1:-1, 1:-1] = inner + rate * (around - 4 * inner)
    return plate


plate_0 = np.zeros((40, 60))
plate_0[0, :] = 100.0
for count in (1, 100, 400):
    result = heat(plate_0, steps=count, rate=0.2)
    assert np.allclose(result, heat_numpy(plate_0, count, 0.2))
    print(
        f"after {count:3} steps: {result[1, 30]:5.2f} below the hot edge, {result[20, 30]:5.2f} in the middle"
    )
