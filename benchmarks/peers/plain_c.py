"""PolyBench in plain C, compiled by gcc -O3 -march=native; and again with -ffast-math -fopenmp."""

from __future__ import annotations

from benchmarks.peers.ckernel import prepare_kernel
from benchmarks.peers.csource import load_c
from benchmarks.task import MissingError, Prepared, Task

MOST_FLOPS = 6e9
"""Plain loops take about a second for a thousand million operations; nobody waits for more than a few."""


def prepare_plain(task: Task) -> Prepared:
    """One thread, nothing relaxed."""
    return _prepare(task)


def prepare_fast(task: Task) -> Prepared:
    """OMP_NUM_THREADS threads, and everything relaxed."""
    return _prepare(task, "-ffast-math", "-fopenmp")


def _prepare(task: Task, *flags: str) -> Prepared:
    if task.values["flops"] > MOST_FLOPS:
        raise MissingError("would take too long")
    return prepare_kernel(load_c("polybench.c", flags), task)
