"""NumPy's and PyTorch's functions of each element, into an array that is there."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.peers.array_libraries import thread_count
from benchmarks.task import MissingError, Prepared, Task

_NAMES = {"pow": "power"}  # NumPy's, where it is another one than C's


def _function(library: Any, task: Task) -> Callable[..., Any]:
    name = task.problem.removeprefix("each_")
    if library is np:
        name = _NAMES.get(name, name)
    function: Callable[..., Any] | None = getattr(library, name, None)
    if function is None:
        raise MissingError(f"{library.__name__} has no {name}")
    return function


def prepare_numpy_out(task: Task) -> Prepared:
    """A universal function with `out=`."""
    function = _function(np, task)
    arrays = tuple(task.arrays.values())
    return Prepared(partial(function, *arrays, out=np.empty_like(arrays[0])))


def prepare_torch_out(task: Task) -> Prepared:
    """A function of tensors with `out=`."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(thread_count())
    torch.set_grad_enabled(False)
    function = _function(torch, task)
    tensors = tuple(torch.from_numpy(array) for array in task.arrays.values())
    out = torch.empty_like(tensors[0])

    def call() -> object:
        function(*tensors, out=out)
        return out.numpy()

    return Prepared(call)
