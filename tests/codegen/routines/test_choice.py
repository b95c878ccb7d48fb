"""Choices within choices on indices, in sums and maxima whose rows run together (gcc 12 made some wrong)."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Condition, Double, Float, Int, Matrix, Op, Reduce, Reduction, Select, Short, Vector
from polymat.lang.types import ScalarType
from tests.idiom.recognise import K, M, i, k, upto

SIZES = ((1, 33), (16, 33), (9, 8), (40, 20), (64, 64), (70, 70))
FORMS = 6  # of each type, in one library


def condition(rng: random.Random, element: Any) -> Condition:
    if rng.random() < 0.2:
        return Condition(element, rng.choice("<>"), 0)
    left = rng.choice((k, k, 2 * k, k + i))
    right = rng.choice((i, 3, 2 * i, M // 2, K // 2, i - 2, i + 1))
    return Condition(left, rng.choice(("<", "<=", ">", ">=", "==", "!=")), right)


def choice(rng: random.Random, values: tuple[Any, ...], element: Any, depth: int) -> Any:
    if depth > 0 and rng.random() < 0.7:
        branches = (choice(rng, values, element, depth - 1) for _ in range(2))
        return Select(condition(rng, element), *branches)
    return rng.choice((*values, 0, 1))


def reductions(dtype: ScalarType, rng: random.Random) -> list[Reduction]:
    A, x, C = Matrix(dtype, "A", [M, K]), Vector(dtype, "x", [K]), Vector(dtype, "C", [M])
    values = (x(k), A(i, k), A(i, k) * x(k))
    found = []
    for number in range(FORMS):
        init = C(i) if number % 3 == 2 else None
        result = Reduction(([i], [upto(M)]), ([i, k], [upto(M), upto(K)]), dtype, f"P{number}", init=init)
        value = Select(condition(rng, A(i, k)), *(choice(rng, values, A(i, k), 2) for _ in range(2)))
        result.defn = [Reduce(result(i), value + 0 * A(i, k), Op.Max if number % 3 == 1 else Op.Sum)]
        found.append(result)
    masked = Select(Condition(k, "<=", i), x(k), Select(Condition(k, ">", 3), A(i, k), 0))
    largest = Reduction(([i], [upto(M)]), ([i, k], [upto(M), upto(K)]), dtype, "largest", init=C(i))
    largest.defn = [Reduce(largest(i), masked, Op.Max)]
    return [*found, largest]


@pytest.mark.parametrize("dtype", [Short, Int, Float, Double], ids=lambda dtype: dtype.name)
def test_nested_choices(dtype: ScalarType, seed: int) -> None:
    outputs = reductions(dtype, random.Random(seed))
    compiled = pm.compile(outputs, name="choices")
    rng = np.random.default_rng(seed)
    shapes = {"A": (0, 1), "x": (1,), "C": (0,)}
    for size in SIZES:
        arrays = {}
        for array in compiled.signature.inputs:
            shape = [size[axis] for axis in shapes[array.name]]
            arrays[array.name] = rng.integers(-5, 6, shape).astype(dtype.dtype)
        both = zip(outputs, compiled(**arrays), compiled.reference(**arrays), strict=True)
        for output, got, expected in both:
            assert np.array_equal(got, expected), f"seed {seed}, {size}: {output.defn}"
