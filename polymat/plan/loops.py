"""The plan of a stage as loop nests, by itself or in tiles, and how much slower than vectors they are."""

from __future__ import annotations

from polymat.dataclass import dataclass
from polymat.graph.planesbeside import Planes
from polymat.plan.nest import NestPlan
from polymat.poly.order import Order
from polymat.poly.trailing import Trail

# Times slower: sums of a recurrence or into computed places, each addition through memory (1 ns, Zen 5).
WAITING = 6.0
NO_BLOCK = 2.5  # times slower: sums that are not computed several rows at a time


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
    lines: iterations of the loop within the outermost one that run together with those of that; then what is
    read beside the points of a row is loaded, for vectors to come of as many rows have no registers.
    streamed: bytes of the result above which it is written past the caches (0: never).
    cut: parts of the parallel loop begin at multiples of so many iterations behind the first.
    within: dimensions beside the parallel one whose ranges are given at run time.
    turning: the name of a step: where that is odd, blocks of the outermost loop run from last to first.
    requests: bytes further on in its rows, or in those of the next block, that a block of sums asks for.
    planes: those of a map that all run at each point of the other dimensions.
    """

    recurrence: Order | None = None
    outwards: bool = False
    unroll: int = 1
    block: int = 0
    addends: int = 1
    ahead: int = 0
    lanes: int = 1
    terms: bool = False
    lines: int = 1
    streamed: int = 0
    cut: int = 1
    within: tuple[str, ...] = ()
    turning: str = ""
    requests: int = 0
    planes: Planes | None = None

    @property
    def walked(self) -> tuple[str, ...]:
        """Dimensions from the outermost loop on; that of planes that run together is before the innermost."""
        if self.planes is None:
            return self.order
        *outer, inner = (dim for dim in self.order if dim != self.planes.dim)
        return (*outer, self.planes.dim, inner)

    @property
    def beside(self) -> tuple[str, ...]:
        """Those that are within."""
        return self.within

    @property
    def by_blocks(self) -> bool:
        """Not at the speed and in the order of register blocks."""
        return False

    @property
    def is_own_code(self) -> bool:
        """A recurrence may need a team in its midst."""
        return self.kind != "recurrence"

    @property
    def trailing(self) -> Trail | None:
        """How outermost iterations of a recurrence overlap that threads take by turns; None: they do not."""
        return None if self.recurrence is None or self.parallel is None else self.recurrence.trailing

    @property
    def adds_up(self) -> bool:
        """Whether every result is a sum that is finished where it is begun, by itself or along a row."""
        return self.kind in ("reduce", "row")

    def slowdown(self, threads: int) -> float:
        """Sums without a block of rows wait for loads or for the addition before, others for a store."""
        del threads
        if self.recurrence is not None:
            levels = self.recurrence.loops
            return 1.0 if not levels or self.recurrence.parallel[levels[-1]] else WAITING
        if self.kind == "scatter":
            return WAITING
        return NO_BLOCK if self.adds_up and self.unroll == 1 and not self.terms else 1.0

    @property
    def jammed(self) -> int:
        """Iterations of its outermost loop that run together."""
        return self.unroll

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
