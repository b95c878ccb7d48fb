"""Signatures of results: seven numbers that pin an array down, as the golden data records them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks.polybench.kernel import Array

TOLERANCE = 1e-9
_FREQUENCY, _PHASE = 0.7368062997280773, 0.1


@dataclass(frozen=True, slots=True)
class Signature:
    """Count, sum, sum of magnitudes, weighted sum, and three elements of an array in dump order."""

    n: int
    sum: float
    abs: float
    dot: float
    first: float
    last: float
    mid: float


def sign(values: Array) -> Signature:
    """The signature of a non-empty array, row-major.

    float32 is rounded to the 9 digits that PolyBench prints; float64 is dumped without loss.
    """
    flat = np.ravel(values)
    if flat.dtype == np.float32:
        flat = np.array([float(f"{value:.9g}") for value in flat])
    flat = flat.astype(np.float64)
    weights = np.cos(_FREQUENCY * np.arange(flat.size) + _PHASE)
    return Signature(
        n=flat.size,
        sum=math.fsum(flat),
        abs=math.fsum(np.abs(flat)),
        dot=math.fsum(flat * weights),
        first=float(flat[0]),
        last=float(flat[-1]),
        mid=float(flat[flat.size // 2]),
    )


def lower_triangle(matrix: Array) -> Array:
    """The entries on and below the diagonal, row by row: the dump order of cholesky."""
    entries: Array = matrix[np.tril_indices(len(matrix))]
    return entries


def differences(
    found: Signature, golden: Mapping[str, float], *, tolerance: float = TOLERANCE
) -> Iterable[str]:
    """Say which fields disagree, one line each.

    Sums cancel, so they are compared relative to the sum of magnitudes; single elements relative to their own
    magnitude or the mean one, whichever is larger.
    """
    scale = golden["abs"]
    element_scale = scale / max(golden["n"], 1)
    for name, value in asdict(found).items():
        wanted = golden[name]
        if name == "n":
            allowed = 0.0
        elif name in ("sum", "abs", "dot"):
            allowed = tolerance * scale
        else:
            allowed = tolerance * max(abs(wanted), element_scale)
        if not abs(value - wanted) <= allowed:
            yield f"{name}: found {value!r}, expected {wanted!r}, allowed difference {allowed:.3g}"
