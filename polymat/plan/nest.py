"""What every way of computing one stage has in common."""

from __future__ import annotations

from dataclasses import dataclass

from polymat.graph.group import Group
from polymat.graph.stage import Stage


@dataclass(frozen=True, slots=True, eq=False)
class NestPlan:
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
    def absorbed(self) -> tuple[str, ...]:
        """Stages of the group that it computes along with the last one, and that have no array."""
        return ()

    @property
    def routines(self) -> tuple[str, ...]:
        """The library routines that it calls, without the letter of the type."""
        return ()

    def slowdown(self, threads: int) -> float:
        """How many times slower than in a vectorised loop an operation is, on one thread or on all."""
        del threads
        return 1.0

    def __str__(self) -> str:
        text = f"{'+'.join(self.group.stages)}: {self.kind} {','.join(self.order) or '-'}"
        text += f" omp({self.parallel})" if self.parallel else ""
        return text + (f" simd({self.vector})" if self.vector else "")


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

    def __str__(self) -> str:
        return str(self.inner)
