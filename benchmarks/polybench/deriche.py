"""PolyBench deriche: an edge filter, recursive to the left and right and then up and down, in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import lfilter

from benchmarks.polybench.kernel import (
    Array,
    Arrays,
    Description,
    Kernel,
    Sizes,
    extents,
    index_grid,
    parameters,
    size_table,
    upto,
    variables,
)
from polymat import Case, Condition, Float, Function, Matrix, Variable

NAME = "deriche"
FLOAT = 4
ALPHA = np.float32(0.25)


def coefficients() -> tuple[tuple[float, ...], tuple[float, float]]:
    """Those of the inputs, a1 to a4, and of earlier results, b1 and b2, rounded as the suite does."""
    e, e2 = np.exp(-ALPHA), np.exp(np.float32(-2) * ALPHA)
    one, two = np.float32(1), np.float32(2)
    k = (one - e) * (one - e) / (one + two * ALPHA * e - np.exp(two * ALPHA))
    return (
        (float(k), float(k * e * (ALPHA - one)), float(k * e * (ALPHA + one)), float(-k * e2)),
        (float(np.exp2(-ALPHA)), float(-e2)),
    )


def recursive(name: str, domain: Any, along: Variable, last: Any, at: Any, given: Any) -> Function:
    """A filter along one index, downwards where `last` is given, of a field that is zero outside.

    at: the indices at a distance along it; given: the field, and the coefficients of its elements at
    distances from 0 on.
    """
    field, weights = given
    back = coefficients()[1]
    ahead = 1 if last is not None else -1
    f = Function(domain, Float, name)

    def value(known: int) -> Any:
        """Of a point that has so many points before it."""
        terms = [a * field(*at(ahead * d)) for d, a in weights if d <= known]
        terms += [b * f(*at(ahead * d)) for d, b in enumerate(back, 1) if d <= known]
        return sum(terms[1:], start=terms[0]) if terms else 0.0

    distance = along if last is None else last - along
    f.defn = [
        Case(Condition(distance, "==", 0), value(0)),
        Case(Condition(distance, "==", 1), value(1)),
        Case(Condition(distance, ">=", 2), value(2)),
    ]
    return f


def build() -> Description:
    """Describe the filter: the sum of two passes along j, and of two passes along i over it."""
    W, H = sizes = parameters("W H")
    image = Matrix(Float, "imgIn", [W, H])
    i, j = variables("i j")
    domain = ([i, j], [upto(W), upto(H)])
    a1, a2, a3, a4 = coefficients()[0]
    before, behind = ((0, a1), (1, a2)), ((1, a3), (2, a4))

    def both(names: str, field: Any, along: Variable, last: Any, at: Any) -> Function:
        up, down, total = names.split()
        first = recursive(up, domain, along, None, at, (field, before))
        second = recursive(down, domain, along, last, at, (field, behind))
        result = Function(domain, Float, total)
        result.defn = [first(i, j) + second(i, j)]
        return result

    middle = both("p q m", image, j, H - 1, lambda d: (i, j + d))
    result = both("u v imgOut", middle, i, W - 1, lambda d: (i + d, j))
    return Description((result,), (image,), sizes)


def inputs(sizes: Sizes) -> Arrays:
    """Return PolyBench's initial values."""
    W, H = extents(sizes, "W H")
    i, j = index_grid(W, H)
    return {"imgIn": ((313 * i + 991 * j) % 65536).astype(np.float32) / np.float32(65535)}


def reference(arrays: Arrays) -> Arrays:
    """Solve with SciPy's filters."""
    (a1, a2, a3, a4), (b1, b2) = coefficients()
    denominator = np.array([1, -b1, -b2], np.float32)
    before, behind = np.array([a1, a2], np.float32), np.array([0, a3, a4], np.float32)

    def both(x: Array, axis: int) -> Array:
        turned = np.flip(lfilter(behind, denominator, np.flip(x, axis), axis=axis), axis)
        total: Array = lfilter(before, denominator, x, axis=axis) + turned
        return total

    if not arrays["imgIn"].size:
        return {"imgOut": arrays["imgIn"].copy()}
    return {"imgOut": both(both(arrays["imgIn"], 1), 0)}


def flops(sizes: Sizes) -> int:
    """Count the useful operations."""
    W, H = extents(sizes, "W H")
    return 30 * W * H


def traffic(sizes: Sizes) -> int:
    """Count the bytes that must move."""
    W, H = extents(sizes, "W H")
    return 2 * FLOAT * W * H


KERNEL = Kernel(
    name=NAME,
    sizes=size_table(
        "W H",
        MINI=(64, 64),
        SMALL=(192, 128),
        MEDIUM=(720, 480),
        LARGE=(4096, 2160),
        EXTRALARGE=(7680, 4320),
    ),
    builds={"loops": build},
    inputs=inputs,
    reference=reference,
    flops=flops,
    traffic=traffic,
    roundings=lambda sizes: 400,
    compute_bound=False,
    dtype=np.float32,
    summed=False,
)
