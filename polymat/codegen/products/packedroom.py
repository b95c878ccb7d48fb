"""Memory for the packed operands of products, and sizes at which none is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, Literal, Ternary
from polymat.codegen.memory.pads import Limits, Pad, most
from polymat.dataclass import dataclass
from polymat.lang.affine import Affine
from polymat.product.blocks import Blocks
from polymat.product.contraction import Contraction
from polymat.product.ways import COPIES_NOTHING


@dataclass(frozen=True, slots=True)
class PackedRoom:
    """Room for a packed block of either operand of one product.

    suffix: of the type of the elements.  is_plain: small operands are multiplied where they are.
    size: gives the C value of a form over the sizes.
    """

    found: Contraction
    blocks: Blocks
    suffix: str
    is_plain: bool
    size: Callable[[Affine], CExpr]

    def bytes(self) -> CExpr:
        """How many; 0 where the product needs no packing."""
        blocks, found = self.blocks, self.found
        sizes = (blocks.kc, blocks.nc, blocks.small if self.is_plain else 0)
        arguments = (
            self._count((found.rows, *found.more_rows), blocks.rows),
            self._count((found.columns, *found.more_columns), blocks.columns),
            self._count((found.depth, *found.sums), 0),
            *(Literal(f"{float(size)}") for size in sizes),
        )
        return CCall(f"_pm_room_{self.suffix}", arguments)

    def _count(self, dims: Sequence[str], rounding: int) -> CExpr:
        number: CExpr = CCall("_pm_extent", (self.size(self.found.extent(dims[0]) + rounding),))
        for dim in dims[1:]:
            number = CBinary("*", number, CCall("_pm_extent", (self.size(self.found.extent(dim)),)))
        return number

    def is_spared(self, limits: Limits) -> bool:
        """Whether nothing is packed at any sizes between these limits: then there is no room for it."""
        found, blocks = self.found, self.blocks
        rows, columns, depth = (
            most(found.extent(dim), limits) for dim in (found.rows, found.columns, found.depth)
        )
        rows = (rows + blocks.rows) * prod(most(found.extent(dim), limits) for dim in found.more_rows)
        extents = {"m": rows, "n": columns + blocks.columns, "k": depth}
        return self.is_plain and COPIES_NOTHING.holds({**extents, "rows": blocks.rows, "small": blocks.small})


def packed_pad(name: str, ctype: str, rooms: Sequence[PackedRoom]) -> Pad:
    """The packed operands, of one product after the other where several are added up."""
    room, *others = (each.bytes() for each in rooms)
    for other in others:
        room = Ternary(CBinary(">", room, other), room, other)
    return Pad(name, ctype, room, lambda limits: all(each.is_spared(limits) for each in rooms))
