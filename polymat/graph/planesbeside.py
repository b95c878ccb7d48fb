"""Planes side by side: a few points of a dimension, colours say, that all run at each point of the others.

What does not change with it, alpha or a mask, is then loaded and computed once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from polymat.dataclass import dataclass
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.sharing import fixed_along
from polymat.memo import remembered

MOST_PLANES = 4  # side by side: the vectors of all of them are alive at the same time


@dataclass(frozen=True, slots=True)
class Planes:
    """The points of a dimension of a stage, which are the same whatever the other indices are."""

    dim: str
    low: int
    count: int

    def __iter__(self) -> Iterator[int]:
        """Yield the index of each of them."""
        return iter(range(self.low, self.low + self.count))


@remembered
def planes_beside(stage: Stage) -> Planes | None:
    """The planes of a map of floating-point numbers that share what they read or compute, if any do."""
    if stage.is_reduction or stage.reads_itself or stage.dtype.kind != "f":
        return None
    inner = stage.dims[-1] if stage.dims else ""
    for dim, (low, high) in zip(stage.dims[:-1], stage.box, strict=False):
        if low.is_constant and high.is_constant and low.const < high.const < low.const + MOST_PLANES:
            shares = any(fixed_along(part.expr, dim, inner) for part in stage.parts)
            if shares and _is_whole(stage, dim, (low, high)):
                return Planes(dim, low.const, high.const - low.const + 1)
    return None


def _is_whole(stage: Stage, dim: str, limits: tuple[Affine, Affine]) -> bool:
    """Whether every part of a stage has all points of a dimension wherever it has one."""
    return all(piece.limits(dim) == limits for part in stage.parts for piece in part.domain.pieces())
