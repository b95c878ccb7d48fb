"""Programs over the last dimension of an array: chains of sums along rows and of functions of points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polymat as pm
from polymat import Exp, Float, Function, Int, Interval, Log, Op, Parameter, Reduce, Reduction, Sqrt, Variable

NAMES = "bhmn"


@dataclass(frozen=True)
class Rows:
    """The dimensions of an array, and its elements and rows at a point."""

    rank: int
    dtype: Any = Float

    @property
    def sizes(self) -> list[Any]:
        """The extents, the length of a row last."""
        return [Parameter(Int, name.upper()) for name in NAMES[-self.rank :]]

    @property
    def dims(self) -> list[Any]:
        """The indices."""
        return [Variable(Int, name) for name in NAMES[-self.rank :]]

    @property
    def whole(self) -> tuple[list[Any], list[Any]]:
        """All points."""
        return self.dims, [Interval(Int, 0, size - 1) for size in self.sizes]

    @property
    def outer(self) -> tuple[list[Any], list[Any]]:
        """One point a row."""
        return self.dims[:-1], self.whole[1][:-1]

    def image(self, name: str = "x") -> Any:
        """An array."""
        return pm.Image(self.dtype, name, self.sizes)

    def of(self, name: str, op: Any, term: Any) -> Any:
        """What is reduced along each row."""
        made = Reduction(self.outer, self.whole, self.dtype, name)
        made.defn = [Reduce(made(*self.dims[:-1]), term, op)]
        return made

    def each(self, name: str, value: Any, *, rows: bool = False) -> Any:
        """A function of points, or of rows."""
        made = Function(self.outer if rows else self.whole, self.dtype, name)
        made.defn = [value]
        return made


def softmax(on: Rows, x: Any) -> Any:
    """exp(x - max x) over its sum."""
    at, row = on.dims, on.dims[:-1]
    top = on.of("top", Op.Max, x(*at))
    e = on.each("e", Exp(x(*at) - top(*row)))
    total = on.of("total", Op.Sum, e(*at))
    return on.each("y", e(*at) / total(*row))


def log_sum_exp(on: Rows, x: Any) -> Any:
    """log(sum(exp(x - max x))) + max x, a number a row."""
    at, row = on.dims, on.dims[:-1]
    top = on.of("top", Op.Max, x(*at))
    total = on.of("total", Op.Sum, Exp(x(*at) - top(*row)))
    return on.each("y", Log(total(*row)) + top(*row), rows=True)


def layer_norm(on: Rows, x: Any) -> Any:
    """(x - mean) / sqrt(variance + 1e-5)."""
    at, row, length = on.dims, on.dims[:-1], pm.Cast(on.dtype, on.sizes[-1])
    mean = on.each("mean", on.of("total", Op.Sum, x(*at))(*row) / length, rows=True)
    off = x(*at) - mean(*row)
    spread = on.of("spread", Op.Sum, off * off)
    return on.each("y", off / Sqrt(spread(*row) / length + 1e-5))


def normalised(on: Rows, x: Any) -> Any:
    """X over the root of the sum of its squares."""
    at, row = on.dims, on.dims[:-1]
    squares = on.of("squares", Op.Sum, x(*at) * x(*at))
    return on.each("y", x(*at) / Sqrt(squares(*row)))


def variance(on: Rows, x: Any) -> Any:
    """The mean of the squares of what is off the mean, a number a row."""
    at, row, length = on.dims, on.dims[:-1], pm.Cast(on.dtype, on.sizes[-1])
    mean = on.each("mean", on.of("total", Op.Sum, x(*at))(*row) / length, rows=True)
    off = x(*at) - mean(*row)
    return on.each("y", on.of("spread", Op.Sum, off * off)(*row) / length, rows=True)


def scaled_by_largest(on: Rows, x: Any) -> Any:
    """X over the largest magnitude of its row."""
    at, row = on.dims, on.dims[:-1]
    return on.each("y", x(*at) / on.of("top", Op.Max, pm.Abs(x(*at)))(*row))


PROGRAMS: dict[str, Callable[[Rows, Any], Any]] = {
    "softmax": softmax,
    "log_sum_exp": log_sum_exp,
    "layer_norm": layer_norm,
    "normalised": normalised,
    "variance": variance,
    "scaled_by_largest": scaled_by_largest,
}
