"""Products that have a factor in common: it is multiplied once where that is quicker."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Float, Int, Options
from polymat.driver import levels, request_for
from polymat.graph.pipeline import Pipeline
from tests.tolerance import assert_close

K, L, M = (pm.Parameter(Int, name) for name in "KLM")
A, E = pm.Matrix(Double, "A", [K, L]), pm.Matrix(Double, "E", [K, L])
B, C = pm.Matrix(Double, "B", [L, M]), pm.Matrix(Double, "C", [L, M])
D, x, y = pm.Matrix(Double, "D", [K, M]), pm.Vector(Double, "x", [L]), pm.Vector(Double, "y", [L])
alpha = pm.Parameter(Double, "alpha")
LOOPS = Options(kernels=False, blas="never")
SHAPES = {"A": "KL", "E": "KL", "B": "LM", "C": "LM", "D": "KM", "x": "L", "y": "L"}


def graph(output: Any, options: Options = LOOPS) -> Pipeline:
    every = levels(request_for(output, name="y", options=options))
    found = next(level for name, level in every if name == "graph")
    assert isinstance(found, Pipeline)
    return found


def products(output: Any, options: Options = LOOPS) -> int:
    return sum(stage.is_reduction for stage in graph(output, options).stages)


@pytest.mark.parametrize(
    ("output", "with_scalar"),
    [
        (A @ B + A @ C, False),
        (A @ B - A @ C, False),
        (A @ B + E @ B, False),
        (2 * (A @ B) - alpha * (A @ C), True),
        (A @ B + D - A @ C, False),
        (A @ x + A @ y, False),
        (A @ B + (A @ C + A @ B.T.T), False),
        (A.T @ D + E.T @ D, False),
    ],
)
def test_the_factor_is_multiplied_once(output: Any, with_scalar: bool) -> None:
    assert products(output) == 1
    assert "is multiplied once, with " in graph(output).notes[0]
    scalars = {"alpha": -1.5} if with_scalar else {}
    compiled = pm.compile(output, name="once", options=LOOPS)
    rng = np.random.default_rng(7)
    for K_, L_, M_ in ((5, 7, 3), (1, 1, 1), (4, 0, 2), (0, 3, 2)):
        lengths = {"K": K_, "L": L_, "M": M_}
        names = [array.name for array in graph(output).inputs]
        arrays = {name: rng.standard_normal([lengths[d] for d in SHAPES[name]]) for name in names}
        expected = compiled.reference(**arrays, **scalars)
        bound = 30.0 * (L_ + K_ + 1) * max(abs(a).max(initial=0.0) for a in arrays.values()) ** 2
        assert_close(compiled(**arrays, **scalars), expected, roundings=40, magnitude=bound)


def test_nothing_in_common_stays() -> None:
    assert products(A @ B + E @ C) == 2
    assert products(A @ B + A @ B) == 1  # the same stage twice
    assert graph(A @ B + E @ C).notes == ()


def test_what_others_read_stays() -> None:
    one = (A @ B).named("one")
    found = graph([one, one + A @ C])
    assert found.notes == ()


def test_it_is_an_option() -> None:
    assert products(A @ B + A @ C, Options(kernels=False, blas="never", reassociate=False)) == 2


def test_other_precisions_stay() -> None:
    P, Q, R = (pm.Matrix(Float, name, [K, K]) for name in "PQR")
    assert products(P @ Q + P @ R) == 1
    assert products(A @ B + pm.Cast(Double, 1.0) * (A @ C)) == 1
