"""The plan of a contraction together with the stages that read it point by point."""

from __future__ import annotations

from collections.abc import Mapping

from polymat.dataclass import dataclass
from polymat.plan.kernel import KernelPlan
from polymat.plan.nest import NestPlan


@dataclass(frozen=True, slots=True, eq=False)
class EpiloguePlan(NestPlan):
    """A contraction and the stages that read it point by point: bias, scale, ReLU, residual.

    They run one after the other on every few register blocks of the result as soon as these are complete.
    product, kernel: the contraction and its plan.  readers: the plans of the others, by stage, in order.
    within: the contraction, where its values live in the array of the last reader until that replaces them.
    in_registers: whether the one reader is computed on results before they are stored.
    across: the dimension of the readers that threads share beside the parallel one, as in `KernelPlan`.
    """

    product: str
    kernel: KernelPlan
    readers: Mapping[str, NestPlan]
    within: tuple[str, ...]
    in_registers: bool = False
    across: str | None = None

    @property
    def beside(self) -> tuple[str, ...]:
        """The one that threads share as well."""
        return () if self.across is None else (self.across,)

    @property
    def absorbed(self) -> tuple[str, ...]:
        """Stages of the group that have no array of their own."""
        return self.within

    @property
    def read_back(self) -> tuple[str, ...]:
        """The product, where it has an array of its own."""
        return () if self.product in self.within else (self.product,)

    def accumulation(self, stage: str) -> str:
        """The array of the last reader may hold another stage's values before its own."""
        del stage
        return "private" if self.absorbed else self.kind

    def part(self, stage: str) -> NestPlan:
        """The plan of one of the stages."""
        return self.kernel if stage == self.product else self.readers[stage]

    def __str__(self) -> str:
        return f"{self.kernel}, then {', '.join(self.readers)}"
