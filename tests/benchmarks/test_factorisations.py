"""Factorisations and programs beside LAPACK and plain C: all of them compute the right thing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.cases import Judge, kernel_case
from benchmarks.factorisations import BANDED, CHAIN, LDLT, PREFIX, TREE
from benchmarks.npbench import find_program
from benchmarks.peers import c_npbench, lapack
from benchmarks.polybench import find_kernel
from benchmarks.polybench.kernel import Sizes
from benchmarks.program import Program
from benchmarks.sections.npbench import program_case
from benchmarks.task import MissingError, Task


def at(program: Program, sizes: Sizes) -> Program:
    """The program with these sizes alone."""
    return replace(program, sizes={"here": sizes})


@pytest.mark.parametrize(
    ("program", "tried"),
    [
        (LDLT, [{"N": size} for size in (0, 1, 2, 13, 33)]),
        (BANDED, [{"N": n, "K": k} for n, k in ((0, 2), (1, 0), (4, 0), (1, 3), (7, 3), (17, 16), (40, 5))]),
        (CHAIN, [{"N": size} for size in (0, 1, 2, 13, 64, 65, 323, 324, 400)]),
        (TREE, [{"N": size} for size in (0, 1, 2, 13, 64, 65, 325, 389)]),
    ],
    ids=["ldlt", "banded", "chain", "tree"],
)
def test_compiled_equals_lapack(program: Program, tried: list[Sizes], seed: int) -> None:
    compiled = program.build().compile("factors")
    for sizes in tried:
        arrays = program.inputs(sizes, np.random.default_rng(seed))
        (right,), (bound,) = program.solve(arrays).values(), program.bounds(arrays).values()
        assert not np.any(np.abs(compiled(*arrays.values()) - right) > bound)


def test_lapack_is_called_right() -> None:
    for name in ("cholesky", "lu"):
        case = kernel_case(find_kernel(name), "MINI")
        prepared = lapack.prepare_openblas(case.task)
        assert Judge(case).error(prepared.call()) <= 1
        assert prepared.repeat is not None
        assert prepared.repeat(2) > 0
    for program, sizes in ((LDLT, {"N": 23}), (BANDED, {"N": 23, "K": 4})):
        case = program_case(at(program, sizes), "here", PREFIX)
        assert Judge(case).error(lapack.prepare_openblas(case.task).call()) <= 1
    with pytest.raises(MissingError, match="no routine for gemm"):
        lapack.prepare_openblas(Task("gemm", {}))


SIZES: dict[str, Sizes] = {
    "channel_flow": {"Y": 7, "X": 9, "T": 3, "P": 4},
    "contour_integral": {"R": 5, "M": 3, "Z": 4},
    "stockham_fft": {"N": 32},
}


@pytest.mark.parametrize("name", SIZES)
def test_plain_c_is_right(name: str) -> None:
    case = program_case(at(find_program(name), SIZES[name]), "here")
    assert Judge(case).error(c_npbench.prepare(case.task).call()) <= 1


def test_what_has_no_c_is_said() -> None:
    case = program_case(at(find_program("go_fast"), {"N": 3}), "here")
    with pytest.raises(MissingError, match="no kernel npbench_go_fast"):
        c_npbench.prepare(case.task)
