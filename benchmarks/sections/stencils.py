"""Chains of stencils over images, beside other ways of compiling the same and beside NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import numpy as np

from benchmarks.cases import Case, Results, rounding_bounds
from benchmarks.polybench.kernel import Description
from benchmarks.section import Section
from benchmarks.stencils import PROGRAMS
from benchmarks.task import Task

ROUNDINGS = 200
"""More than the operations on the longest path through any of the programs."""


def describe(task: Task) -> Description:
    """The program of that name."""
    (program,) = (program for program in PROGRAMS if task.problem == program.NAME)
    description: Description = program.build()
    return description


def stencil_case(program: ModuleType, dataset: str) -> Case:
    """A program at the sizes of a data set."""
    sizes = program.SIZES[dataset]
    arrays = program.inputs(sizes, np.random.default_rng(1))

    def expected() -> tuple[Results, Results]:
        right = tuple(program.reference(arrays).values())
        # Differences cancel: the error is judged by the largest magnitude that the result has.
        largest = tuple(np.full_like(array, np.max(np.abs(array), initial=0.0)) for array in right)
        return right, rounding_bounds(largest, ROUNDINGS, np.float32)

    return Case(
        name=f"{program.NAME} {dataset}",
        group=dataset,
        task=Task(program.NAME, arrays, {"sizes": dict(sizes)}),
        expected=expected,
        flops=program.flops(sizes),
        traffic=program.traffic(sizes),
        compute_bound=False,
        element_bytes=4,
        stream="copy",
    )


def cases(quick: bool) -> Iterator[Case]:
    """Every program."""
    for dataset in ("SMALL",) if quick else ("SMALL", "MEDIUM", "LARGE"):
        for program in PROGRAMS:
            yield stencil_case(program, dataset)


PROBLEMS = {program.NAME: describe for program in PROGRAMS}
SECTIONS = (
    Section(
        name="stencils",
        title="Chains of stencils, float32",
        cases=cases,
        rivals={"polymat": ("NumPy",), "polymat, out=": ("unfused, out=", "naive, out=")},
        goals=(
            "chain at LARGE: 2.5 times as fast as unfused, 0.8 of the bandwidth of one copying pass",
            "harris: 2 times as fast as naive",
        ),
    ),
)
