"""Two stages of a step whose slices wait, in one pass over the rows of a strip of these."""

from __future__ import annotations

from polymat.dataclass import dataclass
from polymat.graph.stage import Accumulation, Part
from polymat.lang.affine import Affine


@dataclass(frozen=True, slots=True, eq=False)
class JoinedStrips:
    """A stage that makes rows and one that adds them up, where nothing else is done to a strip.

    made, added: the stages, by name.  part: of the first one behind the front; item: of the second one.
    low, high: the first row and the last one, of both.
    """

    made: str
    added: str
    part: Part
    item: Accumulation
    low: Affine
    high: Affine

    def __str__(self) -> str:
        return f"{self.made} and {self.added}: strips of both in one pass over their rows"
