"""The pipelines that are measured, by the name of their problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from benchmarks import decimate
from benchmarks.papers import fused
from benchmarks.polybench import KERNELS
from benchmarks.polybench.kernel import Description
from benchmarks.sections import (
    channels,
    contractions,
    convolutions,
    data,
    factorisations,
    filters,
    functions,
    images,
    networks,
    npbench,
    products,
    recursive,
    rows,
    stencils,
    transforms,
)
from benchmarks.task import MissingError, Task

Describe = Callable[[Task], Description]
OTHERS: dict[str, Describe] = {
    **products.PROBLEMS,
    **contractions.PROBLEMS,
    **networks.PROBLEMS,
    **convolutions.PROBLEMS,
    **transforms.PROBLEMS,
    **stencils.PROBLEMS,
    **images.PROBLEMS,
    **npbench.PROBLEMS,
    **data.PROBLEMS,
    **factorisations.PROBLEMS,
    **channels.PROBLEMS,
    **filters.PROBLEMS,
    **functions.PROBLEMS,
    **recursive.PROBLEMS,
    **rows.PROBLEMS,
    **fused.PROBLEMS,
}


def describe(task: Task) -> tuple[Description, Mapping[str, float]]:
    """The pipeline of a task, and the scalars it is called with."""
    for kernel in (*KERNELS, decimate.KERNEL):
        if kernel.name == task.problem:
            description = kernel.builds[task.values.get("way") or next(iter(kernel.builds))]()
            return description, {**kernel.scalars, **task.values.get("counts", {})}
    if task.problem not in OTHERS:
        raise MissingError(f"no pipeline {task.problem}")
    return OTHERS[task.problem](task), task.values.get("scalars", {})
