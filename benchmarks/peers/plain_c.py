"""PolyBench in plain C, compiled by gcc -O3 -march=native; and again with -ffast-math -fopenmp."""

from __future__ import annotations

from benchmarks.peers.ckernel import RECURRENCES, prepare_kernel
from benchmarks.peers.csource import load_c
from benchmarks.task import MissingError, Prepared, Task

MOST_FLOPS = {"polybench.c": 6e9, "recurrences.c": 30e9}
"""By file: plain loops take a second for one to three thousand million operations; nobody waits for many."""


def prepare_plain(task: Task) -> Prepared:
    """One thread, nothing relaxed."""
    return _prepare(task)


def prepare_fast(task: Task) -> Prepared:
    """OMP_NUM_THREADS threads, and everything relaxed."""
    return _prepare(task, "-ffast-math", "-fopenmp")


def _prepare(task: Task, *flags: str) -> Prepared:
    source = "recurrences.c" if task.problem in RECURRENCES else "polybench.c"
    if task.values["flops"] > MOST_FLOPS[source]:
        raise MissingError("would take too long")
    return prepare_kernel(load_c(source, flags, ("-lm",)), task)
