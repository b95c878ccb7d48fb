"""Reuse along each dimension, by counting references.

PolyMage matrix thesis, section 4.3, after Wolf and Lam: temporal reuse along a dimension that an access does
not use, group-temporal reuse between accesses to one array that meet after some iterations of it.
"""

from __future__ import annotations

from functools import lru_cache

from polymat.dataclass import dataclass
from polymat.memo import remembered
from polymat.model.loopnest import LoopNest
from polymat.model.reference import Slopes

# A dimension without any reuse would get tiles of size 0: it counts as half an access, less than any other.
NO_REUSE = 0.5


@dataclass(frozen=True, slots=True)
class Reuse:
    """Accesses that are reused along one dimension; a read and a write of one element are two accesses."""

    dim: str
    temporal: int
    group: int

    @property
    def total(self) -> int:
        """Both kinds."""
        return self.temporal + self.group


@remembered
def dimensional_reuse(nest: LoopNest) -> tuple[Reuse, ...]:
    """Reuse along every dimension of the nest, counting distinct references once."""
    classes = [(c.slopes, c.offsets) for c in nest.classes]
    return tuple(
        Reuse(dim, _temporal(nest, dim), sum(_group(*known, dim) for known in classes)) for dim in nest.names
    )


@remembered
def normalised_reuse(nest: LoopNest) -> dict[str, float]:
    """γ by dimension: its reuse over the largest reuse."""
    counts = {reuse.dim: reuse.total or NO_REUSE for reuse in dimensional_reuse(nest)}
    most = max(counts.values(), default=1)
    return {dim: count / most for dim, count in counts.items()}


def _temporal(nest: LoopNest, dim: str) -> int:
    """Accesses of the statements that run along the dimension and do not move with it."""
    found = {
        (r.array, r.indices, is_write)
        for statement in nest.statements
        if statement.has(dim)
        for r in statement.references
        if not r.uses(dim)
        for is_write, happens in ((False, r.reads), (True, r.writes))
        if happens
    }
    return len(found)


# Arithmetic on numbers alone, of which nothing belongs to one pipeline: every compilation asks the same.
# Of numbers and names alone, of any pipeline; asked so often that a memo in Python takes longer.
@lru_cache(maxsize=4096)
def _group(rows: tuple[Slopes, ...], offsets: tuple[tuple[float, ...], ...], dim: str) -> int:
    """References of a class that touch what another one of it touches some iterations earlier."""
    direction = tuple(dict(row).get(dim, 0.0) for row in rows)
    if not any(direction):
        return 0
    leaders: list[tuple[float, ...]] = []
    for vector in offsets:
        if not any(meets(vector, leader, direction) for leader in leaders):
            leaders.append(vector)
    return len(offsets) - len(leaders)


def meets(one: tuple[float, ...], other: tuple[float, ...], direction: tuple[float, ...]) -> int:
    """Iterations along a dimension between two references to one element, 0 where they never meet."""
    distance: float | None = None
    for a, b, step in zip(one, other, direction, strict=True):
        if step == 0:
            if a != b:
                return 0
        elif distance is None:
            distance = (a - b) / step
        elif distance != (a - b) / step:
            return 0
    if distance is None or distance != int(distance):
        return 0
    return abs(int(distance))
