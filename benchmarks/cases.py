"""What is measured: a task, what it costs at least, and how its result is judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.polybench.kernel import Kernel
from benchmarks.task import Array, Task

Results = tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a table.

    group: the lines a geometric mean is taken over.
    expected: the right results, and how far each element may be off; asked once.
    flops: useful operations; traffic: bytes that are read or written at least once.
    compute_bound: whether flops rather than bytes are the figure to quote.
    """

    name: str
    group: str
    task: Task
    expected: Callable[[], tuple[Results, Results]]
    flops: int
    traffic: int
    compute_bound: bool = True
    element_bytes: int = 8


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
        found = results if isinstance(results, tuple | list) else (results,)
        if len(found) != len(expected):
            return float("inf")
        return max(map(_excess, found, expected, bounds), default=0.0)


def _excess(found: Array, expected: Array, bound: Array) -> float:
    if np.shape(found) != np.shape(expected):
        return float("inf")
    excess = np.abs(found - expected) / np.maximum(bound, np.finfo(np.float64).tiny)
    return float(np.max(excess, initial=0.0)) if np.all(np.isfinite(excess)) else float("inf")


def rounding_bounds(magnitudes: Sequence[Array], roundings: int, dtype: Any) -> Results:
    """gamma_n of sums of products, from the same computation on magnitudes."""
    return tuple(roundings * float(np.finfo(dtype).eps) * magnitude for magnitude in magnitudes)


def kernel_case(kernel: Kernel, dataset: str, **values: Any) -> Case:
    """A kernel of PolyBench at the sizes of a data set."""
    sizes = kernel.sizes[dataset]
    arrays = kernel.inputs(sizes)

    def expected() -> tuple[Results, Results]:
        magnitudes = kernel.reference({name: np.abs(array) for name, array in arrays.items()})
        bounds = rounding_bounds(tuple(magnitudes.values()), 2 * kernel.roundings(sizes), np.float64)
        return tuple(kernel.reference(arrays).values()), bounds

    flops = kernel.flops(sizes)
    return Case(
        name=f"{kernel.name} {dataset}",
        group=dataset,
        task=Task(kernel.name, arrays, {"sizes": dict(sizes), "flops": flops, **values}),
        expected=expected,
        flops=flops,
        traffic=kernel.traffic(sizes),
        compute_bound=kernel.compute_bound,
    )
