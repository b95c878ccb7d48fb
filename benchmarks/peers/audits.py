"""Audits of tasks in a process of their own: what a plan that crashes ends, and stderr names that plan."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

import polymat as pm
from benchmarks.peers.csource import ALIGNMENT
from benchmarks.peers.pipelines import identifier
from benchmarks.problems import describe
from benchmarks.task import Array, Prepared, Task
from polymat.audit.auditor import audit
from polymat.driver import request_for
from polymat.request import Request

RANDOM = "drawn"  # the problem of a program that is drawn, by "seed" and "index"
_FACTORS = {"SIZES": 16, "SMALL_SIZES": 6}  # of the sizes that tests have, which take no time


def prepare(task: Task) -> Prepared:
    """What `audit` finds of a task.

    task.values["audit"]: "threads", "seconds", and "offset", how many bytes behind a line of the cache arrays
    begin.
    """
    asked = task.values["audit"]
    request, arguments = asked_for(task)
    copied = partial(at_offset, offset=asked["offset"])
    lying = {name: copied(each) if isinstance(each, np.ndarray) else each for name, each in arguments.items()}
    return Prepared(
        partial(audit, request, lying, threads=asked["threads"], seconds=asked["seconds"], copied=copied)
    )


def asked_for(task: Task) -> tuple[Request, Mapping[str, Any]]:
    """What is to be compiled of a task, and the arguments of its calls."""
    return _drawn(task) if task.problem == RANDOM else _described(task)


def at_offset(array: Array, offset: int) -> Array:
    """A C-contiguous copy that begins so many bytes behind a line of the cache."""
    room = np.zeros(array.nbytes + 2 * ALIGNMENT, np.uint8)
    first = -room.ctypes.data % ALIGNMENT + offset
    copy: Array = room[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def _described(task: Task) -> tuple[Request, Mapping[str, Any]]:
    """A problem of the benchmarks, with its sizes as estimates."""
    description, scalars = describe(task)
    sizes = task.values.get("sizes", {})
    request = request_for(
        list(description.outputs),
        name=identifier(task.problem),
        inputs=list(description.inputs),
        estimates={size: sizes[size.name] for size in description.sizes},
    )
    arrays = task.arrays.values()
    named = {each.name: array for each, array in zip(description.inputs, arrays, strict=True)}
    return request, {**named, **scalars}


def _drawn(task: Task) -> tuple[Request, Mapping[str, Any]]:
    """A random program of the tests, with larger sizes."""
    drawing, compare = (
        importlib.import_module(f"tests.differential.{name}") for name in ("random_programs", "compare")
    )
    before = {name: getattr(drawing, name) for name in _FACTORS}
    try:
        for name, factor in _FACTORS.items():
            setattr(drawing, name, tuple(factor * size for size in before[name]))
        program = drawing.program(task.values["seed"], task.values["index"])
    finally:
        for name, sizes in before.items():
            setattr(drawing, name, sizes)
    outputs = compare.run_text(program, dict(compare.LANGUAGE))
    signature = pm.compile(outputs, name=RANDOM).signature  # of arguments that are used
    return request_for(outputs, name=RANDOM), compare.call_arguments(
        signature, program.arrays, program.numbers
    )
