"""What every plan of a group, and every way of computing one stage, has in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from polymat.dataclass import dataclass
from polymat.graph.aligned import Member
from polymat.graph.group import Group
from polymat.graph.stage import Stage
from polymat.plan.tileloops import RowLoop
from polymat.poly.trailing import Trail


class GroupPlan:
    """Answers that plans of one stage and plans of tiles have in common, where they do not say otherwise."""

    __slots__ = ()

    def member(self, stage: str) -> Member | None:
        """How a stage lies in the tiles; None where there are none."""
        del stage
        return None

    @property
    def scratch(self) -> tuple[str, ...]:
        """Stages whose values a tile keeps in scratchpads, producers first."""
        return ()

    @property
    def row_loop(self) -> RowLoop | None:
        """The one loop over rows that all stages of a tile run in, where they do."""
        return None

    @property
    def absorbed(self) -> tuple[str, ...]:
        """Stages of the group that it computes along with others, and that have no values anywhere."""
        return ()

    @property
    def read_back(self) -> tuple[str, ...]:
        """Stages whose values are written, and read from the cache by the others: none."""
        return ()

    @property
    def is_unrolled(self) -> bool:
        """Whether all its loops are unrolled as they are written, so that the compiler need not do it."""
        return False

    @property
    def at_few_points(self) -> frozenset[str]:
        """Stages of which few points are computed, whose operations do not count."""
        return frozenset()

    @property
    def by_definition(self) -> bool:
        """Whether it computes the sums as they are defined, so that models of loops say what it moves."""
        return True

    @property
    def counts_as_defined(self) -> bool:
        """Whether its operations are those of the definitions."""
        return True

    @property
    def routines(self) -> tuple[str, ...]:
        """The library routines that it calls, without the letter of the type."""
        return ()

    @property
    def computed_by(self) -> tuple[str, ...]:
        """The words of `Call` in a scheme: these routines, or a way of ours by name; none for loops."""
        return self.routines

    @property
    def library(self) -> Literal["blas", "fft", ""]:
        """The library that computes all of it, as in `Options`; empty for code of our own."""
        return ""

    @property
    def moved(self) -> float | None:
        """Bytes to and from where the arrays live, of plans that know them; None where each array says it."""
        return None

    @property
    def added_to(self) -> tuple[str, ...]:
        """Stages whose results are set to their first terms, and then read and written once more."""
        return ()

    @property
    def copied_first(self) -> frozenset[str]:
        """Arrays that it copies while it does not compute, so that neither hides the other."""
        return frozenset()

    @property
    def numbered(self) -> int:
        """Dimensions that tiles run through in the order of memory."""
        return 0

    @property
    def kernels(self) -> tuple[str, ...]:
        """Of tiles the stages that register blocks compute in each."""
        return ()

    @property
    def trailing(self) -> Trail | None:
        """How outermost iterations overlap that threads take by turns; None: they do not."""
        return None

    @property
    def read_late(self) -> frozenset[str]:
        """Arrays that are read once the result has its start values."""
        return frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class NestPlan(GroupPlan):
    """How one stage is computed over run-time ranges of its dimensions: loops, or one of the other ways.

    group: the stage, also where it is one of several in a tile.  kind: the way in one word, as `explain()`
    shows it.  order: loop dimensions, outermost first.  parallel: the dimension whose range is shared out to
    threads when the stage is by itself; None: the stage runs on the calling thread.  vector: a dimension or
    None.  reason: why, in words.

    To add a way: a frozen subclass with what it needs beside this; a function `NestMaker` in code generation
    that writes the C function of such a plan, entered in `lower.MAKERS`; a place among the `Candidates`; and
    its predicted seconds in `plan_cost`.  Such a plan may stand wherever a `LoopPlan` may: by itself, or in
    `TilePlan.loops`, where it computes its stage's part of a tile.
    """

    group: Group
    kind: str
    order: tuple[str, ...]
    parallel: str | None
    vector: str | None
    reason: str

    @property
    def members(self) -> tuple[Member, ...]:
        """The stages of a tile; a plan of this kind has no tiles."""
        return ()

    @property
    def hidden(self) -> frozenset[str]:
        """Stages of the group whose values nobody else can read."""
        return frozenset(self.absorbed)

    @property
    def is_shared(self) -> bool:
        """Whether threads share the work."""
        return self.parallel is not None

    @property
    def beside(self) -> tuple[str, ...]:
        """Dimensions beside the parallel one whose ranges are given at run time: none."""
        return ()

    @property
    def by_blocks(self) -> bool:
        """Whether register blocks or a library compute it: at their speed, in an order of their own.

        They choose the order of their sums by the shape that they are given; loops compute an element the
        same way in any piece.
        """
        return True

    @property
    def is_own_code(self) -> bool:
        """Whether a call of it with small sizes needs no library, team or memory beyond its arrays."""
        return False

    @property
    def jammed(self) -> int:
        """Iterations of its outermost loop that run together."""
        return 1

    @property
    def summary(self) -> str:
        """How the group would be carried out, in a few words."""
        calls = ", ".join(self.routines)
        return f"calls of {calls}" if calls else f"{self.kind} loops"

    @property
    def why(self) -> str:
        """The reason for it, in words."""
        return self.reason

    @property
    def shown_order(self) -> tuple[str, ...]:
        """The loops that the code has."""
        return self.order

    @property
    def shown_vector(self) -> str | None:
        """The loop that runs in vectors."""
        return self.vector

    @property
    def tile_sizes(self) -> Mapping[str, int]:
        """Sizes of tiles by dimension: none."""
        return {}

    @property
    def inside(self) -> Mapping[str, tuple[str, ...]]:
        """The loops of each stage within a tile: none."""
        return {}

    def part(self, stage: str) -> NestPlan:
        """The plan of one of the stages of the group."""
        del stage
        return self

    def accumulation(self, stage: str) -> str:
        """How a stage accumulates, as `kind` says it of loops; "private" where not point by point."""
        del stage
        return self.kind

    def slowdown(self, threads: int) -> float:
        """How many times slower than in a vectorised loop an operation is, on one thread or on all."""
        del threads
        return 1.0

    def __str__(self) -> str:
        text = f"{'+'.join(self.group.stages)}: {self.kind} {','.join(self.order) or '-'}"
        text += f" omp({self.parallel})" if self.parallel else ""
        return text + (f" simd({self.vector})" if self.vector else "")


class OwnWay(NestPlan):
    """A way of ours that no loops of a scheme can say: schemes call it by its name."""

    __slots__ = ()

    @property
    def computed_by(self) -> tuple[str, ...]:
        """The way, as one word."""
        return (self.kind.replace(" ", "_"),)


@dataclass(frozen=True, slots=True, eq=False)
class FlatPlan(NestPlan):
    """How a group is computed as the one stage that it amounts to.

    stage: that one, a sum that all stages of the group are put into.  within: those that have no array.
    relative: the time of an operation, in units of that in a vectorised loop, where all threads share the
    work.  alone: the same where one thread does it.
    """

    stage: Stage
    within: tuple[str, ...]
    relative: float
    alone: float

    @property
    def absorbed(self) -> tuple[str, ...]:
        """Stages of the group that it computes along with the last one, and that have no array."""
        return self.within

    def slowdown(self, threads: int) -> float:
        """How many times slower than in a vectorised loop an operation is, on one thread or on all."""
        return self.alone if threads == 1 else self.relative


@dataclass(frozen=True, slots=True, eq=False)
class MergedPlan(FlatPlan):
    """A product with what scales it and adds to it, as one contraction; inner: its plan."""

    inner: NestPlan

    @property
    def is_own_code(self) -> bool:
        """Whether the contraction is computed so."""
        return self.inner.is_own_code

    @property
    def beside(self) -> tuple[str, ...]:
        """Those of the product."""
        return self.inner.beside

    def __str__(self) -> str:
        return str(self.inner)
