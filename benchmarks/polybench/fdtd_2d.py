"""PolyBench fdtd-2d: two electric fields and a magnetic one that need each other, with a source."""

from __future__ import annotations

from benchmarks.polybench.kernel import (
    DOUBLE,
    Arrays,
    Description,
    Kernel,
    Sizes,
    counter,
    extents,
    index_grid,
    parameters,
    size_table,
    upto,
    variables,
)
from polymat import Case, Condition, Double, Function, Int, Interval, Matrix, Vector

NAME = "fdtd-2d"


def build() -> Description:
    """Describe the steps: fields after t steps, the magnetic one by the new electric ones."""
    T, NX, NY = sizes = parameters("T NX NY")
    ex0, ey0, hz0 = (Matrix(Double, name, [NX, NY]) for name in ("ex", "ey", "hz"))
    source = Vector(Double, "fict", [T])
    t, i, j = variables("t i j")
    domain = ([t, i, j], [Interval(Int, 0, T), upto(NX), upto(NY)])
    first, later = Condition(t, "==", 0), Condition(t, ">=", 1)
    ex, ey, hz = (Function(domain, Double, f"{name}_t") for name in ("ex", "ey", "hz"))
    ey.defn = [
        Case(first, ey0(i, j)),
        Case(later & Condition(i, "==", 0), source(t - 1)),
        Case(later & Condition(i, ">=", 1), ey(t - 1, i, j) - 0.5 * (hz(t - 1, i, j) - hz(t - 1, i - 1, j))),
    ]
    ex.defn = [
        Case(first, ex0(i, j)),
        Case(later & Condition(j, "==", 0), ex(t - 1, i, j)),
        Case(later & Condition(j, ">=", 1), ex(t - 1, i, j) - 0.5 * (hz(t - 1, i, j) - hz(t - 1, i, j - 1))),
    ]
    curl = ex(t, i, j + 1) - ex(t, i, j) + ey(t, i + 1, j) - ey(t, i, j)
    hz.defn = [
        Case(first, hz0(i, j)),
        Case(later & Condition(i, "<=", NX - 2) & Condition(j, "<=", NY - 2), hz(t - 1, i, j) - 0.7 * curl),
        Case(later & (Condition(i, "==", NX - 1) | Condition(j, "==", NY - 1)), hz(t - 1, i, j)),
    ]

    def last(field: Function, name: str) -> Function:
        found = Function(([i, j], [upto(NX), upto(NY)]), Double, name)
        found.defn = [field(T, i, j)]
        return found

    outputs = tuple(last(field, name) for field, name in ((ex, "ex_T"), (ey, "ey_T"), (hz, "hz_T")))
    return Description(outputs, (ex0, ey0, hz0, source), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    T, NX, NY = extents(sizes, "T NX NY")
    i, j = index_grid(NX, NY)
    ex, ey, hz = i * (j + 1) / NX, i * (j + 2) / NY, i * (j + 3) / NX
    return {"ex": ex, "ey": ey, "hz": hz, "fict": 1.0 * counter(T)}


def reference(arrays: Arrays) -> Arrays:
    """Take the steps with NumPy."""
    ex, ey, hz, fict = (array.copy() for array in arrays.values())
    for value in fict:
        ey[:1] = value
        ey[1:] -= 0.5 * (hz[1:] - hz[:-1])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return {"ex": ex, "ey": ey, "hz": hz}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    T, NX, NY = extents(sizes, "T NX NY")
    return T * (3 * (NX - 1) * NY + 3 * NX * (NY - 1) + 5 * (NX - 1) * (NY - 1))


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    T, NX, NY = extents(sizes, "T NX NY")
    return DOUBLE * (6 * NX * NY + T)


KERNEL = Kernel(
    name=NAME,
    sizes=size_table(
        "T NX NY",
        MINI=(20, 20, 30),
        SMALL=(40, 60, 80),
        MEDIUM=(100, 200, 240),
        LARGE=(500, 1000, 1200),
        EXTRALARGE=(1000, 2000, 2600),
    ),
    builds={"steps": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: 200 * sizes["T"] + 8,
    summed=False,
)
