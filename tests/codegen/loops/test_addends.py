"""Sums of products and of addends that are part of some elements only, in every way to compute them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Double, Function, Int, Interval, Op, Options, Reduce, Reduction, Select
from tests.tolerance import assert_close

N = pm.Parameter(Int, "N")
i, j, k = (pm.Variable(Int, name) for name in "ijk")
I = Interval(Int, 0, N - 1)  # noqa: E741
A, B, D = (pm.Matrix(Double, name, [N, N]) for name in ("A", "B", "D"))
QUICK: dict[str, Any] = {"cflags": ("-O1",), "threads": 1}
OPTIONS = {
    "default": Options(**QUICK),
    "library": Options(blas="always", **QUICK),
    "loops": Options(blas="never", kernels=False, **QUICK),
}


def after(value: Any) -> Function:
    found = Function(([i, j], [I, I]), Double, "found")
    found.defn = value
    return found


def halves(first: Any, second: Any) -> Function:
    """One value on and below the diagonal, another above it, as a function of its own."""
    found = Function(([i, j], [I, I]), Double, "halves")
    found.defn = [Case(Condition(i, ">=", j), first), Case(Condition(i, "<", j), second)]
    return found


def product(init: Any = None) -> Reduction:
    found = Reduction(([i, j], [I, I]), ([i, j, k], [I, I, I]), Double, "product", init=init)
    found.defn = [Reduce(found(i, j), A(i, k) * B(k, j), Op.Sum)]
    return found


PROGRAMS: dict[str, Callable[[], Function]] = {
    "a scaled triangle and a matrix": lambda: 0.75 * D - 0.25 * pm.syrk(A, B, -1.0, 0.5),
    "a product and two halves": lambda: A @ B + halves(D(i, j), 2 * D(i, j)),
    "a product and one half": lambda: A @ B + halves(D(i, j), 0),
    "a choice of nothing": lambda: after((A @ B)(i, j) + Select(Condition(j, ">", 2), D(i, j), 0.0)),
    "two choices": lambda: after(
        2 * (A @ B)(i, j)
        + Select(Condition(i, "<", j), D(i, j), B(i, j))
        + Select(Condition(j, "<", 3), A(i, j), D(j, i))
    ),
    "an initial choice": lambda: product(Select(Condition(i, "==", j), D(i, j), B(i, j))),
    "many choices": lambda: after(
        (A @ B)(i, j)
        + Select(Condition(i, "<", 2), D(i, j), B(i, j))
        + Select(Condition(j, "<", 3), A(i, j), D(j, i))
        + Select(Condition(i, "<", j), A(j, i), B(j, i))
        + Select(Condition(i + j, "<", 9), A(i, i), D(j, j))
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_addends_on_parts_of_the_result(name: str, seed: int) -> None:
    outputs: list[Any] = []
    for word, options in OPTIONS.items():
        made = PROGRAMS[name]()
        compiled = pm.compile(made, name=f"sum_{word}", inputs=[A, B, D], options=options)
        outputs.append((word, compiled))
    rng = np.random.default_rng(seed)
    for n in (0, 1, 7, 40):
        arrays = [rng.uniform(-1, 1, (n, n)) for _ in range(3)]
        expected = outputs[0][1].reference(*arrays)
        for word, compiled in outputs:
            assert_close(compiled(*arrays), expected, roundings=4 * n + 40, magnitude=8.0 + 4 * n, name=word)
