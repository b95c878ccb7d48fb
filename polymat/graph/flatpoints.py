"""Whether points of several dimensions are those of one: their elements lie behind each other in memory."""

from __future__ import annotations

from collections.abc import Mapping

from polymat.graph.stage import Accumulation
from polymat.lang.affine import Affine, computed_in
from polymat.lang.expr import Load, Variable
from polymat.lang.traverse import walk


def is_flat(
    item: Accumulation, extents: Mapping[str, tuple[Affine, ...]], dims: tuple[str, ...] | None = None
) -> bool:
    """Whether what an accumulation reads along some dimensions are whole arrays, in the order of memory.

    Then the element at (i, j) of rows of N is that at (0, i * N + j).  extents: those that arrays have in
    memory, by name.  dims: the dimensions, those that are reduced where they are not given.
    """
    along, box = dims or item.reduced_dims, dict(zip(item.dims, item.box, strict=True))
    if len(along) < 2 or any(box[dim][0] != Affine() for dim in along):
        return False
    rows = tuple(box[dim][1] + 1 for dim in along[1:])
    nodes = [*walk(item.expr)]
    if any(isinstance(node, Variable) and node.name in along for node in nodes):
        return False
    return all(_is_whole(node, along, rows, extents) for node in nodes if isinstance(node, Load))


def _is_whole(
    load: Load,
    along: tuple[str, ...],
    rows: tuple[Affine, ...],
    extents: Mapping[str, tuple[Affine, ...]],
) -> bool:
    """Whether a load goes through all of the last dimensions of an array, or reads the same everywhere."""
    if computed_in(load.indices):
        return False
    moving = [form for form in load.indices if not {*along}.isdisjoint(form.names())]
    last, behind = load.indices[-len(along) :], extents.get(load.source.name, ())[-len(rows) :]
    whole = last == tuple(map(Affine.name, along)) and behind == rows
    return not moving or (whole and moving == [*last])
