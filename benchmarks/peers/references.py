"""The NumPy solutions that benchmark programs carry with them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks import data, images, npbench
from benchmarks.polybench import RECURRENCES
from benchmarks.stencils import PROGRAMS
from benchmarks.task import Array, Arrays, MissingError, Task


def find_reference(task: Task) -> Callable[[Arrays], tuple[Array, ...]]:
    """The solution of a problem that has no formula for all array libraries."""
    problem = task.problem
    if problem == "dft":
        return lambda arrays: (np.fft.fft(arrays["x"]),)
    for kernel in RECURRENCES:
        if problem == kernel.name:
            return lambda arrays: tuple(kernel.solve(arrays, task.values["sizes"]).values())
    for program in PROGRAMS:
        if problem == program.NAME:
            return lambda arrays: tuple(program.reference(arrays).values())
    for pipeline in images.PROGRAMS:
        if problem == pipeline.name:
            return lambda arrays: tuple(pipeline.solve(arrays).values())
    for program in npbench.PROGRAMS:
        if problem == npbench.PREFIX + program.name:
            return lambda arrays: tuple(program.solve(arrays, task.values["sizes"]).values())
    for program in data.PROGRAMS:
        if problem == data.PREFIX + program.name:
            return lambda arrays: tuple(program.solve(arrays, task.values["sizes"]).values())
    raise MissingError(f"no formula for {problem}")
