"""NPBench's programs that PolyBench has not, beside NumPy, loops in Numba and, of some, plain C."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.cases import Case, Results
from benchmarks.npbench import PREFIX, PROGRAMS, find_program
from benchmarks.polybench.kernel import Description
from benchmarks.program import Program
from benchmarks.section import Section
from benchmarks.task import Task


def describe(task: Task) -> Description:
    """The program of that name."""
    return find_program(task.problem.removeprefix(PREFIX)).build()


def program_case(program: Program, dataset: str, prefix: str = PREFIX) -> Case:
    """A program at the sizes of a data set; prefix: of its problem's name."""
    sizes = program.sizes[dataset]
    arrays = program.inputs(sizes, np.random.default_rng(42))

    def expected() -> tuple[Results, Results]:
        right, bounds = program.solve(arrays, sizes), program.bounds(arrays, sizes)
        return tuple(right.values()), tuple(bounds.values())

    return Case(
        name=f"{program.name} {dataset}",
        group=dataset,
        task=Task(prefix + program.name, arrays, {"sizes": dict(sizes), "scalars": program.named(sizes)}),
        expected=expected,
        flops=program.flops(sizes),
        traffic=program.bytes(sizes),
        compute_bound=program.traffic == 0,
        stream="copy",
    )


def cases(quick: bool) -> Iterator[Case]:
    """Every program, at M where all is asked for."""
    for dataset in ("S",) if quick else ("S", "M"):
        for program in PROGRAMS:
            yield program_case(program, dataset)


PROBLEMS = {PREFIX + program.name: describe for program in PROGRAMS}
SECTIONS = (
    Section(
        name="npbench",
        title="NPBench's programs that PolyBench has not",
        cases=cases,
        programs=tuple(program.name for program in PROGRAMS),
        rivals={"polymat": ("NumPy", "Numba, NPBench", "C, NPBench")},
        goals=("none slower than the best",),
        patience=60.0,  # some loops in Python take minutes
    ),
)
