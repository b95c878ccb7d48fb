"""The plan of a recurrence in blocks of steps, whose products for later results are added block by block."""

from __future__ import annotations

from polymat.dataclass import dataclass
from polymat.graph.elimination import Elimination
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import OwnWay
from polymat.poly.lifespan import Folds
from polymat.product.blocks import Blocks

WITHIN = 4.0  # times slower than long vectors: loops over the few columns of a block


@dataclass(frozen=True, slots=True, eq=False)
class EliminationPlan(OwnWay):
    """A recurrence in blocks of `most` steps, each in halves down to `least` steps, which loops compute.

    Behind each half what its steps add to the results of the other half is one product, and behind each block
    what it adds to all later results.  Both lengths are powers of two.

    loops: the plan of all steps in loops, whose order a block has too.  places: of its values.
    by_rows: what does not wait of rows beyond those steps is computed row after row, each in all steps.
    band: so many rows behind a block go through all of its steps together.
    relative: the time of an operation where all threads share the work, in units of that in a vectorised
    loop; alone: where one thread does it.  bytes: moved between the caches and where the array lives.
    """

    elimination: Elimination
    loops: LoopPlan
    blocks: Blocks
    least: int
    most: int
    places: Folds
    by_rows: bool
    band: int
    relative: float
    alone: float
    bytes: float

    @property
    def by_definition(self) -> bool:
        """A block of steps passes over the results once, which models of loops do not know."""
        return False

    @property
    def is_unrolled(self) -> bool:
        """Loops over a few steps are unrolled by the compiler."""
        return False

    @property
    def moved(self) -> float | None:
        """Bytes to and from where its array lives, by blocks."""
        return self.bytes

    def slowdown(self, threads: int) -> float:
        """How many times slower than in a vectorised loop an operation is, on one thread or on all."""
        return self.alone if threads == 1 else self.relative
