"""How the stages of a group lie on common dimensions: what fusion finds and tiling uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import lcm

from polymat.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Member:
    """One stage inside a tile.

    dims: for each tiled dimension of the group the stage's own dimension that runs along it (for a
    reduction possibly a reduced one), or None where it has none.  margins: how far beyond the tile it
    computes before and behind, in points of the group's dimension, per tiled one (overlapped tiling); whole
    points of the stage, as tiles begin and end at common multiples of all scales (`grid`); negative where a
    scratch stage is shifted against the tile.  scratch: its values are needed in the tile only and live in a
    scratchpad.  private: it accumulates across tiles, each thread into a copy of its own.
    scales: per tiled dimension, the stage's point x lies at scale * x of the group's (none given: 1).
    """

    stage: str
    dims: tuple[str | None, ...]
    margins: tuple[tuple[int, int], ...]
    scratch: bool = False
    private: bool = False
    scales: tuple[int, ...] = ()

    def scale(self, level: int) -> int:
        """How many points of the group's dimension one of the stage's takes up."""
        return self.scales[level] if self.scales else 1

    def points(self, level: int, size: int) -> int:
        """The most points that a tile of `size` of the group's points computes, margins included."""
        return max((size - 1 + sum(self.margins[level])) // self.scale(level) + 1, 0)

    @property
    def copied(self) -> bool:
        """Whether its values live in a scratchpad, margins included; each tile writes out what it owns."""
        return not self.scratch and not self.private and any(margin != (0, 0) for margin in self.margins)


def grid(members: Iterable[Member], level: int) -> int:
    """The number that tile sizes are multiples of, so that all stages have a point where a tile begins."""
    return lcm(*(member.scale(level) for member in members))


@dataclass(frozen=True, slots=True)
class Alignment:
    """The dimensions of a group, and which dimension of each stage runs along which of them.

    dims: names, outermost first.  own: for each stage all its dimensions (of a reduction: those of the
    result, then the reduced ones).  along: for each stage its own dimension along every dimension of the
    group, or None.  scales: the point x of a stage's dimension lies at scale * x of the group's.
    conflicts: in words, why dimensions are left out.
    """

    dims: tuple[str, ...]
    own: Mapping[str, tuple[str, ...]]
    along: Mapping[str, tuple[str | None, ...]]
    scales: Mapping[str, tuple[Fraction, ...]]
    conflicts: tuple[str, ...] = ()

    def numbers(self, stage: str) -> tuple[int | None, ...]:
        """The number (from 1) of the group's dimension that each dimension of a stage runs along."""
        along = self.along[stage]
        return tuple(along.index(dim) + 1 if dim in along else None for dim in self.own[stage])

    def __str__(self) -> str:
        """As the thesis prints it in section 4.6: `S1 [i,j,k] -> [1,2,3]`, `S2 [i,j] -> [1,2,-]`."""
        lines = []
        for stage, dims in self.own.items():
            marks = ["-" if number is None else str(number) for number in self.numbers(stage)]
            marks += ["-"] * (len(self.dims) - len(marks))
            lines.append(f"{stage} [{','.join(dims)}] -> [{','.join(marks)}]")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Fusable:
    """A group that may be tiled along `dims`: tiles run in any order and in parallel.

    members: the stages, producers first.  margins: the widest of all members along each dimension.
    live_outs: the stages that are outputs or read outside the group; exactly one tile writes each point's
    value to the array.
    """

    dims: tuple[str, ...]
    members: tuple[Member, ...]
    margins: tuple[tuple[int, int], ...]
    live_outs: tuple[str, ...]

    @property
    def privates(self) -> tuple[str, ...]:
        """The reductions that every thread accumulates into a copy of its own."""
        return tuple(member.stage for member in self.members if member.private)


@dataclass(frozen=True, slots=True)
class Refused:
    """Why stages may not share tiles, in words."""

    reason: str
