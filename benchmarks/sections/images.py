"""PolyMage's six image pipelines, beside NumPy, SciPy, Numba, Halide, OpenCV and other ways of polymat."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.cases import Case, Results
from benchmarks.images import PROGRAMS, find_program
from benchmarks.polybench.kernel import Description
from benchmarks.program import Program
from benchmarks.section import Section
from benchmarks.task import Task


def describe(task: Task) -> Description:
    """The program of that name."""
    return find_program(task.problem).build()


def image_case(program: Program, dataset: str) -> Case:
    """A program at the sizes of a data set."""
    sizes = program.sizes[dataset]
    arrays = program.inputs(sizes, np.random.default_rng(1))

    def expected() -> tuple[Results, Results]:
        return tuple(program.solve(arrays).values()), tuple(program.bounds(arrays).values())

    return Case(
        name=f"{program.name} {dataset}",
        group=dataset,
        task=Task(program.name, arrays, {"sizes": dict(sizes), "scalars": dict(program.scalars)}),
        expected=expected,
        flops=program.flops(sizes),
        traffic=program.bytes(sizes),
        compute_bound=False,
        element_bytes=next(iter(arrays.values())).itemsize,
        stream="copy",
    )


def cases(quick: bool) -> Iterator[Case]:
    """Every program."""
    for program in PROGRAMS:
        yield image_case(program, "SMALL" if quick else "PAPER")


PROBLEMS = {program.name: describe for program in PROGRAMS}
SECTIONS = (
    Section(
        name="images",
        title="PolyMage's six image pipelines",
        cases=cases,
        rivals={
            "polymat": ("NumPy", "SciPy, images", "Numba, images", "OpenCV"),
            "polymat, out=": ("Halide", "unfused, out=", "naive, out=", "polymage, out=", "paper, out="),
        },
        goals=(
            "each at least as fast as the best of all peers and of all ways of polymat",
            "3 times Numba and 2 times naive in geometric mean",
        ),
    ),
)
