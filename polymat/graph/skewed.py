"""How steps run that follow each other over the rows of their arrays, as values."""

from __future__ import annotations

from polymat.dataclass import dataclass
from polymat.errors import counted
from polymat.lang.affine import Affine


@dataclass(frozen=True, slots=True)
class Skew:
    """How far steps stay behind one another along a dimension.

    step: each step behind the one before.  lags: each stage behind the front of its step.
    """

    step: int
    lags: tuple[int, ...]

    @property
    def longest(self) -> int:
        """The most that a stage is behind the front of its step."""
        return max(self.lags)


@dataclass(frozen=True, slots=True)
class Skews:
    """The order of some steps.

    stages: of a step, as they run.  along: how far steps stay behind each other along the dimensions of the
    stages, of the first one or of the first two.
    """

    stages: tuple[str, ...]
    along: tuple[Skew, ...]


@dataclass(frozen=True, slots=True)
class SkewedSteps:
    """Steps that follow each other; `polymat.plan.followingsteps` says how many do when sizes are known.

    order: of the steps.  spans: where the indices of stages begin and where they end, along each dimension of
    the order.  arrays: the bytes of an element, of all planes of an array, and its extents.
    unit: rows that run together at a time, in pieces of so many bytes.  room: bytes of rows that all steps at
    work have between them.  least: bytes of all arrays, above which steps follow each other.  fewest, most:
    steps.  meeting: operations in the time that it takes threads to meet.
    """

    order: Skews
    spans: tuple[tuple[tuple[Affine, ...], tuple[Affine, ...]], ...]
    arrays: tuple[tuple[int, tuple[Affine, ...]], ...]
    unit: int
    piece: int
    room: int
    least: int
    fewest: int
    most: int
    meeting: float

    def __str__(self) -> str:
        """In words, as `explain()` has it."""
        outer = self.order.along[0].step
        rows = counted(outer, "row")
        behind = f"each {rows} behind the one before" if outer else "all of them over the same ones"
        return f"{counted(self.most, 'step')} at most follow each other over rows, {behind}"
