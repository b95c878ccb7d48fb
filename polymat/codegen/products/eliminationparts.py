"""What the C functions of a recurrence in blocks of steps have in common: their ranges and their memory."""

from __future__ import annotations

from polymat.codegen.c.ctree import (
    CBinary,
    CCall,
    CExpr,
    CParameter,
    CUnary,
    Declare,
    Evaluate,
    Id,
    Literal,
    Stmt,
)
from polymat.codegen.c.needs import MIN_I64
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.ranges import Range
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.memory.pads import Pad
from polymat.codegen.products.blockshape import Shape
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.plan.blockedsteps import EliminationPlan

ZERO, ONE, NULL = Literal("0"), Literal("1"), Literal("NULL")
FROM, TO, HALF, LIMIT = (
    "_pm_from",
    "_pm_to",
    "_pm_half",
    "_pm_limit",
)  # of a few steps, and of the half behind


def length(part: Range) -> CExpr:
    """How many steps, rows or columns a range has."""
    return CBinary("-", Id(part.end), Id(part.begin))


def smaller(one: CExpr, other: CExpr) -> CExpr:
    """The smaller of two indices."""
    return CCall(MIN_I64.function, (one, other))


def run(part: NestFunction, *limits: CExpr) -> Stmt:
    """Call a part with what all of them are given, and its limits."""
    return Evaluate(CCall(part.function.name, (*part.arguments, *limits)))


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

    @property
    def has_bands(self) -> bool:
        """Whether rows behind a block take all of its steps by themselves, a band of them after the other."""
        return self.plan.by_rows and None not in self.found.trailing.begins

    def size(self, form: Affine) -> CExpr:
        return self.writer.size(form)

    def begin(self, dim: int, end: CExpr) -> CExpr:
        """The first row (0) or column (1) that waits for the steps before `end`."""
        begin = self.found.trailing.begins[dim]
        if begin is None:
            return self.size(self.stage.box[1 + dim][0])
        by = begin - 1
        return end if by == 0 else CBinary("+" if by > 0 else "-", end, Literal(str(abs(by))))

    def end(self, dim: int) -> CExpr:
        """The end of all rows or columns."""
        return self.size(self.stage.box[1 + dim][1] + 1)

    def within(self, dim: int, end: CExpr) -> CExpr:
        """The first row or column that waits for the steps before `end`, or the end of all."""
        return smaller(self.begin(dim, end), self.end(dim))

    def other_half(self, first: CExpr, stop: CExpr) -> tuple[Stmt, ...]:
        """How many steps up to TO add to those that end at LIMIT, in a block from `first` to `stop`."""
        count = CBinary("-", Id(TO), first)
        return (
            Declare("const ptrdiff_t", HALF, CBinary("&", count, CUnary("-", count))),
            Declare("const ptrdiff_t", LIMIT, smaller(CBinary("+", Id(TO), Id(HALF)), stop)),
        )

    def pads(self) -> tuple[Pad, ...]:
        """The packed operands of the largest product, and copies of operands that are no elements."""
        blocks, (rows, columns) = self.plan.blocks, self.extents()
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

    def extents(self) -> tuple[CExpr, CExpr]:
        """How many rows and columns there are, never fewer than none."""
        row, column = (CCall("_pm_extent", (self.size(high - low + 1),)) for low, high in self.stage.box[1:])
        return row, column

    def pad_parameters(self) -> tuple[CParameter, ...]:
        return tuple(CParameter(f"{pad.ctype} *", pad.array) for pad in self.pads())
