"""Programs whose indices or steps are data: compiled once each, beside NumPy at odd sizes and at none."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from benchmarks.cases import Judge
from benchmarks.data import PREFIX, PROGRAMS, find_program
from benchmarks.peers.array_libraries import prepare_numpy
from benchmarks.polybench.kernel import Arrays, Sizes
from benchmarks.program import Program
from benchmarks.sections.npbench import program_case
from polymat import Options

ROWS = ({"M": 11, "N": 13, "NNZ": 29}, {"M": 1, "N": 2, "NNZ": 2}, {"M": 0, "N": 1, "NNZ": 0})
SIZES: dict[str, tuple[Sizes, ...]] = {
    "histogram-bytes": ({"N": 1031}, {"N": 1}, {"N": 0}),
    "histogram-reals": ({"N": 1031}, {"N": 1}, {"N": 0}),
    **dict.fromkeys(("csr-banded", "csr-random", "csr-uneven"), ROWS),
    "csr-columns": tuple({**each, "C": columns} for each, columns in zip(ROWS, (8, 3, 1), strict=True)),
    "lookup": ({"R": 5, "C": 71}, {"R": 1, "C": 1}, {"R": 0, "C": 3}),
    "recurrent-cell": ({"T": 5, "N": 7, "K": 3}, {"T": 1, "N": 1, "K": 1}, {"T": 0, "N": 2, "K": 1}),
    "kalman-filter": ({"T": 4, "B": 5}, {"T": 1, "B": 1}, {"T": 0, "B": 2}),
}
SAME = {"csr-banded": "csr-random", "csr-uneven": "csr-random"}  # in all but their inputs
EACH = pytest.mark.parametrize("name", SIZES)


@cache
def compiled(name: str) -> Any:
    """In blocks for two threads however small arrays are."""
    return find_program(SAME.get(name, name)).compile("M", options=Options(parallel_threshold=0, threads=2))


def assert_solves(program: Program, found: Any, arrays: Arrays, sizes: Sizes) -> None:
    bounds, results = program.bounds(arrays, sizes), found if isinstance(found, tuple) else (found,)
    for (result, right), array in zip(program.solve(arrays, sizes).items(), results, strict=True):
        assert (array.dtype, array.shape) == (right.dtype, right.shape)
        assert not np.any(np.abs(array - right.astype(float)) > bounds[result])


def test_every_program_has_sizes() -> None:
    assert list(SIZES) == [program.name for program in PROGRAMS]


@EACH
def test_compiled_equals_numpy(name: str, seed: int) -> None:
    program = find_program(name)
    for sizes in SIZES[name]:
        arrays = program.inputs(sizes, np.random.default_rng(seed))
        assert_solves(program, compiled(name)(*arrays.values()), arrays, sizes)


@EACH
def test_interpreted_equals_numpy(name: str, seed: int) -> None:
    program, sizes = find_program(name), SIZES[name][0]
    arrays = program.inputs(sizes, np.random.default_rng(seed))
    assert_solves(program, compiled(name).reference(*arrays.values()), arrays, sizes)


def test_rows_are_what_their_names_say(seed: int) -> None:
    sizes = {"M": 50, "N": 60, "NNZ": 550}
    found = {}
    for kind in ("banded", "random", "uneven"):
        row, column, _, _ = find_program(f"csr-{kind}").inputs(sizes, np.random.default_rng(seed)).values()
        rows = np.repeat(np.arange(50), np.diff(row))
        found[kind] = (int(np.abs(column - rows).max()), int(np.diff(row).max()))
        assert (row[0], row[-1], len(column)) == (0, 550, 550)
        assert 0 <= column.min() <= column.max() < 60
    assert found["banded"] == (10, 11)
    assert found["random"][0] > 20
    assert found["uneven"][1] > 100


def test_numpy_filters_what_stands_still() -> None:
    """Without noise in what moves, a state that is seen often enough is the mean of what was seen."""
    program = find_program("kalman-filter")
    arrays = program.inputs({"T": 200, "B": 3}, np.random.default_rng(7))
    arrays |= {"F": np.eye(4), "Q": np.zeros((4, 4)), "P0": arrays["P0"] * 1e6}
    states = program.solve(arrays)["states"]
    np.testing.assert_allclose(states[-1, :2], arrays["z"].mean(0), atol=1e-4)


def test_a_case_is_judged_by_numpy() -> None:
    case = program_case(find_program("recurrent-cell"), "S", PREFIX)
    (right,) = prepare_numpy(case.task).call()
    assert Judge(case).error(right) == 0
    right[-1, -1] += 1e-6
    assert Judge(case).error(right) > 1
