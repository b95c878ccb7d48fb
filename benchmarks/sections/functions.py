"""Elementary functions of arrays in the cache: what a number takes, beside NumPy and PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import polymat as pm
from benchmarks.cases import Case, Results
from benchmarks.polybench.kernel import Description, parameters
from benchmarks.section import Section
from benchmarks.task import Array, Task
from polymat import Double, Float, Function, Int, Interval, Variable, Vector

PREFIX = "each_"  # of the problems: a pipeline is not named as a function of libm
POINTS = 1 << 20
ULPS = 4
"""Units in the last place by which no result is wrong."""

FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Array]]] = {
    "exp": (pm.Exp, np.exp),
    "log": (pm.Log, np.log),
    "sin": (pm.Sin, np.sin),
    "cos": (pm.Cos, np.cos),
    "tanh": (pm.Tanh, np.tanh),
    "pow": (pm.Pow, np.power),
}


def describe(task: Task) -> Description:
    """The function of each element of the arrays."""
    (size,) = parameters("N")
    kind = Float if next(iter(task.arrays.values())).dtype == np.float32 else Double
    index = Variable(Int, "i")
    arrays = tuple(Vector(kind, name, [size]) for name in task.arrays)
    result = Function(([index], [Interval(Int, 0, size - 1)]), kind, "result")
    result.defn = [FUNCTIONS[task.problem.removeprefix(PREFIX)][0](*(array(index) for array in arrays))]
    return Description((result,), arrays, (size,))


def function_case(name: str, dtype: type[np.floating[Any]], points: int) -> Case:
    """Positive numbers, and exponents on both sides of 0."""
    rng = np.random.default_rng(1)
    arrays = {"x": rng.uniform(0.1, 10, points).astype(dtype)}
    if name == "pow":
        arrays["y"] = rng.uniform(-2, 2, points).astype(dtype)

    def expected() -> tuple[Results, Results]:
        wide = (array.astype(np.longdouble) for array in arrays.values())
        right = FUNCTIONS[name][1](*wide).astype(dtype)
        return (right,), (ULPS * np.spacing(np.abs(right)),)

    bits = np.dtype(dtype).itemsize
    return Case(
        name=f"{name} float{8 * bits}",
        group=f"float{8 * bits}",
        task=Task(PREFIX + name, arrays, {"sizes": {"N": points}}),
        expected=expected,
        flops=points,
        traffic=bits * points * (len(arrays) + 1),
        compute_bound=True,
        element_bytes=bits,
    )


def cases(quick: bool) -> Iterator[Case]:
    """Every function, of both types."""
    for dtype in (np.float32, np.float64):
        for name in FUNCTIONS:
            yield function_case(name, dtype, POINTS // 16 if quick else POINTS)


PROBLEMS = {PREFIX + name: describe for name in FUNCTIONS}
SECTIONS = (
    Section(
        name="functions",
        title="Elementary functions of a million numbers, into an array that is there",
        cases=cases,
        rivals={"polymat, out=": ("NumPy, out=", "torch, out=")},
        goals=("0.95 of the best of NumPy and torch each, one thread",),
        threads=(1,),
    ),
)
