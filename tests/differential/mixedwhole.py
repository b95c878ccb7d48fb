"""Steps of random mixtures on whole arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import polymat as pm
from polymat import Cast
from tests.differential.mixeddraw import (
    COMPLEX,
    EXACT,
    LARGEST_EXTENT,
    REAL,
    WHOLE,
    Draw,
    M,
    N,
    Refused,
    Value,
)


def elementwise(draw: Draw) -> Value:
    """Arithmetic of two arrays that broadcast."""
    rng = draw.rng
    a, b = draw.pick(), draw.pick()
    op = rng.choice("++-**mM&|^")
    if op == "*":
        a, b = draw.small(a), draw.small(b)
        return Value(pm.elementwise_mul(a.source, b.source), 2 * a.largest * b.largest, a.exact and b.exact)
    if op in "&|^":
        found = {"&": operator.and_, "|": operator.or_, "^": operator.xor}[op]
        return Value(found(a.source, b.source), np.inf if op != "&" else max(a.largest, b.largest))
    both = a.exact and b.exact
    if op in "mM":
        function = pm.Min if op == "m" else pm.Max
        return Value(function(a.source, b.source), max(a.largest, b.largest), both)
    made = a.source + b.source if op == "+" else a.source - b.source
    return Value(made, a.largest + b.largest, both)


def unary(draw: Draw) -> Value:
    """A function of one array."""
    rng, a = draw.rng, draw.pick()
    x = a.source
    choices: list[Callable[[], Value]] = [
        lambda: Value(-x, a.largest, a.exact),
        lambda: Value(pm.Sign(x), 1.0) if a.exact and a.dtype.kind != "c" else draw.small(a, 3.0),
        lambda: Value(x * 2, 2 * a.largest, a.exact),
        lambda: Value(2 - x, 2 + a.largest, a.exact),
        lambda: Value(pm.Conj(x), a.largest, a.exact),
        lambda: Value(pm.Real(x), a.largest, a.exact),
        lambda: Value(pm.Imag(x), a.largest, a.exact),
        lambda: Value(x.T, a.largest, a.exact),
        lambda: Value(pm.Round(x), a.largest, True) if a.exact else Value(pm.Tanh(x), 1.0, False),
        lambda: Value(x / 4, a.largest, False),
        lambda: Value(pm.Floor(x / 2), a.largest, True) if a.exact else Value(x * 0.3, a.largest, False),
        lambda: Value(pm.Exp(-abs(x)), 1.0, False),
        lambda: Value(pm.Sqrt(abs(x) + 1), a.largest + 1, False),
        lambda: Value(x << rng.randint(0, 5) if rng.random() < 0.5 else x >> rng.randint(0, 5), np.inf),
        lambda: Value(~x, np.inf),
        lambda: Value(x // rng.choice((1, 2, 3, 7)), a.largest) if a.exact else draw.small(a, 2.0),
        lambda: Value(x % rng.choice((1, 2, 3, 7)), 7.0) if a.exact else draw.small(a, 2.0),
        lambda: Value(x**2, a.largest**2, a.exact),
    ]
    return rng.choice(choices)()


def cast(draw: Draw) -> Value:
    """Another element type."""
    rng, a = draw.rng, draw.pick(lambda v: v.exact)
    dtype = rng.choice(rng.choice((REAL, WHOLE, COMPLEX)))
    if a.dtype.kind == "c" and dtype.kind != "c":
        a = Value(pm.Real(a.source), a.largest)
    if dtype.kind in "iu" and rng.random() < 0.4:
        return Value(Cast(dtype, a.source, saturate=True), np.inf)
    if dtype.kind in "iu" and a.dtype.kind == "f":
        low = 0 if dtype.kind == "u" else -99
        return Value(Cast(dtype, pm.Clamp(a.source, low, 99)), 99.0)
    if dtype.kind in "fc":
        a = draw.small(a, 100.0)
    return Value(Cast(dtype, a.source) if rng.random() < 0.5 else a.source.astype(dtype), a.largest)


def chosen(draw: Draw) -> Value:
    """One of two arrays, by a comparison of others."""
    rng = draw.rng
    a, b = (draw.pick(lambda v: v.exact and v.dtype.kind != "c") for _ in range(2))
    one, other = draw.pick(), draw.pick()
    compared = {"<": lambda p, q: p < q, ">=": lambda p, q: p >= q, "==": lambda p, q: p == q}
    mask = compared[rng.choice(list(compared))](a.source, b.source)
    if isinstance(mask, bool):  # of arrays that cannot be compared nothing is equal
        raise Refused
    if rng.random() < 0.3:
        mask = mask & (one.source > 0) if one.exact and one.dtype.kind != "c" else ~mask
    if rng.random() < 0.2:
        return Value(mask.sum(axis=-1), LARGEST_EXTENT)
    found = pm.where(mask, one.source, other.source)
    return Value(found, max(one.largest, other.largest), one.exact and other.exact)


def reduced(draw: Draw) -> Value:
    """A sum, product, extreme, mean or place along some axes."""
    rng, a = draw.rng, draw.pick(lambda v: v.source.rank > 0 and v.source.algebra != "signal")
    axis = rng.choice((None, *range(a.source.rank), -1))
    more = {"axis": axis, "keepdims": rng.random() < 0.3}
    kind = rng.choice(("sum", "sum", "sum", "max", "min", "argmax", "argmin", "any", "all", "mean", "prod"))
    if kind in ("argmax", "argmin", "any", "all") and not a.exact:
        raise Refused
    largest = {"sum": a.largest * LARGEST_EXTENT, "any": 1.0, "all": 1.0}.get(kind, a.largest)
    largest = LARGEST_EXTENT if kind.startswith("arg") else largest
    if kind == "prod":
        a, largest = draw.small(a, 1.0), 1.0
    if kind == "sum" and a.dtype.kind in "fc" and largest > EXACT[pm.Float]:
        raise Refused
    return Value(getattr(a.source, kind)(**more), largest, a.exact and kind != "mean")


def sliced(draw: Draw) -> Value:
    """Part of an array."""
    rng, a = draw.rng, draw.pick(lambda v: v.source.rank > 0)
    parts: list[Any] = [
        rng.choice(
            (slice(None), slice(None, None, -1), slice(None, None, 2), slice(0, 1), 0, -1, slice(1, None))
        )
        for _ in range(a.source.rank)
    ]
    if rng.random() < 0.2 and a.source.algebra != "signal":
        parts.insert(rng.randrange(len(parts) + 1), None)
    found = a.source[tuple(parts) if len(parts) > 1 else parts[0]]
    return Value(found, a.largest, a.exact)


def product(draw: Draw) -> Value:
    """A product of matrices and vectors, or of three arrays, or an update."""
    rng = draw.rng
    a, b, c = (draw.small(draw.pick(lambda v: v.source.rank in (1, 2))) for _ in range(3))
    x, y, z = a.source, b.source, c.source
    whole = rng.choice((1, 2, -1))
    choices = (
        lambda: x @ y,
        lambda: x.T @ y,
        lambda: x @ y.T,
        lambda: pm.einsum("ij,kj->ik", x, y),
        lambda: pm.einsum("ij,ij->j", x, y),
        lambda: pm.outer(x, y),
        lambda: pm.dot(x, y),
        lambda: pm.gemm(x, y, z, whole, 1),
        lambda: pm.syrk(x, z, whole, 1),
        lambda: pm.trmm(x, y, whole),
        lambda: pm.symm(x, y, z, M, N, whole, 1),
        lambda: x @ y - z,
    )
    return Value(rng.choice(choices)(), 600 * a.largest * b.largest, a.exact and b.exact and c.exact)
