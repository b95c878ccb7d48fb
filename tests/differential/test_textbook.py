"""Systems of functions as textbooks have them, against plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import polymat as pm
from polymat import Case, Condition, Double, Function, Int, Interval, Matrix, Op, Reduce, Reduction, Vector
from tests.tolerance import assert_close

Values = npt.NDArray[Any]
T, M, N, K = (pm.Parameter(Int, name) for name in ("T", "M", "N", "K"))
t, i, j, k = (pm.Variable(Int, name) for name in "tijk")
RNG = np.random.default_rng(3)


def upto(high: Any, low: Any = 0) -> Interval:
    return Interval(Int, low, high)


def last(field: Function, time: Any, *spans: Interval) -> Function:
    """The state of a field at one time."""
    indices = [pm.Variable(Int, name) for name in ("i", "j")][: len(spans)]
    found = Function((indices, list(spans)), Double, f"{field.name}_last")
    found.defn = [field(time, *indices)]
    return found


def test_three_fields_on_a_staggered_grid() -> None:
    """Finite differences in the time domain: PolyBench's fdtd-2d as three functions."""
    pulse, starts = (
        Vector(Double, "pulse", [T]),
        [Matrix(Double, f"{n}0", [M, N]) for n in ("ex", "ey", "hz")],
    )
    domain = ([t, i, j], [upto(T), upto(M - 1), upto(N - 1)])
    ex, ey, hz = (Function(domain, Double, name) for name in ("ex", "ey", "hz"))
    first, later = Condition(t, "==", 0), Condition(t, ">=", 1)
    ey.defn = [
        Case(first, starts[1](i, j)),
        Case(later & Condition(i, "==", 0), pulse(t - 1)),
        Case(later & Condition(i, ">=", 1), ey(t - 1, i, j) - 0.5 * (hz(t - 1, i, j) - hz(t - 1, i - 1, j))),
    ]
    ex.defn = [
        Case(first, starts[0](i, j)),
        Case(later & Condition(j, "==", 0), ex(t - 1, i, j)),
        Case(later & Condition(j, ">=", 1), ex(t - 1, i, j) - 0.5 * (hz(t - 1, i, j) - hz(t - 1, i, j - 1))),
    ]
    inner = Condition(i, "<=", M - 2) & Condition(j, "<=", N - 2)
    curl = ex(t, i, j + 1) - ex(t, i, j) + ey(t, i + 1, j) - ey(t, i, j)
    hz.defn = [
        Case(first, starts[2](i, j)),
        Case(later & inner, hz(t - 1, i, j) - 0.7 * curl),
        Case(later & Condition(i, "==", M - 1), hz(t - 1, i, j)),
        Case(later & Condition(i, "<=", M - 2) & Condition(j, "==", N - 1), hz(t - 1, i, j)),
    ]
    outputs = [last(field, T, upto(M - 1), upto(N - 1)) for field in (ex, ey, hz)]
    run = pm.compile(outputs, inputs=[pulse, *starts], name="fdtd")
    for steps, rows, columns in ((0, 2, 3), (1, 1, 1), (3, 5, 4), (6, 9, 17)):
        source, arrays = RNG.random(steps), [RNG.random((rows, columns)) for _ in range(3)]
        found = run(source, *arrays)
        x, y, z = (array.copy() for array in arrays)
        for step in range(steps):
            y[0] = source[step]
            y[1:] -= 0.5 * (z[1:] - z[:-1])
            x[:, 1:] -= 0.5 * (z[:, 1:] - z[:, :-1])
            z[:-1, :-1] -= 0.7 * (x[:-1, 1:] - x[:-1, :-1] + y[1:, :-1] - y[:-1, :-1])
        for one, other in zip(found, (x, y, z), strict=True):
            assert_close(one, other, roundings=20 * max(steps, 1), magnitude=4.0**steps)
    out = arrays[2].copy()
    run(source, *arrays[:2], out, out=(np.empty_like(x), np.empty_like(y), out))
    assert_close(out, z, roundings=200, magnitude=4.0**steps)  # a field that is read before all is written
    report = str(run.explain())
    assert "hz (float64) in the workspace: 1 of T + 1 steps" in report
    assert "take steps together: t = 1 .. T" in report


def test_levinson_and_durbin() -> None:
    """A solution of growing length, with a sum in every step: PolyBench's durbin."""
    r = Vector(Double, "r", [N])
    steps = upto(N - 1)
    alpha, beta = (Function(([k], [steps]), Double, name) for name in ("alpha", "beta"))
    total = Reduction(([k], [upto(N - 1, 1)]), ([k, i], [upto(N - 1, 1), upto(k - 1)]), Double, "total")
    y = Function(([k, i], [steps, upto(k)]), Double, "y")
    first, later = Condition(k, "==", 0), Condition(k, ">=", 1)
    total.defn = [Reduce(total(k), r(k - i - 1) * y(k - 1, i), Op.Sum)]
    beta.defn = [Case(first, 1.0), Case(later, (1 - alpha(k - 1) * alpha(k - 1)) * beta(k - 1))]
    alpha.defn = [Case(first, -r(0)), Case(later, -(r(k) + total(k)) / beta(k))]
    y.defn = [
        Case(first, -r(0)),
        Case(later & Condition(i, "<=", k - 1), y(k - 1, i) + alpha(k) * y(k - 1, k - 1 - i)),
        Case(later & Condition(i, "==", k), alpha(k)),
    ]
    solution = last(y, N - 1, steps)
    run = pm.compile(solution, inputs=[r], constraints=[Condition(N, ">=", 1)], name="durbin_of")
    for size in (1, 2, 5, 40):
        given = RNG.random(size) * 0.1
        toeplitz = np.eye(size)
        for row in range(size):
            for column in range(size):
                if row != column:
                    toeplitz[row, column] = given[abs(row - column) - 1]
        assert_close(run(given), np.linalg.solve(toeplitz, -given), roundings=100 * size, magnitude=1.0)


def test_gram_and_schmidt() -> None:
    """Norms and products within the steps, one result with the steps as its columns."""
    given = Matrix(Double, "given", [M, N])
    first, later = Condition(k, "==", 0), Condition(k, ">=", 1)
    a = Function(([k, i, j], [upto(N), upto(M - 1), upto(N - 1)]), Double, "a")
    norm = Reduction(([k], [upto(N - 1)]), ([k, i], [upto(N - 1), upto(M - 1)]), Double, "norm")
    q = Function(([i, k], [upto(M - 1), upto(N - 1)]), Double, "q")
    spans = [upto(N - 1), upto(N - 1, k + 1), upto(M - 1)]
    r = Reduction(([k, j], [upto(N - 1), upto(N - 1)]), ([k, j, i], spans), Double, "r")
    norm.defn = [Reduce(norm(k), a(k, i, k) * a(k, i, k), Op.Sum)]
    q.defn = [a(k, i, k) / pm.Sqrt(norm(k))]
    r.defn = [Reduce(r(k, j), q(i, k) * a(k, i, j), Op.Sum)]
    a.defn = [
        Case(first, given(i, j)),
        Case(later & Condition(j, ">=", k), a(k - 1, i, j) - q(i, k - 1) * r(k - 1, j)),
        Case(later & Condition(j, "<", k), a(k - 1, i, j)),
    ]
    run = pm.compile([q, r], inputs=[given], name="gram_schmidt")
    for rows, columns in ((1, 1), (4, 3), (9, 7)):
        array = RNG.random((rows, columns)) + np.eye(rows, columns)
        orthogonal, upper = run(array)
        whole = upper + np.diag(np.linalg.norm(array - orthogonal @ upper, axis=0))
        assert_close(orthogonal.T @ orthogonal, np.eye(columns), roundings=2000, magnitude=1.0)
        assert_close(orthogonal @ whole, array, roundings=2000, magnitude=float(rows))


def test_a_recurrent_cell() -> None:
    """h = tanh(W h + U x): one product in every step, the other one before all of them."""
    w, u, x = (Matrix(Double, name, dims) for name, dims in (("W", [N, N]), ("U", [N, K]), ("x", [T, K])))
    states = [upto(T, 1), upto(N - 1)]
    back = Reduction(([t, i], states), ([t, i, k], [*states, upto(N - 1)]), Double, "back")
    given = Reduction(([t, i], states), ([t, i, k], [*states, upto(K - 1)]), Double, "given")
    h = Function(([t, i], [upto(T), upto(N - 1)]), Double, "h")
    back.defn = [Reduce(back(t, i), w(i, k) * h(t - 1, k), Op.Sum)]
    given.defn = [Reduce(given(t, i), u(i, k) * x(t - 1, k), Op.Sum)]
    h.defn = [
        Case(Condition(t, "==", 0), 0.0),
        Case(Condition(t, ">=", 1), pm.Tanh(back(t, i) + given(t, i))),
    ]
    run = pm.compile(h, inputs=[w, u, x], name="cell")
    assert "_pm_team_times(_pm_extent(" in run.source  # threads wake up once for all steps
    for steps, size, width in ((0, 3, 2), (1, 1, 1), (7, 19, 5)):
        arrays = RNG.random((size, size)) / size, RNG.random((size, width)), RNG.random((steps, width))
        expected = np.zeros((steps + 1, size))
        for step in range(steps):
            expected[step + 1] = np.tanh(arrays[0] @ expected[step] + arrays[1] @ arrays[2][step])
        assert_close(run(*arrays), expected, roundings=200 * max(steps, 1), magnitude=1.0)
