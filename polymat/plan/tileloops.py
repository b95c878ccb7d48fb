"""Loops of tiles that are no nests of one stage: over the rows of all stages, or across rows of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.lang.affine import Affine
from polymat.model.associativity import CacheShape


@dataclass(frozen=True, slots=True)
class Crossing:
    """How wide tiles are whose innermost loop goes across the rows of arrays: what stays in a cache.

    apart: for each such array how far these rows are apart, in bytes: a factor and extents to multiply it by.
    most: the width where they leave room for each other.
    """

    cache: CacheShape
    most: int
    apart: tuple[tuple[int, tuple[Affine, ...]], ...]


@dataclass(frozen=True, slots=True, eq=False)
class RowLoop:
    """How the stages of a rolling tile run in one loop over vectors of columns.

    lanes: elements of a vector.  rows: of each stage, in the loop at the same time.  lags: how many columns
    each stage is behind the loop.  lead, trail: the loop begins and ends at the tile's first and last column
    plus this, so that every stage computes all of its columns, and possibly more.  streamed: bytes of results
    above which they are written past the caches (0: never).
    """

    lanes: int
    rows: int
    lags: Mapping[str, int]
    lead: int
    trail: int
    streamed: int

    def __str__(self) -> str:
        text = f"{self.rows} rows of all stages in one loop over vectors of {self.lanes}"
        if not self.streamed:
            return text
        return f"{text}, results of more than {self.streamed / 1e6:.2g} MB written past the caches"

    def of_rows(self, rows: int) -> RowLoop | None:
        """A loop like this one for tiles of fewer rows; None for more."""
        return replace(self, rows=rows) if rows <= self.rows else None

    def before(self, stage: str) -> int:
        """Columns before the tile's first one that a scratchpad has room for: a vector more than computed."""
        return self.lags[stage] - self.lead + self.lanes

    def columns(self, width: int) -> int:
        """Columns of a scratchpad of a tile that is so wide."""
        return width + self.trail - self.lead + 3 * self.lanes
