"""What the C functions of a recurrence in blocks of steps have in common: their ranges and their memory."""

from __future__ import annotations

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, CParameter, Id, Literal
from polymat.codegen.loops.ranges import Range
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.memory.pads import Pad
from polymat.codegen.products.blockshape import Shape
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.plan.blockedsteps import EliminationPlan

ZERO, ONE, NULL = Literal("0"), Literal("1"), Literal("NULL")


def length(part: Range) -> CExpr:
    """How many steps, rows or columns a range has."""
    return CBinary("-", Id(part.end), Id(part.begin))


class EliminationParts:
    """Writes parts of the nest of one recurrence.

    steps, rows, columns: the ranges of its helpers, given at run time.  copied: the names of the copies of
    both operands; None of one whose elements lie in an array.
    """

    def __init__(self, writer: StageWriter, stage: Stage, plan: EliminationPlan) -> None:
        self.writer, self.stage, self.plan, self.found = writer, stage, plan, plan.elimination
        self.steps, self.rows, self.columns = (Range(k, *stage.box[k]) for k in range(3))
        blocks, shape = plan.blocks, self.found.trailing.triangle
        block = (blocks.vector_bytes, blocks.rows, blocks.vectors)
        self.shape = Shape(stage.dtype.suffix, *block, halves=shape is not None)
        self.packed = f"_pm_packed_{stage.name}"
        self.copied = [
            None if side.single is not None else f"_pm_{name}_of_{stage.name}"
            for name, side in (("left", self.found.left), ("right", self.found.right))
        ]

    def size(self, form: Affine) -> CExpr:
        return self.writer.size(form)

    def pads(self) -> tuple[Pad, ...]:
        """The packed operands of the largest product, and copies of operands that are no elements."""
        blocks, (rows, columns) = self.plan.blocks, self._extents()
        sizes = tuple(Literal(f"{float(size)}") for size in (blocks.kc, blocks.nc, blocks.small))
        high = CBinary("+", rows, Literal(str(blocks.rows)))
        wide = CBinary("+", columns, Literal(str(blocks.columns)))

        def room(steps: int) -> CExpr:
            return CCall(f"_pm_room_{self.shape.suffix}", (high, wide, Literal(f"{float(steps)}"), *sizes))

        # Strips and panels of less depth are more at a time.
        most = CBinary("+", room(self.plan.most), room(self.plan.least))
        found = [Pad(self.packed, self.stage.dtype.c, most)]
        for name, extent in zip(self.copied, (rows, columns), strict=True):
            if name is not None:
                each = Literal(f"{float(self.plan.most * self.stage.dtype.size)}")
                found.append(Pad(name, self.stage.dtype.c, CBinary("*", each, extent)))
        return tuple(found)

    def _extents(self) -> tuple[CExpr, CExpr]:
        row, column = (CCall("_pm_extent", (self.size(high - low + 1),)) for low, high in self.stage.box[1:])
        return row, column

    def pad_parameters(self) -> tuple[CParameter, ...]:
        return tuple(CParameter(f"{pad.ctype} *", pad.array) for pad in self.pads())
