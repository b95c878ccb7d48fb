"""Factorisations beside the LAPACKs of OpenBLAS and of MKL, and beside loops in Numba."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.cases import Case, kernel_case
from benchmarks.factorisations import PREFIX, PROGRAMS, find_program
from benchmarks.polybench import find_kernel
from benchmarks.polybench.kernel import Description
from benchmarks.section import Section
from benchmarks.sections.npbench import program_case
from benchmarks.task import Task

SIZES = (1000, 2000, 4000)


def describe(task: Task) -> Description:
    """The program of that name."""
    return find_program(task.problem.removeprefix(PREFIX)).build()


def cases(quick: bool) -> Iterator[Case]:
    """Cholesky's and LU of several sizes, and what LAPACK has not."""
    for size in SIZES[:1] if quick else SIZES:
        for name in ("cholesky", "lu"):
            kernel = replace(find_kernel(name), sizes={str(size): {"N": size}})
            yield kernel_case(kernel, str(size))
    for program in PROGRAMS:
        for dataset in ("S",) if quick else program.sizes:
            yield program_case(program, dataset, PREFIX)


PROBLEMS = {PREFIX + program.name: describe for program in PROGRAMS}
SECTIONS = (
    Section(
        name="factorisations",
        title="Factorisations written as recurrences, beside LAPACK",
        cases=cases,
        rivals={"polymat, out=": ("LAPACK of OpenBLAS", "LAPACK of MKL", "Numba", "Numba, factors")},
        goals=(
            "cholesky and lu level with the better LAPACK on one and two threads, five times Numba's loops",
            "LDL' without pivots, and Cholesky's with bands: the same treatment",
            "tables of least costs, of chains of matrices and search trees: twice as fast as Numba's loops",
        ),
    ),
)
