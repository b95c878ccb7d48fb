"""The plan of a contraction around register blocks: by itself, in tiles, or within an epilogue."""

from __future__ import annotations

from polymat.dataclass import dataclass
from polymat.machine.producttimes import Ratios
from polymat.plan.nest import NestPlan
from polymat.product.blocks import Blocks
from polymat.product.contraction import Contraction
from polymat.product.pairs import Pairs
from polymat.product.scheme import Scheme
from polymat.product.ways import Way


@dataclass(frozen=True, slots=True, eq=False)
class KernelPlan(NestPlan):
    """A contraction as products of matrices around a register block.

    way: how it is computed at the sizes that are assumed.
    streamed: bytes of the result above which it is written past the caches (0: never).
    handed: whether readers are handed each part of the result that is complete.
    ended: whether the reader is computed in registers, before results are stored.
    pairs: the complex products that the contraction computes as real ones, where it does.
    packed_depth: in how deep pieces the right operand is packed before the tiles that compute some rows each,
    once for all of them; 0: it is not.
    measured: by what whole products took longer than predicted, where they were timed.
    across: the dimension that threads share beside the parallel one, in a grid; None: that one alone.
    """

    contraction: Contraction
    blocks: Blocks
    scheme: Scheme
    way: Way
    streamed: int = 0
    handed: bool = False
    ended: bool = False
    pairs: tuple[Pairs, ...] = ()
    packed_depth: int = 0
    measured: Ratios | None = None
    across: str | None = None

    @property
    def beside(self) -> tuple[str, ...]:
        """The one that threads share as well."""
        return () if self.across is None else (self.across,)

    @property
    def is_unrolled(self) -> bool:
        """Register blocks are."""
        return True

    @property
    def is_own_code(self) -> bool:
        """Register blocks alone, that take small sizes as they are."""
        return True

    @property
    def element_bytes(self) -> int:
        """Size of the elements that register blocks multiply."""
        return self.blocks.vector_bytes // self.blocks.lanes

    def __str__(self) -> str:
        return f"{'+'.join(self.group.stages)}: {self.kind} {self.scheme}"
