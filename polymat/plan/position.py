"""The plan of an extreme together with its first place."""

from __future__ import annotations

from collections.abc import Mapping

from polymat.dataclass import dataclass
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import OwnWay


@dataclass(frozen=True, slots=True, eq=False)
class PositionPlan(OwnWay):
    """An extreme and where it is, in one pass over what is looked at.

    Of all points of a result ("blocks") the block that has the extreme is looked through again; of rows of
    results ("rows") the index of each is kept beside it.

    loops: the plan of each stage by itself.  relative: the time of an operation of both, in units of that in
    a vectorised loop.
    """

    loops: Mapping[str, LoopPlan]
    relative: float

    @property
    def by_blocks(self) -> bool:
        """Not at the speed and in the order of register blocks."""
        return False

    @property
    def by_definition(self) -> bool:
        """Arrays that both read are read once, which models of loops do not know."""
        return False

    @property
    def at_few_points(self) -> frozenset[str]:
        """The place, which is looked for in one block."""
        return frozenset(self.group.stages[1:] if self.kind == "blocks" else ())

    @property
    def is_own_code(self) -> bool:
        """Loops alone."""
        return True

    @property
    def summary(self) -> str:
        """How the group would be carried out, in a few words."""
        return f"an extreme with its place, by {self.kind}"

    def slowdown(self, threads: int) -> float:
        """How many times slower than in a vectorised loop an operation is."""
        del threads
        return self.relative
