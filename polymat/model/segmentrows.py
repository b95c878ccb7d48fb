"""Sums between bounds from data as the cost models see them: rows as long as each other, in a row.

Nobody knows before a call how long the rows of a sparse matrix are.  All of them have as many elements
together as there are (`Stage.counted`), and each begins where the one before ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, prod

from polymat.graph.datasegments import Segment
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.traverse import names_of


def segment_rows(
    stage: Stage, dims: Sequence[str], extents: Mapping[str, int]
) -> tuple[dict[str, int], float, dict[str, Affine]]:
    """Describe the loops of a sum between bounds from data as if its rows were alike.

    Returns the extents, those of such dimensions being the lengths of one row; the part of that box that
    there is; and where each element of a row is among all elements.

    before:  for i in 0 .. 99: for k in 0 .. 799: column[k]
    after:   for i in 0 .. 99: for k in 0 .. 7: column[8 * i + k]
    """
    lengths, share, places = dict(extents), 1.0, dict[str, Affine]()
    for segment in stage.segments.dims if stage.segments is not None else ():
        around = _around(segment, dims)
        rows = prod(extents[dim] for dim in around)
        if rows == 0 or extents[segment.dim] == 0:
            continue
        length = ceil(extents[segment.dim] / rows)
        place, apart = Affine.name(segment.dim), length
        for dim in reversed(around):
            place += places.get(dim, Affine.name(dim)).scale(apart)
            apart *= extents[dim]
        lengths[segment.dim], places[segment.dim] = length, place
        share *= extents[segment.dim] / (length * rows)
    return lengths, share, places


def _around(segment: Segment, dims: Sequence[str]) -> list[str]:
    """The dimensions that the bounds depend on, in the order of the loops."""
    names = names_of((*segment.lows, *segment.ends))
    return [dim for dim in dims if dim in names and dim != segment.dim]
