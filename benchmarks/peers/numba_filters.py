"""Recursive filters in Numba: the loop over samples that one writes, all sections of a sample inside it."""

from __future__ import annotations

import os
from typing import Any

import numba
import numpy as np
from numba import njit, prange

from benchmarks.task import MissingError, Prepared, Task

# Without fastmath: it would not let NaN and infinities behave, as a filter in a stream has to.
loops = njit(parallel=True, cache=True)


@loops
def sosfilt(x, sos):
    y = np.empty_like(x)
    for c in prange(x.shape[0]):
        states = np.zeros((len(sos), 2), x.dtype)
        for n in range(x.shape[1]):
            value = x[c, n]
            for s in range(len(sos)):
                result = sos[s, 0] * value + states[s, 0]
                states[s, 0] = sos[s, 1] * value - sos[s, 4] * result + states[s, 1]
                states[s, 1] = sos[s, 2] * value - sos[s, 5] * result
                value = result
            y[c, n] = value
    return y


@loops
def lfilter(x, b, a):
    y = np.empty_like(x)
    order = len(b) - 1
    for c in prange(x.shape[0]):
        state = np.zeros(order + 1, x.dtype)
        for n in range(x.shape[1]):
            result = b[0] * x[c, n] + state[0]
            for k in range(order):
                state[k] = b[k + 1] * x[c, n] - a[k + 1] * result + state[k + 1]
            y[c, n] = result
    return y


KERNELS: dict[str, Any] = {"sosfilt": sosfilt, "lfilter": lfilter}


def prepare(task: Task) -> Prepared:
    """The loop of the task's name, for coefficients whose a0 is 1."""
    if task.problem not in KERNELS:
        raise MissingError(f"no recursive filter {task.problem}")
    numba.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    x, *coefficients = task.arrays.values()
    kernel, rows = KERNELS[task.problem], np.atleast_2d(x)
    return Prepared(lambda: kernel(rows, *coefficients).reshape(x.shape))
