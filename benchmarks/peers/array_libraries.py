"""NumPy, JAX and PyTorch on the formulas that they share.  Threads are given by OMP_NUM_THREADS."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

from benchmarks.peers.formulas import FORMULAS
from benchmarks.task import MissingError, Prepared, Task

Function = Callable[..., tuple[Any, ...]]


def thread_count() -> int:
    """The threads this worker was given."""
    return int(os.environ["OMP_NUM_THREADS"])


def bind(xp: Any, task: Task) -> Function:
    """The formula of the task over its arrays, in their order."""
    if task.problem not in FORMULAS:
        raise MissingError(f"no formula for {task.problem}")
    formula, names, values = FORMULAS[task.problem], tuple(task.arrays), task.values
    return lambda *arrays: formula(xp, dict(zip(names, arrays, strict=True)), values)


def prepare_numpy(task: Task) -> Prepared:
    """Plain NumPy."""
    if task.problem not in FORMULAS:
        solve = importlib.import_module("benchmarks.peers.references").find_reference(task)
        return Prepared(lambda: solve(task.arrays))
    function, arrays = bind(importlib.import_module("numpy"), task), tuple(task.arrays.values())
    return Prepared(lambda: function(*arrays))


def prepare_jax(task: Task) -> Prepared:
    """`jax.jit`, in double precision where the arrays are."""
    # XLA has no switch for the size of its pool: it counts the processors it may use when it starts.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: thread_count()])
    jax = importlib.import_module("jax")
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    function = jax.jit(_in_jax(task))
    arrays = tuple(jax.device_put(array) for array in task.arrays.values())

    def call() -> Any:
        return jax.block_until_ready(function(*arrays))

    return Prepared(_as_numpy(call, importlib.import_module("numpy").asarray), repeat=_timed(call))


def _in_jax(task: Task) -> Function:
    """The formula of the task, or loops that are JAX's own; imported behind its settings."""
    if task.problem in FORMULAS:
        return bind(importlib.import_module("jax.numpy"), task)
    loops = importlib.import_module("benchmarks.peers.jax_recurrences").LOOPS
    if task.problem not in loops:
        raise MissingError(f"no loops for {task.problem}")
    loop, counts = loops[task.problem], tuple(task.values.get("counts", {}).values())
    return lambda *arrays: loop(*arrays, *counts)


def prepare_torch(task: Task) -> Prepared:
    """PyTorch, eager."""
    return _torch(task, compiled=False)


def prepare_torch_compile(task: Task) -> Prepared:
    """`torch.compile`, for these sizes."""
    return _torch(task, compiled=True)


def _torch(task: Task, *, compiled: bool) -> Prepared:
    torch = importlib.import_module("torch")
    torch.set_num_threads(thread_count())
    torch.set_grad_enabled(False)
    function = bind(torch, task)
    if compiled:
        torch.compiler.reset()
        function = torch.compile(function, dynamic=False)
    arrays = tuple(torch.from_numpy(array) for array in task.arrays.values())

    def call() -> Any:
        return function(*arrays)

    return Prepared(_as_numpy(call, lambda tensor: tensor.numpy()), repeat=_timed(call))


def _as_numpy(call: Callable[[], Any], convert: Callable[[Any], Any]) -> Callable[[], Any]:
    return lambda: tuple(convert(result) for result in call())


def _timed(call: Callable[[], Any]) -> Callable[[int], float]:
    """Time the library's own call, without converting its results."""
    from time import perf_counter

    def timed(count: int) -> float:
        begin = perf_counter()
        for _ in range(count):
            call()
        return perf_counter() - begin

    return timed
