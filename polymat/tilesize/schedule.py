"""The decisions of a compilation as data: one implementation a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from polymat.graph.alignment import Member as Member  # the tiling of a group is described with it
from polymat.graph.group import Group, Grouping
from polymat.graph.plan import NestPlan as NestPlan
from polymat.lang.affine import Affine
from polymat.poly.order import Order
from polymat.tilesize.associativity import CacheShape
from polymat.tilesize.movement import Movement
from polymat.tilesize.order import Innermost
from polymat.tilesize.rowloop import RowLoop
from polymat.tilesize.select import TileSizes
from polymat.tilesize.team import UNKNOWN, TeamCost


@dataclass(frozen=True, slots=True, eq=False)
class LoopPlan(NestPlan):
    """A stage as loop nests.

    kind: "map" (points are independent), "reduce" (a local accumulator a point), "row" (a row of results is
    accumulated in memory), "scatter" (accumulated wherever the target is) or "recurrence" (`recurrence` holds
    the legal order; outwards: the range of its parallel dimension is shared out around all its loops, though
    that is not the outermost of them).
    unroll: iterations of the outermost loop that run together (unroll and jam); block: in a tile, of the loop
    along this one of the tiled dimensions.
    addends: iterations of the innermost summed loop that do so around rows in memory.
    ahead: each row asks for those so many further along the nest's first range (0: none does).
    lanes: elements of the vectors in which reads of one row are shifted, or sums of rows that run together
    are kept (1: none are).
    terms: what is compared is computed for many elements first.
    streamed: bytes of the result above which it is written past the caches (0: never).
    """

    recurrence: Order | None = None
    outwards: bool = False
    unroll: int = 1
    block: int = 0
    addends: int = 1
    ahead: int = 0
    lanes: int = 1
    terms: bool = False
    streamed: int = 0

    @property
    def shown_order(self) -> tuple[str, ...]:
        """The loops that the code has, by the user's names where they are the user's."""
        if self.recurrence is None:
            return self.order
        return tuple(self.order[level] for level in self.recurrence.loops)

    @property
    def shown_vector(self) -> str | None:
        """The innermost loop where it runs in vectors."""
        if self.recurrence is None or not self.recurrence.loops:
            return self.vector
        innermost = self.recurrence.loops[-1]
        return self.order[innermost] if self.recurrence.parallel[innermost] else None


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
class TilePlan:
    """Several stages in one tile loop.

    dims, sizes: the tiled dimensions of the group, outermost first, and their tile sizes; tiles are
    independent of each other but for private accumulations, and run in parallel.  members: the stages,
    producers first.  loops: each stage's plan inside a tile.  reason: why, in words.
    rolling: a thread runs its tiles along the first dimension one after the other, innermost, and the
    scratchpads keep what earlier ones computed: every stage computes only what is new.
    joint: pairs of stages that run in one loop, at the place of the first.  backwards: the tiles of the first
    dimension run from the last to the first.  crossing: the last tile size is found at run time by this, and
    is in `sizes` what it would be at the estimates.  solved: the reuse equation that the sizes come from.
    row_loop: all stages of a rolling tile run in one loop.  forced: the user chose the sizes.
    """

    group: Group
    dims: tuple[str, ...]
    sizes: tuple[int, ...]
    members: tuple[Member, ...]
    loops: Mapping[str, NestPlan] = field(default_factory=dict)
    reason: str = ""
    rolling: bool = False
    joint: tuple[tuple[str, str], ...] = ()
    backwards: bool = False
    crossing: Crossing | None = None
    solved: TileSizes | None = None
    row_loop: RowLoop | None = None
    forced: bool = False

    @property
    def why(self) -> str:
        """The reason, and how the stages of a tile run."""
        return self.reason if self.row_loop is None else f"{self.reason}; {self.row_loop}"

    def rows(self, member: Member, loops: LoopPlan) -> int:
        """The most rows of a stage in a tile that its blocks may be made of."""
        return member.points(loops.block, self.sizes[loops.block])

    @property
    def is_numbered(self) -> bool:
        """Whether threads share all tiles by number, not the outermost loop: where these run in any order.

        The tiles of one thread may share what a sum over a tiled dimension adds into.
        """
        ordered = self.rolling or self.backwards or self.crossing is not None
        return len(self.dims) > 1 and not ordered and not any(member.private for member in self.members)

    def pad_extent(self, member: Member, level: int) -> int:
        """Points that a scratchpad holds along a tiled dimension; a power of two where it is a ring."""
        points = max(member.points(level, self.sizes[level]), 1)
        return 1 << (points - 1).bit_length() if self.rolling and level == 0 else points

    def __str__(self) -> str:
        tiles = ",".join(f"{dim}:{size}" for dim, size in zip(self.dims, self.sizes, strict=True))
        return f"{'+'.join(self.group.stages)}: {'rolling ' if self.rolling else ''}tiles {tiles}"


Plan = NestPlan | TilePlan


@dataclass(frozen=True, slots=True)
class Considered:
    """A group that was looked at: its cost (infinite: not allowed) and the terms of it, or why not."""

    stages: tuple[str, ...]
    cost: float
    terms: str

    def __str__(self) -> str:
        return f"{' + '.join(self.stages)}: {self.terms}"


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """One group: how its plan was priced, and what the models say of it.

    terms: the cost that it was chosen by.  seconds: predicted.  movement: bytes and seconds a level of
    memory, with caches that are empty at first.  scores: Algorithm 5's for the loops of each stage.
    """

    terms: str
    seconds: float
    movement: Movement
    scores: Mapping[str, Innermost] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """A plan for every group; team: what a parallel region costs.

    kept: stages that are the same in every call, so that the first one computes them.
    decisions, considered: what speaks for each plan, and all groups that were looked at, for `explain()`.
    notes: why sums are no library calls, in words.
    """

    grouping: Grouping
    plans: tuple[Plan, ...]
    team: TeamCost = UNKNOWN
    decisions: tuple[Decision, ...] = ()
    considered: tuple[Considered, ...] = ()
    kept: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " | ".join(map(str, self.plans))
