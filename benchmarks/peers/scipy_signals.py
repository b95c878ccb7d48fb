"""SciPy's filters, and the filter pipelines in SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import signal

from benchmarks.dsp.programs import CHAINS, SUB_BAND
from benchmarks.dsp.scipy_versions import solve
from benchmarks.task import Array, MissingError, Prepared, Task


def prepare_lfilter(task: Task) -> Prepared:
    """Sample by sample."""
    step = task.values.get("down", 1)
    return _filter(task, lambda x, h: signal.lfilter(h, h.dtype.type(1), x)[len(h) - 1 :: step])


def prepare_oaconvolve(task: Task) -> Prepared:
    """By Fourier transforms of blocks."""
    step = task.values.get("down", 1)
    return _filter(task, lambda x, h: signal.oaconvolve(x, h, mode="valid")[::step])


def prepare_upfirdn(task: Task) -> Prepared:
    """By the polyphase filter, which computes only the samples that are kept."""
    step = task.values.get("down", 1)

    def run(x: Array, h: Array) -> Array:
        front = -(len(h) - 1) % step
        delayed = signal.upfirdn(np.concatenate([np.zeros(front, h.dtype), h]), x, down=step)
        first = (len(h) - 1 + front) // step
        return np.asarray(delayed[first : first + -(-(len(x) - len(h) + 1) // step)])

    return _filter(task, run)


def prepare_recursive(task: Task) -> Prepared:
    """With lfilter and sosfilt."""
    if task.problem not in ("lfilter", "sosfilt"):
        raise MissingError(f"no recursive filter {task.problem}")
    x, *coefficients = task.arrays.values()
    run: Any = signal.lfilter if task.problem == "lfilter" else signal.sosfilt
    return Prepared(lambda: run(*coefficients, x))


def _filter(task: Task, run: Callable[[Array, Array], Array]) -> Prepared:
    if task.problem != "fir":
        raise MissingError(f"no filter {task.problem}")
    x, h = task.arrays["x"], task.arrays["h"]
    return Prepared(lambda: run(x, h))


def prepare_direct_pipeline(task: Task) -> Prepared:
    """With lfilter alone."""
    return _pipeline(task, "direct")


def prepare_best_pipeline(task: Task) -> Prepared:
    """With oaconvolve, upfirdn and resample."""
    return _pipeline(task, "best")


def prepare_streaming_pipeline(task: Task) -> Prepared:
    """With lfilter block by block, its state kept."""
    return _pipeline(task, "streaming")


def _pipeline(task: Task, way: str) -> Prepared:
    if task.problem not in (*CHAINS, SUB_BAND):
        raise MissingError(f"no pipeline {task.problem}")
    x = task.arrays["x"]
    return Prepared(lambda: solve(task.problem, x, way))
