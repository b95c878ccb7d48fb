"""How slices of a step wait for others, as values."""

from __future__ import annotations

from polymat.dataclass import dataclass
from polymat.lang.affine import Affine


@dataclass(frozen=True, slots=True)
class Slices:
    """The slices of the stages of a step: the points with one index along a dimension of each.

    step: its name.  stages: that have slices, each with its dimension; all others are computed from the
    slices in front alone, which are those up to step + front.  wide: slices that loops of a fixed length run
    over, in vectors of so many lanes.
    """

    step: str
    stages: tuple[tuple[str, int], ...]
    front: int
    wide: int = 1
    lanes: int = 1

    @property
    def behind(self) -> Affine:
        """The first slice behind the front."""
        return Affine.name(self.step) + self.front + 1

    def place(self, stage: str) -> int | None:
        """The dimension of a stage along which its slices lie; None of one that has none."""
        return dict(self.stages).get(stage)


@dataclass(frozen=True, slots=True)
class WaitingSlices:
    """Steps in blocks, which slices behind the front of a block wait for, and take in some slices at a time.

    slices: of a step.  span: where indices of slices begin and where they end.  arrays: the bytes of an
    element of the arrays of slices, and their extents but for those along the slices.
    steps: of a block.  room: bytes of slices in work at a time, of as many at least as loops of a fixed
    length run over.  least: bytes of all slices above which they wait.
    """

    slices: Slices
    span: tuple[tuple[Affine, ...], tuple[Affine, ...]]
    arrays: tuple[tuple[int, tuple[Affine, ...]], ...]
    steps: int
    room: int
    least: int

    def __str__(self) -> str:
        """In words, as `explain()` has it."""
        return (
            f"slices of {', '.join(name for name, _ in self.slices.stages)} wait for {self.steps} steps, "
            "and then take all of them, as many slices at a time as a cache holds"
        )
