"""What NumPy makes of look-ups, sums into computed places and segments, of indices and values that it is given.

The interpreter gives these, as arrays of all points; `take`, `add.at`, `bincount` and `reduce` do the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polymat import Cast, Function, Op
from polymat.graph.build import build
from polymat.graph.interpret import interpret
from polymat.lang.types import computed_with, strong

UFUNCS = {Op.Sum: np.add, Op.Mul: np.multiply, Op.Min: np.minimum, Op.Max: np.maximum}
Domain = tuple[list[Any], list[Any]]  # indices and their intervals


@dataclass(frozen=True)
class LookUp:
    """A stage that is an element of an array, at computed indices."""

    stage: Any
    domain: Domain
    array: Any
    place: tuple[Any, ...]

    def parts(self, name: str) -> list[Function]:
        """The indices at all points, and all elements of the array."""
        at = [_function(self.domain, index, f"{name}{n}") for n, index in enumerate(self.place)]
        return [*at, *([self.array] if isinstance(self.array, Function) else [])]

    def wanted(self, values: Sequence[Any], inputs: Mapping[str, Any], shape: Sequence[int]) -> Any:
        """The stage."""
        rank = len(self.place)
        array = values[rank] if isinstance(self.array, Function) else inputs[self.array.name]
        flat = np.ravel_multi_index(tuple(values[:rank]), array.shape) if values[0].size else values[0]
        return np.take(array, flat)


@dataclass(frozen=True)
class Scatter:
    """A reduction into computed places."""

    stage: Any
    domain: Domain
    place: tuple[Any, ...]
    value: Any
    op: Op

    def parts(self, name: str) -> list[Function]:
        """The places and the value of each point."""
        at = [_function(self.domain, index, f"{name}{n}") for n, index in enumerate(self.place)]
        value = Cast(self.stage.dtype, self.value)
        return [*at, _function(self.domain, value, f"{name}value")]

    def wanted(self, values: Sequence[Any], inputs: Mapping[str, Any], shape: Sequence[int]) -> Any:
        """The stage; how many there are by `bincount`, where there is one index."""
        *place, value = values
        if isinstance(self.value, int) and len(place) == 1:
            return np.bincount(place[0].ravel(), minlength=shape[0])
        found = np.full(shape, _start(self.op, np.dtype(self.stage.dtype.dtype)))
        UFUNCS[self.op].at(found, tuple(place), value)
        return found


@dataclass(frozen=True)
class Segments:
    """A reduction along the last index of a domain, between bounds that the others give."""

    stage: Any
    domain: Domain
    bounds: tuple[Any, Any]
    value: Any
    op: Op

    def parts(self, name: str) -> list[Function]:
        """The first and the last index of each segment, and values in segments and beyond."""
        indices, spans = self.domain
        outer = indices[:-1], spans[:-1]
        ends = [_function(outer, bound, f"{name}{n}") for n, bound in enumerate(self.bounds)]
        return [*ends, _function(self.domain, Cast(self.stage.dtype, self.value), f"{name}value")]

    def wanted(self, values: Sequence[Any], inputs: Mapping[str, Any], shape: Sequence[int]) -> Any:
        """The stage, segment by segment."""
        low, high, all_values = values
        dtype = np.dtype(self.stage.dtype.dtype)
        found, start = np.empty(shape, dtype), _start(self.op, dtype)
        for at in np.ndindex(*shape):
            inside = all_values[at][low[at] : high[at] + 1]
            found[at] = UFUNCS[self.op].reduce(inside, dtype=dtype, initial=start)
        return found


Claim = LookUp | Scatter | Segments


def _function(domain: Domain, value: Any, name: str) -> Function:
    """A value at all points of a domain."""
    indices, spans = domain
    dtype = computed_with(strong(value.dtype)) if hasattr(value, "dtype") else None
    made = Function((list(indices), list(spans)), dtype or indices[0].dtype, name)
    made.defn = [value]
    return made


def _start(op: Op, dtype: np.dtype[Any]) -> Any:
    """What a reduction of nothing is."""
    if op in (Op.Sum, Op.Mul):
        return dtype.type(op is Op.Mul)
    limits = (-np.inf, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return dtype.type(limits[op is Op.Min])


def not_as_numpy(
    claims: Sequence[Claim],
    arrays: Callable[[int, int], Mapping[str, Any]],
    sizes: Sequence[tuple[int, int]],
) -> list[str]:
    """Stages that are not what NumPy makes of their indices and values."""
    parts = [claim.parts(f"part{number}_") for number, claim in enumerate(claims)]
    outputs = {id(each): each for each in (*(c.stage for c in claims), *(p for some in parts for p in some))}
    pipeline, found = build([*outputs.values()]), []
    for n, m in sizes:
        inputs = arrays(n, m)
        results = interpret(pipeline, inputs, {"N": n, "M": m})
        known = dict(zip(outputs, (results[name] for name in pipeline.outputs), strict=True))
        for claim, own in zip(claims, parts, strict=True):
            actual = known[id(claim.stage)]
            wanted = claim.wanted([known[id(part)] for part in own], inputs, actual.shape)
            if not np.array_equal(actual, wanted.astype(actual.dtype)):
                found.append(f"{claim.stage.name} at {n}, {m}: {actual}, by NumPy {wanted}")
    return found
