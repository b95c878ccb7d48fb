"""The plan of several stages in one loop over tiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from itertools import permutations

from polymat.dataclass import dataclass
from polymat.graph.aligned import Member
from polymat.graph.group import Group
from polymat.model.select import TileSizes
from polymat.plan.kernel import KernelPlan
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import GroupPlan, NestPlan
from polymat.plan.tileloops import Crossing, RowLoop

MOST_TILED = 4  # dimensions that are tiled at once: loops over tiles, one in another


@dataclass(frozen=True, slots=True, eq=False)
class TilePlan(GroupPlan):
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
    kept: points of the first dimension beside those of a rolling tile that the ring of a stage keeps for its
    readers; of a stage that is not listed, as many as its margins have.
    rows_at_once: of the last dimension, points at a time of the loops that follow each other between products
    by register blocks; 0: all of a tile.  places: of stages that overwrite another one's values, each at the
    point that it reads them at, whose scratchpad it has.  given: the stages whose loops in a tile the user
    gave.
    nest: loops over tiles in tiles, outermost first, each as its dimension's number and its size, the last
    one of every dimension of the size that stands in `sizes`; empty where there is one a dimension, in order.
    turning: the name of a step: where that is odd, the tiles of a thread run from the last to the first.
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
    kept: Mapping[str, int] = field(default_factory=dict)
    rows_at_once: int = 0
    places: Mapping[str, str] = field(default_factory=dict)
    given: frozenset[str] = frozenset()
    nest: tuple[tuple[int, int], ...] = ()
    turning: str = ""

    @property
    def levels(self) -> tuple[tuple[int, int], ...]:
        """All loops over tiles, outermost first: the numbers of their dimensions, and their sizes."""
        return self.nest or tuple(enumerate(self.sizes))

    @property
    def outermost(self) -> tuple[tuple[int, int], ...]:
        """Those that threads share by number: the first ones, as long as no dimension comes again."""
        numbers = [number for number, _ in self.levels]
        again = (k for k, number in enumerate(numbers) if number in numbers[:k])
        return self.levels[: next(again, len(numbers))]

    @property
    def kind(self) -> str:
        """The way in one word, as of the other plans."""
        return "tiles"

    def member(self, stage: str) -> Member:
        """How one of the stages lies in the tiles."""
        return next(each for each in self.members if each.stage == stage)

    @property
    def scratch(self) -> tuple[str, ...]:
        """Stages whose values a tile keeps in scratchpads, producers first."""
        return tuple(member.stage for member in self.members if member.scratch)

    @property
    def hidden(self) -> frozenset[str]:
        """Stages of the group whose values nobody else can read."""
        return frozenset(self.scratch)

    @property
    def is_shared(self) -> bool:
        """Threads share tiles."""
        return True

    @property
    def by_blocks(self) -> bool:
        """Not as a whole, though a stage within a tile may be."""
        return False

    @property
    def is_own_code(self) -> bool:
        """Tiles need memory for their scratchpads alone."""
        return True

    @property
    def of_loops_alone(self) -> bool:
        """Whether neither register blocks nor a library compute a stage of it."""
        return not any(each.by_blocks for each in self.loops.values())

    @property
    def kernels(self) -> tuple[str, ...]:
        """The stages that register blocks compute in each tile."""
        return tuple(name for name, inner in self.loops.items() if isinstance(inner, KernelPlan))

    @property
    def packed(self) -> tuple[KernelPlan, ...]:
        """Those of register blocks that read an operand which is packed before the tiles."""
        return tuple(
            inner for inner in self.loops.values() if isinstance(inner, KernelPlan) and inner.packed_depth
        )

    @property
    def routines(self) -> tuple[str, ...]:
        """The library routines that are called in each tile."""
        return tuple(name for inner in self.loops.values() for name in inner.routines)

    @property
    def by_definition(self) -> bool:
        """Whether all of its stages compute the sums as they are defined: transforms in tiles do not."""
        return all(inner.by_definition for inner in self.loops.values())

    @property
    def counts_as_defined(self) -> bool:
        """Whether the operations of all of its stages are those of the definitions."""
        return all(inner.counts_as_defined for inner in self.loops.values())

    @property
    def numbered(self) -> int:
        """Dimensions that tiles run through in the order of memory; more keep a tile in one place."""
        return len(self.dims) if self.is_numbered else 0

    @property
    def summary(self) -> str:
        """How the group would be carried out, in a few words."""
        sizes = (f"{size} along {self.dims[number]}" for number, size in self.levels)
        solved = f" ({self.solved.equation} for {self.solved.level})" if self.solved else ""
        around = f" around register blocks of {', '.join(self.kernels)}" if self.kernels else ""
        return f"tiles of {', '.join(sizes)}{solved}{around}"

    @property
    def shown_order(self) -> tuple[str, ...]:
        """The loops over tiles."""
        return tuple(self.dims[number] for number, _ in self.levels)

    @property
    def shown_vector(self) -> str | None:
        """The loop of the last stage that runs in vectors."""
        return self.loops[self.members[-1].stage].vector

    @property
    def parallel(self) -> str:
        """The dimensions whose tiles threads share, in words."""
        if not self.is_numbered:
            return self.dims[0]
        return ", ".join(self.dims[number] for number, _ in self.outermost)

    @property
    def tile_sizes(self) -> Mapping[str, int]:
        """Sizes of tiles by dimension."""
        return dict(zip(self.dims, self.sizes, strict=True))

    @property
    def inside(self) -> Mapping[str, tuple[str, ...]]:
        """The loops of each stage within a tile."""
        return {member.stage: self.loops[member.stage].order for member in self.members}

    def part(self, stage: str) -> NestPlan:
        """The plan of one of the stages, inside a tile."""
        return self.loops[stage]

    def fitting(self, member: Member) -> NestPlan:
        """The plan of a member inside a tile; no blocks of rows where no tile has as many."""
        loops = self.loops[member.stage]
        if isinstance(loops, LoopPlan) and loops.unroll > self.rows(member, loops):
            return replace(loops, unroll=1)
        return loops

    def accumulation(self, stage: str) -> str:
        """How a stage accumulates; "private" where tiles do it by turns, or compute points twice."""
        member = self.member(stage)
        return "private" if member.private or member.copied else self.loops[stage].kind

    @property
    def why(self) -> str:
        """The reason, and how the stages of a tile run."""
        return self.reason if self.row_loop is None else f"{self.reason}; {self.row_loop}"

    def rows(self, member: Member, loops: LoopPlan) -> int:
        """The most rows of a stage in a tile that its blocks may be made of."""
        size = self.sizes[loops.block]
        some = min(self.rows_at_once, size) if loops.block == len(self.dims) - 1 else 0
        return member.points(loops.block, some or size)

    @property
    def at_one_place(self) -> set[tuple[str, str]]:
        """Pairs of stages whose scratchpads are one, in either order."""
        rooms: dict[str, list[str]] = {}
        for name, first in self.places.items():
            rooms.setdefault(first, [first]).append(name)
        return {pair for stages in rooms.values() for pair in permutations(stages, 2)}

    @property
    def is_numbered(self) -> bool:
        """Whether threads share all tiles by number, not the outermost loop: where these run in any order.

        The tiles of one thread may share what a sum over a tiled dimension adds into.
        """
        several = len(self.dims) > 1 or bool(self.nest)
        return several and not self.is_ordered

    @property
    def is_ordered(self) -> bool:
        """Whether tiles run in the order of their first dimension, or what they add needs them to."""
        ordered = self.rolling or self.backwards or self.crossing is not None
        return ordered or any(member.private for member in self.members)

    def pad_extent(self, member: Member, level: int) -> int:
        """Points that a scratchpad holds along a tiled dimension; a power of two where it is a ring."""
        if not (self.rolling and level == 0):
            return max(member.points(level, self.sizes[level]), 1)
        beside = self.kept.get(member.stage, sum(member.margins[0]))
        points = max((self.sizes[0] - 1 + beside) // member.scale(0) + 1, 1)
        return 1 << (points - 1).bit_length()

    @property
    def run_up(self) -> int:
        """How far before the first tile of a thread its rolling tiles begin: a whole number of tiles.

        There each stage computes what the first tile reads of it, so many points at a time as in any other.
        """
        if not self.rolling:
            return 0
        furthest = max(sum(member.margins[0]) for member in self.members)
        return -(-furthest // self.sizes[0]) * self.sizes[0]

    def __str__(self) -> str:
        tiles = ",".join(f"{self.dims[number]}:{size}" for number, size in self.levels)
        around = f" around register blocks of {', '.join(self.kernels)}" if self.kernels else ""
        return f"{'+'.join(self.group.stages)}: {'rolling ' if self.rolling else ''}tiles {tiles}{around}"


Plan = NestPlan | TilePlan
