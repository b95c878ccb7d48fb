"""Two stages of a pipeline: an extreme, and where it is."""

from __future__ import annotations

from polymat.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class PositionPair:
    """A reduction to the least or largest elements, and one to the first place of each, both by name."""

    extreme: str
    place: str

    def __str__(self) -> str:
        return f"{self.place} is where {self.extreme} is"
