"""How steps run whose vectors have a point of each of so many segments, as values."""

from __future__ import annotations

from polymat.dataclass import dataclass
from polymat.errors import counted
from polymat.lang.affine import Affine


@dataclass(frozen=True, slots=True)
class RowPlace:
    """Where a stage of one of the steps of a pass is, behind the rows that the pass reads.

    lag: rows that it stays behind them.  first: the first of its rows that is right, since all that it needs
    is there.
    """

    lag: int
    first: int


@dataclass(frozen=True, slots=True)
class LineSegments:
    """Steps of one dimension, several of which go in one pass over arrays that lie in segments.

    stages: of a step, as they run; before: inputs that are what these came to in the step before, each with
    its stage.  spans: the first and the last index that each stage computes.  extent: of all arrays.
    kept: the stages that steps read again, which are all that a pass loads and stores.  even: whether an even
    number of steps is taken, since each goes from one of two planes to the other.
    """

    stages: tuple[str, ...]
    before: tuple[tuple[str, str], ...]
    spans: tuple[tuple[Affine, Affine], ...]
    extent: Affine
    kept: tuple[str, ...]
    even: bool


@dataclass(frozen=True, slots=True)
class SegmentedSteps:
    """Steps in segments: how many of them, one a lane, and how many steps go in one pass.

    places: of the stages of each step of a pass, in order.  reach: how far away a stage reads at most.
    least: segments have so many times as many rows as a pass computes beside them and keeps in the last one.
    fewest: steps that are taken so.  room: bytes that all arrays may have.
    """

    segments: LineSegments
    lanes: int
    steps: int
    places: tuple[tuple[RowPlace, ...], ...]
    reach: int
    least: int
    fewest: int
    room: int

    @property
    def front(self) -> int:
        """The rows before the first one, which nobody needs."""
        return self.reach + max(place.lag for step in self.places for place in step)

    @property
    def beside(self) -> int:
        """The rows of the next segment that a pass reads behind those of each."""
        return max(place.first + place.lag for step in self.places for place in step)

    def __str__(self) -> str:
        """In words, as `explain()` has it."""
        steps = counted(self.steps, "step")
        return f"{steps} in one pass over vectors of points of {self.lanes} segments"
