"""Stencils in time, in bands of steps, beside steps one by one and beside NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import numpy as np

from benchmarks.cases import Case, Results, rounding_bounds
from benchmarks.polybench.kernel import DOUBLE, Description
from benchmarks.section import Section
from benchmarks.task import Task
from benchmarks.timesteps import PROGRAMS

ROUNDINGS = 2000
"""More than the operations on the longest path through all steps of any of the programs."""
GROWTH = 1e3
"""How much larger fields may become on the way than what they begin with: the scheme without its source."""


def describe(task: Task) -> Description:
    """The program of that name."""
    (program,) = (program for program in PROGRAMS if task.problem == program.NAME)
    description: Description = program.build()
    return description


def steps_case(program: ModuleType, dataset: str) -> Case:
    """A program at the sizes of a data set."""
    sizes = program.SIZES[dataset]
    arrays = program.inputs(sizes, np.random.default_rng(1))

    def expected() -> tuple[Results, Results]:
        right = tuple(program.reference(arrays).values())
        largest = tuple(np.full_like(array, GROWTH) for array in right)
        return right, rounding_bounds(largest, ROUNDINGS, np.float64)

    points = program.points(sizes)
    return Case(
        name=f"{program.NAME} {dataset}",
        group=dataset,
        task=Task(program.NAME, arrays, {"sizes": dict(sizes)}),
        expected=expected,
        flops=program.OPERATIONS * points,
        traffic=2 * DOUBLE * len(arrays) * points // program.STEPS,
        compute_bound=True,
    )


def cases(quick: bool) -> Iterator[Case]:
    """Every program."""
    for dataset in ("MEDIUM",) if quick else ("MEDIUM", "LARGE", "EXTRALARGE"):
        for program in PROGRAMS:
            yield steps_case(program, dataset)


PROBLEMS = {program.NAME: describe for program in PROGRAMS}
SECTIONS = (
    Section(
        name="timesteps",
        title="Stencils in time, 48 steps, float64",
        cases=cases,
        rivals={"polymat": ("polymat, one by one", "NumPy")},
        goals=("LARGE and EXTRALARGE: 1.5 times as fast as steps one by one",),
    ),
)
