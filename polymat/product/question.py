"""The question that decisions about a product answer: its values at some sizes.

Generated code asks with the strides and the extents of a call, and each thread with those of its share; here
they follow from the sizes that are assumed.  Dimensions that continue each other in memory are joined when
the code runs, which is not looked at here.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from polymat.graph.monomials import Factor
from polymat.product.asked import KNOWN
from polymat.product.blocks import Blocks
from polymat.product.contraction import Contraction
from polymat.product.formula import Values
from polymat.product.grouping import reach
from polymat.product.turned import can_turn, run_of_segments
from polymat.product.ways import TURNED_COLUMNS, UNROLLED, matrix

PLACES = ("left", "right", "result")  # of triangles, from 1 in questions


def question(
    found: Contraction,
    blocks: Blocks,
    estimates: Mapping[str, int],
    *,
    share: Mapping[str, float] | None = None,
    past: bool = False,
    handed: bool = False,
    ended: bool = False,
) -> Values:
    """The values of all that is asked.

    share: lengths of dimensions of which a thread has a part.  past: whether the result is written past the
    caches.  handed: whether parts of it are handed to its readers.  ended: whether these are computed in
    registers.
    """
    lengths = {dim: found.length(dim, estimates) for dim in found.bounds}
    a_row, a_step, b_step, b_column = _strides(found, lengths)
    values = _extents(found, lengths | dict(share or {})) | machine_values(blocks)
    lies = {"along": a_step == 1, "rowwise": a_row == 1, "in_order": b_column == 1, "down": b_step == 1}
    values |= {"left_power": _power(a_step), "right_power": _power(b_step)}
    values |= facts(found, blocks, handed, ended)
    values |= {name: float(holds) for name, holds in lies.items()}
    runs = values["runs"] and run_of_segments(found, estimates) >= TURNED_COLUMNS
    return values | {"runs": float(runs), "past": float(past)}


def strides(found: Contraction, estimates: Mapping[str, int]) -> tuple[int, int, int, int]:
    """Elements between neighbours along rows and depth in A, along depth and columns in B."""
    return _strides(found, {dim: found.length(dim, estimates) for dim in found.bounds})


def _strides(found: Contraction, lengths: Mapping[str, float]) -> tuple[int, int, int, int]:
    left, right = (_steps(factor, lengths) for factor in (found.left, found.right))
    beside = left.get(found.rows, 0), left.get(found.depth, 0)
    return (*beside, right.get(found.depth, 0), right.get(found.columns, 0))


def facts(found: Contraction, blocks: Blocks, handed: bool, ended: bool) -> Values:
    """Facts of a product at any sizes; of segments of columns whether they may be neighbours.

    handed, ended: as for `question`.
    """
    place = 0 if found.triangle is None else PLACES.index(found.triangle.place) + 1
    known = {
        "mirrored": found.mirror is not None,
        "slides": found.windows,
        "runs": can_turn(found, blocks),
        "handed": handed,
        "ended": ended,
        "added": found.starts or found.start is not None,
        "started": found.starts or found.others,
        "past": False,
    }
    return {"place": float(place)} | {name: float(holds) for name, holds in known.items()}


def facts_number(values: Values) -> int:
    """The facts of a product as one number, for generated code: its triangle, and bits from 4 on."""
    bits = sum(1 << (number + 2) for number, name in enumerate(KNOWN) if values[name])
    return int(values["place"]) + bits


def is_unrolled(found: Contraction, blocks: Blocks, estimates: Mapping[str, int]) -> bool:
    """Whether a product has constant extents and is so small that it is written out as straight code."""
    return has_constant_extents(found) and (matrix & UNROLLED).holds(question(found, blocks, estimates))


def has_constant_extents(found: Contraction) -> bool:
    """Whether a product is one of matrices whose extents are known when it is compiled."""
    extents = [found.extent(dim) for dim in (found.rows, found.columns, found.depth)]
    segments = found.more_rows or found.more_columns or found.sums
    return not segments and all(each.is_constant for each in extents)


def _extents(found: Contraction, lengths: Mapping[str, float]) -> Values:
    """Lengths of segments, and how many there are, one at least."""

    def all_of(*dims: str) -> float:
        return prod(max(1.0, lengths[dim]) for dim in dims)

    return {
        "m": all_of(found.rows),
        "n": all_of(found.columns),
        "k": all_of(found.depth),
        "row_segments": all_of(*found.more_rows),
        "column_segments": all_of(*found.more_columns),
        "depth_segments": all_of(*found.sums),
    }


def machine_values(blocks: Blocks) -> Values:
    """The constants of the machine, in the order in which generated code is told of them."""
    return {
        "rows": blocks.rows,
        "vectors": blocks.vectors,
        "lanes": blocks.lanes,
        "kc": blocks.kc,
        "nc": blocks.nc,
        "small": blocks.small,
        "turned_depth": blocks.turned_depth,
    }


def _steps(factor: Factor, lengths: Mapping[str, float]) -> dict[str, int]:
    """Elements between neighbours along each dimension, of an array no larger than what is read of it."""
    within, steps = 1.0, dict[str, int]()
    for form in reversed(factor.indices):
        for dim, coefficient in form.terms:
            if isinstance(dim, str) and dim in lengths:
                steps[dim] = steps.get(dim, 0) + int(within * coefficient)
        within *= max(1.0, reach(form, lengths))
    return steps


def _power(step: int) -> int:
    """The largest power of two that divides a step."""
    return max(1, step & -step)
