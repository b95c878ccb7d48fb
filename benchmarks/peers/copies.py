"""How long a copy takes of what a task reads and writes: no rival, but a bound of what could be quicker."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.data import PREFIX, lookup
from benchmarks.peers.csource import aligned, copy_aligned
from benchmarks.task import MissingError, Prepared, Task


def prepare(task: Task) -> Prepared:
    """`np.copyto` of a picture that is looked up, on one thread; its result is made before, and not timed."""
    if task.problem != PREFIX + lookup.PROGRAM.name:
        raise MissingError(f"no copy moves what {task.problem} does")
    (right,) = lookup.reference(**task.arrays).values()
    image = copy_aligned(task.arrays["image"])
    out = aligned(image.shape, image.dtype)

    def repeat(calls: int) -> float:
        begin = time.perf_counter()
        for _ in range(calls):
            np.copyto(out, image)
        return time.perf_counter() - begin

    return Prepared(lambda: right, "a copy of the picture alone", repeat=repeat)
