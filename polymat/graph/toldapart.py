"""Reads at the same step told apart from those at earlier ones, where which it is differs by the point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from polymat.graph.stage import Accumulation, Part, Stage, loads_of
from polymat.lang.affine import Affine, computed_in
from polymat.lang.expr import Expr, Load
from polymat.lang.traverse import rebuild
from polymat.poly.domain import Domain

Item = TypeVar("Item", Part, Accumulation)
MOST_PIECES = 8  # of one definition


def told_apart(members: Sequence[Stage], positions: Mapping[str, int], context: Domain) -> tuple[Stage, ...]:
    """The stages with definitions of their own where what they read has their own index along the steps.

    There it is written as that index.  positions: the dimension of the steps, by the stage.

    before:  s(i, d) += b(i - d, k) where d >= 0, with steps along i
    after:   s(i, d) += b(i, k) where d = 0;  s(i, d) += b(i - d, k) where d > 0
    """
    return tuple(_apart(stage, positions, context) for stage in members)


def _apart(stage: Stage, positions: Mapping[str, int], context: Domain) -> Stage:
    place = positions[stage.name]
    dim = Affine.name(stage.dims[place])
    parts = [piece for item in stage.parts for piece in _pieces(item, dim, positions, context)]
    sums = [
        piece
        for item in stage.accumulations
        for piece in _pieces(item, item.target[place], positions, context)
    ]
    if parts == [*stage.parts] and sums == [*stage.accumulations]:
        return stage
    return replace(stage, parts=tuple(parts), accumulations=tuple(sums))


def _pieces(item: Item, index: Affine, positions: Mapping[str, int], context: Domain) -> list[Item]:
    """A definition, in parts for what each of its reads is."""
    pieces = [item]
    for load in loads_of(item):
        place = None if load.source.is_input else positions.get(load.source.name)
        if place is None or (index - load.indices[place]).is_constant or computed_in(load.indices):
            continue
        apart = index - load.indices[place]
        found: list[Item] = []
        for piece in pieces:
            here = piece.domain.at_least_zero([apart, -apart])
            if here.assume(context).is_empty():
                found.append(piece)
                continue
            found.append(_at(piece, here, load, place, index))
            rest = piece.domain.subtract(here)
            if not rest.assume(context).is_empty():
                found.append(_over(piece, rest))
        if len(found) > MOST_PIECES:
            return [item]
        pieces = found
    return pieces


def _at(item: Item, domain: Domain, read: Load, place: int, index: Affine) -> Item:
    """A definition at some points, with an index of a read written as the index that it is there."""
    indices = (*read.indices[:place], index, *read.indices[place + 1 :])

    def leaf(node: Expr) -> Expr:
        same = isinstance(node, Load) and (node.source, node.indices) == (read.source, read.indices)
        return replace(node, indices=indices) if same and isinstance(node, Load) else node

    return replace(_over(item, domain), expr=rebuild(item.expr, leaf))


def _over(item: Item, domain: Domain) -> Item:
    """A definition at some of its points, which its condition does not tell."""
    changed: dict[str, Any] = {"domain": domain, "condition": None}
    if isinstance(item, Part):
        changed["fills"] = False
    return replace(item, **changed)
