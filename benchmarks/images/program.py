"""What the file of one image pipeline provides, and the notation that those files share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.polybench.kernel import Array, Arrays, Description, Sizes
from polymat import Int, Interval

SINGLE = 4


@dataclass(frozen=True, slots=True)
class Program:
    """An image pipeline: its sizes, its input, its solution in NumPy and in polymat.

    sizes: rows and columns of the result, by a word for each: R and C, "PAPER" as PolyMage measured them.
    inputs: arrays for given sizes, in the argument order of the pipeline.
    reference: the results, by name, rounded after each operation in the order of the definition.
    operations: additions, subtractions, multiplications and divisions for each pixel of the result.
    traffic: bytes for each pixel of the result that must move: inputs once, results once.
    tolerance: how far other orders and fused operations may take a result, absolute; 0 where all is integer.
    scalars: run-time scalars, by name.
    undecided: how much further a result may be off because rounding decides a comparison, by element.
    """

    name: str
    sizes: Mapping[str, Sizes]
    build: Callable[[], Description]
    inputs: Callable[[Sizes, np.random.Generator], Arrays]
    reference: Callable[..., Arrays]
    operations: float
    traffic: int
    tolerance: float
    scalars: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    undecided: Callable[..., Array] | None = None

    def solve(self, arrays: Arrays) -> Arrays:
        """The results of the reference."""
        return self.reference(*arrays.values(), **self.scalars)

    def bounds(self, arrays: Arrays) -> Array:
        """How far each element of the result may be off."""
        shape = next(iter(self.solve(arrays).values())).shape
        found = np.full(shape, self.tolerance)
        if self.undecided is not None:
            found += self.undecided(*arrays.values(), **self.scalars)
        return found

    def compile(self, sizes: str = "PAPER", **options: Any) -> Any:
        """Compile, for sizes about those of that name."""
        return self.build().compile(self.name.replace("-", "_"), estimates=self.sizes[sizes], **options)

    def flops(self, sizes: Sizes) -> int:
        """Count the useful operations."""
        return round(self.operations * sizes["R"] * sizes["C"])

    def bytes(self, sizes: Sizes) -> int:
        """Count the bytes that must move."""
        return self.traffic * sizes["R"] * sizes["C"]


def between(first: Any, last: Any) -> Interval:
    """Indices first to last, both included."""
    return Interval(Int, first, last)


def photograph(shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    """A smooth picture with edges and a little noise, float32 in [0, 1]; planes differ."""
    planes, (rows, columns) = shape[:-2], shape[-2:]
    x = np.linspace(0, 1, rows, dtype=np.float32)[:, None]
    y = np.linspace(0, 1, columns, dtype=np.float32)
    phase = 2 * np.arange(np.prod(planes, dtype=int), dtype=np.float32).reshape((*planes, 1, 1))
    smooth = np.sin(9 * x + phase) * np.cos(7 * y - phase) * np.float32(0.35) + np.float32(0.5)
    edges = np.where((np.floor(8 * x) + np.floor(6 * y)) % 2 == 0, np.float32(0.1), np.float32(-0.1))
    noise = rng.normal(0, 0.02, shape).astype(np.float32)
    return np.clip(smooth + edges + noise, 0, 1).astype(np.float32)
