"""Products of some rows at a time by a right operand that is packed before (`products/panels.h`)."""

from __future__ import annotations

from polymat.codegen.c.ctree import CCall, CExpr, Id, Literal
from polymat.codegen.loops.nestfunction import Ahead
from polymat.codegen.memory.pads import Pad
from polymat.codegen.products.contractionwriter import NULL, ZERO, ContractionWriter


class PanelsWriter(ContractionWriter):
    """Writes the nest of a product that tiles compute some rows of, and what is packed before them."""

    function = "_pm_gemm_panels"

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
