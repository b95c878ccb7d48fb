"""The plan of a contraction in the loops of a scheme that the user wrote."""

from __future__ import annotations

from polymat.dataclass import dataclass
from polymat.plan.nest import NestPlan
from polymat.product.contraction import Contraction
from polymat.product.kernelfit import KernelUse
from polymat.product.scheme import Atom, Scheme


@dataclass(frozen=True, slots=True, eq=False)
class SchemePlan(NestPlan):
    """A contraction in the loops, copies and blocks that a scheme says, whatever they cost.

    scheme: as it was given.  atoms: those that loops are written from.  lanes: elements of a vector.
    called: the microkernel that computes whole blocks, if the scheme names one.
    """

    contraction: Contraction
    scheme: Scheme
    atoms: tuple[Atom, ...]
    lanes: int
    called: KernelUse | None = None

    @property
    def is_unrolled(self) -> bool:
        """Loops are unrolled where the scheme says so."""
        return True

    def __str__(self) -> str:
        return f"{'+'.join(self.group.stages)}: {self.kind} {self.scheme}"
