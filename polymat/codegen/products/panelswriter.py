"""Products of some rows at a time by a right operand that is packed before (`products/panels.h`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import CCall, CExpr, Id, Literal
from polymat.codegen.loops.nestfunction import Ahead
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.memory.pads import Pad
from polymat.codegen.products.contractionwriter import NULL, ZERO, ContractionWriter
from polymat.graph.stage import Stage
from polymat.plan.kernel import KernelPlan


class PanelsWriter(ContractionWriter):
    """Writes the nest of a product that tiles compute some rows of, and what is packed before them."""

    function = "_pm_gemm_panels"

    def __init__(
        self,
        writer: StageWriter,
        stage: Stage,
        plan: KernelPlan,
        along: Sequence[str | None],
        number: int = 1,
    ) -> None:
        super().__init__(writer, stage, plan, along, number)
        self.shape = replace(self.shape, panels=True)

    @property
    def depth(self) -> int:
        """The most depth of a panel."""
        return self.plan.packed_depth

    def right(self) -> tuple[CExpr, CExpr, CExpr]:
        """Nothing: the right operand is read in panels."""
        return NULL, ZERO, ZERO

    def ahead(self) -> tuple[Ahead, ...]:
        """The right operand in panels."""
        found, suffix, dims = self.found, self.shape.suffix, (self.found.columns, self.found.depth)
        lengths, room = (
            map(self.length, dims),
            [CCall("_pm_extent", (self.size(found.extent(dim)),)) for dim in dims],
        )
        arguments = (*lengths, *super().right(), Literal(str(self.depth)), Id(self.pad))
        most = CCall(f"_pm_panels_room_{suffix}", (*room, Literal(f"{float(self.depth)}")))
        return (Ahead(Pad(self.pad, self.dtype.c, most), f"_pm_pack_panels_{suffix}", arguments),)
