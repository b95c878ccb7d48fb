"""NPBench programs in plain C, compiled by gcc -O3 -march=native -ffast-math -fopenmp."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.npbench import PREFIX
from benchmarks.peers.ckernel import prepare_kernel
from benchmarks.peers.csource import load_c
from benchmarks.task import Prepared, Task


def prepare(task: Task) -> Prepared:
    """OMP_NUM_THREADS threads; numbers that are passed by name are an array behind the others."""
    named, sizes = task.values["scalars"], task.values["sizes"]
    scalars = np.array([value for name, value in named.items() if name not in sizes], np.float64)
    arrays = {**task.arrays, "scalars": scalars} if scalars.size else task.arrays
    whole = replace(task, arrays=arrays)
    return prepare_kernel(
        load_c("npbench.c", ("-ffast-math", "-fopenmp"), ("-lm",)), whole, task.problem.removeprefix(PREFIX)
    )
