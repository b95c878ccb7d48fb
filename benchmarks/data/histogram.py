"""Histograms of 256 bins: of bytes, and of numbers from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.polybench.kernel import Array, Arrays, Description, Sizes, parameters, size_table, variables
from benchmarks.program import Program, between
from polymat import Cast, Clamp, Float, Int, Op, Reduce, Reduction, UChar, Vector

BINS = 256


def counted(dtype: Any, place: Callable[[Any], Any]) -> Description:
    """Count the elements of a vector at the places that they say."""
    (N,) = sizes = parameters("N")
    b, k = variables("b k")
    x = Vector(dtype, "x", [N])
    counts = Reduction(([b], [between(0, BINS - 1)]), ([k], [between(0, N - 1)]), Int, "counts")
    counts.defn = [Reduce(counts(place(x(k))), 1, Op.Sum)]
    return Description((counts,), (x,), sizes)


def build_bytes() -> Description:
    """Describe a count of each value of a byte."""
    return counted(UChar, lambda value: Cast(Int, value))


def build_reals() -> Description:
    """Describe a count for each 256th of the numbers from 0 to 1."""
    return counted(Float, lambda value: Clamp(Cast(Int, value * float(BINS)), 0, BINS - 1))


def bytes_of(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return the bytes of a picture: values near each other, and a peak."""
    return {"x": np.clip(rng.normal(120, 40, sizes["N"]), 0, 255).astype(np.uint8)}


def reals_of(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return numbers from 0 to 1."""
    return {"x": rng.random(sizes["N"], dtype=np.float32)}


def reference_bytes(x: Array) -> Arrays:
    """Count with NumPy."""
    return {"counts": np.bincount(x, minlength=BINS).astype(np.int32)}


def reference_reals(x: Array) -> Arrays:
    """Count with NumPy."""
    return {"counts": np.histogram(x, BINS, (0.0, 1.0))[0].astype(np.int32)}


BYTES = Program(
    name="histogram-bytes",
    sizes=size_table("N", S=(1 << 20,), M=(1 << 24,)),
    build=build_bytes,
    inputs=bytes_of,
    reference=reference_bytes,
    operations=1,
    traffic=1,
    tolerance=0,
    points=lambda sizes: sizes["N"],
)
REALS = replace(
    BYTES,
    name="histogram-reals",
    build=build_reals,
    inputs=reals_of,
    reference=reference_reals,
    operations=3,
    traffic=4,
)
