"""Sums into arrays of which threads may have copies, that are added up."""

from __future__ import annotations

from math import prod

from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.machine.model import Machine


def can_be_private(stage: Stage) -> bool:
    """Whether parts of its reduced dimensions can be accumulated independently and added up."""
    aligned = all(item.is_aligned and item.reduced_dims for item in stage.accumulations)
    return aligned and _can_be_copied(stage)


def can_scatter_apart(stage: Stage) -> bool:
    """Whether parts of a sum into computed places can be accumulated independently and added up."""
    return _can_be_copied(stage) and bool(stage.accumulations[0].dims)


def _can_be_copied(stage: Stage) -> bool:
    """Whether there is one sum, into an array that threads may have copies of."""
    one_sum = len(stage.accumulations) == 1
    return one_sum and stage.domain.is_box() and all(low == Affine() for low, _ in stage.box)


def is_small(stage: Stage, machine: Machine) -> bool:
    """Whether the size of a result is known, and copies of it stay in the second-level cache."""
    extents = [high - low + 1 for low, high in stage.box]
    known = all(extent.is_constant for extent in extents)
    return known and prod(extent.const for extent in extents) * stage.dtype.size <= machine.l2_bytes
