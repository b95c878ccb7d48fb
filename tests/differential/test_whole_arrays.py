"""Random programs of whole arrays, run by NumPy itself and compiled."""

from __future__ import annotations

import operator
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm

M, N = pm.Parameter(pm.Int, "M"), pm.Parameter(pm.Int, "N")
SHAPES = ((1, 1), (1, 6), (5, 1), (3, 2), (7, 11), (17, 64))
BINARY: list[Callable[[Any, Any], Any]] = [operator.add, operator.sub, np.multiply, np.maximum, np.minimum]
UNARY: list[Callable[[Any], Any]] = [
    operator.neg,
    abs,
    np.square,
    np.floor,
    lambda a: a / 2,
    lambda a: 1.5 - a,
]
COMPARED = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
TURNS: list[Callable[[Any], Any]] = [
    lambda a: a[::-1],
    lambda a: a[:, ::-1],
    lambda a: a[:1],
    lambda a: a[:, -1:],
    lambda a: a[0],
    lambda a: a.sum(axis=0),
    lambda a: a.max(axis=1, keepdims=True),
    lambda a: a.min(axis=0, keepdims=True),
    lambda a: a.argmax(axis=1)[:, None],
    lambda a: a.argmin(axis=0),
    lambda a: (a > 0).sum(axis=0),
    lambda a: a.max(),
    lambda a: a.sum(axis=(0, 1), keepdims=True),
]
# One value of a program: an input, or what is made of earlier values by number.
Step = tuple[Callable[..., Any], tuple[int, ...]]


def program(rng: random.Random, length: int) -> list[Step]:
    """Steps over the values 0 (M x N), 1 (M x N) and 2 (N); every value keeps that shape or broadcasts to it."""
    steps: list[Step] = []
    whole = [0, 1]  # of shape M x N
    some = [0, 1, 2]
    for number in range(3, 3 + length):
        kind = rng.random()
        if kind < 0.3:
            steps.append((rng.choice(TURNS), (rng.choice(whole),)))
        elif kind < 0.5:
            steps.append((rng.choice(UNARY), (rng.choice(whole),)))
            whole.append(number)
        elif kind < 0.7:
            compared = rng.choice(COMPARED)
            steps.append((_chosen(compared), (rng.choice(whole), rng.choice(some), rng.choice(some))))
            whole.append(number)
        else:
            steps.append((rng.choice(BINARY), (rng.choice(whole), rng.choice(some))))
            whole.append(number)
        some.append(number)
    return steps


def _chosen(compared: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda a, b, c: np.where(compared(a, b), c, a)


def run(steps: list[Step], inputs: list[Any]) -> list[Any]:
    """The last values of a program."""
    values = list(inputs)
    for function, arguments in steps:
        values.append(function(*(values[k] for k in arguments)))
    return values[-4:]


@pytest.mark.parametrize("case", range(6))
def test_random_programs(case: int, seed: int) -> None:
    rng = random.Random(f"{seed} {case}")
    steps = program(rng, 12)
    A, B = pm.Image(pm.Double, "A", [M, N]), pm.Matrix(pm.Double, "B", [M, N])
    inputs = [A, B, pm.Vector(pm.Double, "v", [N])]
    compiled = pm.compile(run(steps, inputs), inputs=inputs)
    numbers = np.random.default_rng([seed, case])
    for shape in SHAPES:
        data = [numbers.integers(-8, 9, each) / 4 for each in (shape, shape, shape[1:])]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            wanted = run(steps, data)
        for results in (compiled(*data), compiled.reference(*data)):
            for result, want in zip(results, wanted, strict=True):
                assert result.shape == np.shape(want)
                assert result.dtype == np.asarray(want).dtype
                np.testing.assert_allclose(result, want, rtol=1e-12, atol=1e-12)
