"""Stages that several of NPBench's programs are made of, in a line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.polybench.kernel import upto, variables
from polymat import Double, Exp, Float, Function, Interval, Op, Reduce, Reduction


def intervals(extents: Sequence[Any]) -> list[Interval]:
    """Extents become indices from 0 on; intervals stay."""
    return [extent if isinstance(extent, Interval) else upto(extent) for extent in extents]


def mapped(name: str, at: Sequence[Any], extents: Sequence[Any], value: Any, dtype: Any = Double) -> Function:
    """A value, or cases, at each point."""
    made = Function((list(at), intervals(extents)), dtype, name)
    made.defn = value if isinstance(value, list) else [value]
    return made


def summed(
    name: str,
    at: Sequence[Any],
    extents: Sequence[Any],
    over: Sequence[Any],
    lengths: Sequence[Any],
    term: Any,
    *,
    op: Any = Op.Sum,
    dtype: Any = Double,
) -> Reduction:
    """The sum, or another reduction, of a term over further indices at each point."""
    here = (list(at), intervals(extents))
    made = Reduction(here, ([*at, *over], intervals([*extents, *lengths])), dtype, name)
    made.defn = [Reduce(made(*at), term, op)]
    return made


def normalised(name: str, x: Any, at: Sequence[Any], extents: Sequence[Any]) -> Function:
    """Softmax along the last dimension, float32."""
    row, last = list(at[:-1]), at[-1]
    top = summed("top", row, extents[:-1], [last], extents[-1:], x(*at), op=Op.Max, dtype=Float)
    e = mapped("e", at, extents, Exp(x(*at) - top(*row)), Float)
    total = summed("total", row, extents[:-1], [last], extents[-1:], e(*at), dtype=Float)
    return mapped(name, at, extents, e(*at) / total(*row), Float)


def convolved(
    name: str, image: Any, weights: Any, extents: Sequence[Any], window: Sequence[Any]
) -> Reduction:
    """The sums of a window over all channels, wherever it fits: (picture, row, column, channel), float32.

    extents: of the result.  window: rows, columns and channels that are summed up.
    """
    n, y, x, c, a, b, d = variables("n y x c a b d")
    term = image(n, y + a, x + b, d) * weights(a, b, d, c)
    return summed(name, (n, y, x, c), extents, (a, b, d), window, term, dtype=Float)


def windows(image: npt.NDArray[Any], weights: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same in NumPy: a product of matrices for each place of a window."""
    high, wide = weights.shape[:2]
    rows, columns = image.shape[1] - high + 1, image.shape[2] - wide + 1
    total = np.zeros((len(image), rows, columns, weights.shape[3]), image.dtype)
    for a in range(high):
        for b in range(wide):
            total += image[:, a : a + rows, b : b + columns] @ weights[a, b]
    return total
