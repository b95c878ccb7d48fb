"""The integer points of interval bounds, as arrays: independent of isl, for the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from polymat.graph.evaluate import Points, Values
from polymat.graph.stage import Bounds

CHUNK = 1 << 20


Within = Callable[[str, Points, int], "tuple[Values, Values]"]


def enumerate_points(
    dims: Sequence[str], bounds: Bounds, params: Mapping[str, int], within: Within | None = None
) -> Iterator[tuple[Points, int]]:
    """The points in lexicographic order, in chunks of about a million.

    within: further lower and upper bounds of a dimension, at points of those before it.
    """
    yield from _extend({}, 1, 0, dims, bounds, params, within)


def _extend(
    points: Points,
    count: int,
    level: int,
    dims: Sequence[str],
    bounds: Bounds,
    params: Mapping[str, int],
    within: Within | None,
) -> Iterator[tuple[Points, int]]:
    if level == len(dims):
        if count:
            yield points, count
        return
    known = {**params, **points}
    ends = bounds[level][0].evaluate(known), bounds[level][1].evaluate(known)
    if within is None and all(isinstance(end, int) for end in ends):
        low, high = ends
        if count * max(high - low + 1, 0) <= CHUNK:
            values = np.arange(low, high + 1)
            longer = {name: np.repeat(old, len(values)) for name, old in points.items()}
            longer[dims[level]] = np.tile(values, count)
            yield from _extend(longer, count * len(values), level + 1, dims, bounds, params, within)
            return
    low, high = (np.broadcast_to(np.asarray(end, dtype=np.int64), (count,)) for end in ends)
    if within is not None:
        least, most = within(dims[level], points, count)
        low, high = np.maximum(low, least), np.minimum(high, most)
    lengths = np.maximum(high - low + 1, 0)
    total = int(lengths.sum())
    if total > CHUNK and count > 1:
        half = count // 2
        for part in (slice(0, half), slice(half, count)):
            some = {name: values[part] for name, values in points.items()}
            yield from _extend(some, len(range(*part.indices(count))), level, dims, bounds, params, within)
        return
    starts = np.cumsum(lengths) - lengths
    values = np.arange(total) - np.repeat(starts, lengths) + np.repeat(low, lengths)
    longer = {name: np.repeat(old, lengths) for name, old in points.items()}
    longer[dims[level]] = values
    yield from _extend(longer, total, level + 1, dims, bounds, params, within)
