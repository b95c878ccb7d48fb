"""What is measured: a task, what it costs at least, and how its result is judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.polybench.kernel import Kernel
from benchmarks.task import Array, Task
from polymat.machine.calibrate import Stream

Results = tuple[Array, ...]


def identity(array: Array) -> Array:
    """All of it."""
    return array


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a table.

    group: the lines a geometric mean is taken over.
    expected: the right results, and how far each element may be off; asked once.
    flops: useful operations; traffic: bytes that are read or written at least once.
    compute_bound: whether flops rather than bytes are the figure to quote.
    stream: whether the bytes are mostly read, or as many are written.
    view: the part of each result that is judged, where judging all of it would take too long.
    sound: the parts of all results that can be judged, where not all can.
    """

    name: str
    group: str
    task: Task
    expected: Callable[[], tuple[Results, Results]]
    flops: int
    traffic: int
    compute_bound: bool = True
    element_bytes: int = 8
    view: Callable[[Array], Array] = identity
    stream: Stream = "read"
    sound: Callable[[Results], Results] = tuple


@dataclass(slots=True)
class Judge:
    """Compares results with the expected ones, which are computed when they are first needed."""

    case: Case
    _known: tuple[Results, Results] | None = field(default=None)

    def error(self, results: Any) -> float:
        """The largest error in units of what rounding can explain; above 1 something is wrong."""
        if self._known is None:
            self._known = self.case.expected()
        expected, bounds = self._known
        found = tuple(results) if isinstance(results, tuple | list) else (results,)
        if len(found) != len(expected):
            return float("inf")
        found = self.case.sound(found)
        parts = [self.case.view(np.asarray(array)) for array in found]
        return max(map(_excess, parts, expected, bounds), default=0.0)


def _excess(found: Array, expected: Array, bound: Array) -> float:
    if np.shape(found) != np.shape(expected):
        return float("inf")
    least = np.finfo(np.result_type(found, np.float32)).tiny
    with np.errstate(over="ignore"):
        excess = np.abs(found - expected) / np.maximum(bound, least)
    return float(np.max(excess, initial=0.0)) if np.all(np.isfinite(excess)) else float("inf")


def rounding_bounds(magnitudes: Sequence[Array], roundings: int, dtype: Any) -> Results:
    """gamma_n of sums of products, from the same computation on magnitudes."""
    return tuple(roundings * float(np.finfo(dtype).eps) * magnitude for magnitude in magnitudes)


def kernel_case(kernel: Kernel, dataset: str, **values: Any) -> Case:
    """A kernel of PolyBench at the sizes of a data set."""
    sizes = kernel.sizes[dataset]
    arrays = kernel.inputs(sizes)
    names: list[str] = []

    def expected() -> tuple[Results, Results]:
        whole = kernel.solve(arrays, sizes)
        names[:] = whole
        right = kernel.sound(whole)
        bounds = kernel.bounds(arrays, right, sizes)
        return tuple(right.values()), tuple(2 * bound for bound in bounds.values())

    def sound(results: Results) -> Results:
        return tuple(kernel.sound(dict(zip(names, results, strict=True))).values())

    flops = kernel.flops(sizes)
    counts = dict(kernel.counted(sizes))
    values = {"sizes": dict(sizes), "flops": flops, "counts": counts, "dtype": kernel.dtype, **values}
    return Case(
        name=f"{kernel.name} {dataset}",
        group=dataset,
        task=Task(kernel.name, arrays, values),
        expected=expected,
        flops=flops,
        traffic=kernel.traffic(sizes),
        compute_bound=kernel.compute_bound,
        element_bytes=np.dtype(kernel.dtype).itemsize,
        sound=sound,
    )
