"""Functions that read themselves: PolyBench's stencils and factorisations against golden data and NumPy.

PolyBench's own data are a fixed point of seidel-2d and nearly one of the jacobi kernels, so random data go
beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from benchmarks.polybench.kernel import Array, Arrays, Description, Sizes
from benchmarks.polybench.signature import lower_triangle
from tests.polybench import recurrence_oracles as oracles
from tests.polybench import recurrences
from tests.polybench.golden import GOLDEN_DATASETS, assert_golden
from tests.tolerance import assert_close

Generator = np.random.Generator


@dataclass(frozen=True)
class Recurrence:
    """A problem, its description, its oracle, and random inputs on which it is well conditioned."""

    name: str
    describe: Callable[[], Description]
    inputs: Callable[[Sizes], Arrays]
    solve: Callable[[Arrays, Sizes], Array]
    random: Callable[[Generator, Sizes], Arrays]
    result: str = "A"

    @property
    def label(self) -> str:
        return self.describe.__name__

    @property
    def timed(self) -> bool:
        return "T" in oracles.SIZES[self.name]["MINI"]

    def dumped(self, result: Array) -> Array:
        return lower_triangle(result) if self.name == "cholesky" else result


def random_squares(rng: Generator, sizes: Sizes) -> Arrays:
    N = sizes["N"]
    return {"A": rng.uniform(-1, 1, (N, N)), "B": rng.uniform(-1, 1, (N, N))}


def random_lines(rng: Generator, sizes: Sizes) -> Arrays:
    return {"A": rng.uniform(-1, 1, sizes["N"]), "B": rng.uniform(-1, 1, sizes["N"])}


def random_square(rng: Generator, sizes: Sizes) -> Arrays:
    return {"A": rng.uniform(-1, 1, (sizes["N"], sizes["N"]))}


def random_dominant(rng: Generator, sizes: Sizes) -> Arrays:
    N = sizes["N"]
    return {"A": rng.uniform(-1, 1, (N, N)) + N * np.eye(N)}


def random_definite(rng: Generator, sizes: Sizes) -> Arrays:
    A = rng.uniform(-1, 1, (sizes["N"], sizes["N"]))
    A = A @ A.T + sizes["N"] * np.eye(sizes["N"])
    A[np.triu_indices(len(A), 1)] = np.nan
    return {"A": A}


def random_triangle(rng: Generator, sizes: Sizes) -> Arrays:
    N = sizes["N"]
    L = rng.uniform(-1, 1, (N, N)) + max(N, 1) * np.eye(N)
    L[np.triu_indices(N, 1)] = np.nan
    return {"L": L, "b": rng.uniform(-1, 1, N)}


def random_weights(rng: Generator, sizes: Sizes) -> Arrays:
    return {"path": rng.integers(1, 1000, (sizes["N"], sizes["N"]), dtype=np.int32)}


RECURRENCES = (
    Recurrence(
        "jacobi-1d",
        recurrences.jacobi_1d,
        oracles.jacobi_1d_inputs,
        lambda arrays, sizes: oracles.jacobi_1d(arrays, sizes["T"]),
        random_lines,
    ),
    Recurrence(
        "jacobi-2d",
        recurrences.jacobi_2d,
        oracles.jacobi_2d_inputs,
        lambda arrays, sizes: oracles.jacobi_2d(arrays, sizes["T"]),
        random_squares,
    ),
    Recurrence(
        "seidel-2d",
        recurrences.seidel_2d,
        oracles.seidel_2d_inputs,
        lambda arrays, sizes: oracles.seidel_2d(arrays, sizes["T"]),
        random_square,
    ),
    Recurrence(
        "cholesky",
        recurrences.cholesky,
        oracles.factored_inputs,
        lambda arrays, sizes: oracles.cholesky(arrays),
        random_definite,
    ),
    Recurrence(
        "lu",
        recurrences.lu,
        oracles.factored_inputs,
        lambda arrays, sizes: oracles.lu(arrays),
        random_dominant,
    ),
    *(
        Recurrence(
            "trisolv",
            describe,
            oracles.trisolv_inputs,
            lambda arrays, sizes: oracles.trisolv(arrays),
            random_triangle,
            result="x",
        )
        for describe in (recurrences.trisolv, recurrences.trisolv_reduction)
    ),
    Recurrence(
        "floyd-warshall",
        recurrences.floyd_warshall,
        oracles.floyd_warshall_inputs,
        lambda arrays, sizes: oracles.floyd_warshall(arrays),
        random_weights,
        result="path",
    ),
)
EACH = pytest.mark.parametrize("problem", RECURRENCES, ids=lambda problem: problem.label)
# Fewer points than the stencils reach, one interior point, and some odd sizes.
SMALL_SIZES = ({"T": 3, "N": n} for n in (0, 1, 2, 3, 4, 7, 19))
EDGE_SIZES = (*SMALL_SIZES, {"T": 0, "N": 5}, {"T": 1, "N": 5})


@cache
def compiled(label: str) -> Any:
    (problem,) = (p for p in RECURRENCES if p.label == label)
    return problem.describe().compile(label)


def steps(problem: Recurrence, sizes: Sizes) -> dict[str, int]:
    """The one size that no array shows."""
    return {"T": sizes["T"]} if problem.timed else {}


def run(problem: Recurrence, arrays: Arrays, sizes: Sizes) -> Array:
    result: Array = compiled(problem.label)(*arrays.values(), **steps(problem, sizes))
    return result


def assert_solves(problem: Recurrence, actual: Array, arrays: Arrays, sizes: Sizes) -> None:
    expected = problem.solve(arrays, sizes)
    sweeps = 10 * sizes.get("T", 0) if problem.timed else 4 * sizes["N"]
    magnitude = max((float(np.nanmax(np.abs(a), initial=0.0)) for a in arrays.values()), default=0.0)
    assert_close(actual, expected, roundings=sweeps + 4, magnitude=magnitude, name=problem.label)


@pytest.mark.parametrize("dataset", GOLDEN_DATASETS)
@EACH
def test_oracle_has_golden_signature(problem: Recurrence, dataset: str) -> None:
    sizes = oracles.SIZES[problem.name][dataset]
    result = problem.solve(problem.inputs(sizes), sizes)
    assert_golden({problem.result: problem.dumped(result)}, problem.name, dataset)


@pytest.mark.parametrize("dataset", GOLDEN_DATASETS)
@EACH
def test_compiled_has_golden_signature(problem: Recurrence, dataset: str) -> None:
    sizes = oracles.SIZES[problem.name][dataset]
    result = run(problem, problem.inputs(sizes), sizes)
    assert_golden({problem.result: problem.dumped(result)}, problem.name, dataset)


@pytest.mark.parametrize("sizes", EDGE_SIZES, ids=lambda s: f"T{s['T']}N{s['N']}")
@EACH
def test_compiled_solves_random_problems(problem: Recurrence, sizes: Sizes, seed: int) -> None:
    arrays = problem.random(np.random.default_rng(seed), sizes)
    assert_solves(problem, run(problem, arrays, sizes), arrays, sizes)


@EACH
def test_compiled_solves_a_larger_random_problem(problem: Recurrence, seed: int) -> None:
    sizes = {"T": 11, "N": 67}
    arrays = problem.random(np.random.default_rng(seed), sizes)
    assert_solves(problem, run(problem, arrays, sizes), arrays, sizes)


@pytest.mark.parametrize("N", [0, 1, 4, 9])
@EACH
def test_interpreter_solves_random_problems(problem: Recurrence, N: int, seed: int) -> None:
    sizes = {"T": 3, "N": N}
    arrays = problem.random(np.random.default_rng(seed), sizes)
    result = compiled(problem.label).reference(*arrays.values(), **steps(problem, sizes))
    assert_solves(problem, result, arrays, sizes)


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_step_count_matters(steps: int, seed: int) -> None:
    """A fixed point would hide a wrong number of steps."""
    problem = RECURRENCES[2]
    sizes = {"T": steps, "N": 12}
    arrays = problem.random(np.random.default_rng(seed), sizes)
    other = problem.solve(arrays, {"T": steps + 1, "N": 12})
    assert np.max(np.abs(run(problem, arrays, sizes) - other)) > 1e-6
