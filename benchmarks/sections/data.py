"""Programs whose indices or steps are data, beside the libraries that have them."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.cases import Case
from benchmarks.data import PREFIX, PROGRAMS, find_program
from benchmarks.polybench.kernel import Description
from benchmarks.section import Section
from benchmarks.sections.npbench import program_case
from benchmarks.task import Task


def describe(task: Task) -> Description:
    """The program of that name."""
    return find_program(task.problem.removeprefix(PREFIX)).build()


def cases(quick: bool) -> Iterator[Case]:
    """Every program, at M where all is asked for."""
    for program in PROGRAMS:
        yield program_case(program, "S" if quick else "M", PREFIX)


PROBLEMS = {PREFIX + program.name: describe for program in PROGRAMS}
SECTIONS = (
    Section(
        name="data",
        title="Counting, sparse products, looking up, and steps over time",
        cases=cases,
        programs=tuple(program.name for program in PROGRAMS),
        rivals={
            "polymat": ("NumPy", "Numba, data", "OpenCV", "SciPy, sparse", "MKL, sparse"),
            "polymat, out=": ("np.copyto",),
        },
        goals=(
            "histograms three times NumPy, level with the best",
            "CSR times vector 1.3 times SciPy on one thread, level with MKL",
            "a look-up of 256 entries at 0.7 of the bandwidth of a copy",
            "the recurrent cell and the Kalman filters 1.5 times the best",
        ),
    ),
)
