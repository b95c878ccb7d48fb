"""What the file of an image pipeline or a program of NPBench provides, and the notation those files share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.polybench.kernel import Arrays, Description, Sizes
from polymat import Int, Interval

SINGLE = 4
NO_SIZES: Sizes = MappingProxyType({})


def pixels(sizes: Sizes) -> int:
    """Rows by columns."""
    return sizes["R"] * sizes["C"]


@dataclass(frozen=True, slots=True)
class Program:
    """A program: its sizes, its input, its solution in NumPy and in polymat.

    sizes: by a word for each, "PAPER" as they were published; of an image rows R and columns C of the result.
    inputs: arrays for given sizes, in the argument order of the pipeline.
    reference: the results, by name, rounded after each operation in the order of the definition.
    operations: additions, subtractions, multiplications and divisions for each point.
    traffic: bytes for each point that must move: inputs once, results once.
    tolerance: how far other orders and fused operations may take a result, absolute; 0 where all is integer.
    scalars: run-time scalars, by name.
    undecided: how much further results may be off because rounding decides a comparison, by name and element.
    points: how many there are; pixels of the result by default.
    counts: sizes that no array shows, passed by name.
    relative: whether the tolerance is a share of the largest magnitude of each result.
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
    undecided: Callable[..., Arrays] | None = None
    points: Callable[[Sizes], int] = pixels
    counts: tuple[str, ...] = ()
    relative: bool = False

    def named(self, sizes: Sizes) -> dict[str, float]:
        """What is passed by name: scalars, and sizes that no array shows."""
        return {**self.scalars, **{name: sizes[name] for name in self.counts}}

    def solve(self, arrays: Arrays, sizes: Sizes = NO_SIZES) -> Arrays:
        """The results of the reference."""
        return self.reference(*arrays.values(), **self.named(sizes))

    def bounds(self, arrays: Arrays, sizes: Sizes = NO_SIZES) -> Arrays:
        """How far each element of the results may be off."""
        found = {}
        for name, right in self.solve(arrays, sizes).items():
            scale = np.max(np.abs(right), initial=0.0) if self.relative else 1.0
            found[name] = np.full(right.shape, self.tolerance * scale)
        if self.undecided is not None:
            for name, further in self.undecided(*arrays.values(), **self.named(sizes)).items():
                found[name] += further
        return found

    def compile(self, sizes: str = "PAPER", **options: Any) -> Any:
        """Compile, for sizes about those of that name."""
        return self.build().compile(self.name.replace("-", "_"), estimates=self.sizes[sizes], **options)

    def flops(self, sizes: Sizes) -> int:
        """Count the useful operations."""
        return round(self.operations * self.points(sizes))

    def bytes(self, sizes: Sizes) -> int:
        """Count the bytes that must move."""
        return self.traffic * self.points(sizes)


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
