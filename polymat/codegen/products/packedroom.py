"""Memory for the packed operands of products, and sizes at which none is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, Literal, Ternary
from polymat.codegen.memory.pads import Limits, Pad, longest
from polymat.dataclass import dataclass
from polymat.lang.affine import Affine
from polymat.product.blocks import Blocks
from polymat.product.contraction import Contraction
from polymat.product.formula import Predicate
from polymat.product.ways import COPIES_NEAR, COPIES_NOTHING


@dataclass(frozen=True, slots=True)
class PackedRoom:
    """Room for a packed block of either operand of one product.

    suffix: of the type of the elements.  spared: where it needs none.
    size: gives the C value of a form over the sizes.
    """

    found: Contraction
    blocks: Blocks
    suffix: str
    spared: Predicate | None
    size: Callable[[Affine], CExpr]

    def bytes(self) -> CExpr:
        """How many; 0 where the product needs no packing."""
        blocks, found = self.blocks, self.found
        sizes = (blocks.kc, blocks.nc, 0 if self.spared is None else blocks.small)
        arguments = (
            self._count((found.rows, *found.more_rows), blocks.rows),
            self._count((found.columns, *found.more_columns), blocks.columns),
            self._count((found.depth, *found.sums), 0),
            *(Literal(f"{float(size)}") for size in sizes),
        )
        name = "_pm_room_near" if self.spared is COPIES_NEAR else "_pm_room"
        return CCall(f"{name}_{self.suffix}", arguments)

    def _count(self, dims: Sequence[str], rounding: int) -> CExpr:
        number: CExpr = CCall("_pm_extent", (self.size(self.found.extent(dims[0]) + rounding),))
        for dim in dims[1:]:
            number = CBinary("*", number, CCall("_pm_extent", (self.size(self.found.extent(dim)),)))
        return number

    def is_spared(self, limits: Limits) -> bool:
        """Whether nothing is packed at any sizes between these limits: then there is no room for it."""
        found, blocks = self.found, self.blocks
        rows, columns, depth = (
            longest(found.extent(dim), limits) for dim in (found.rows, found.columns, found.depth)
        )
        rows = (rows + blocks.rows) * prod(longest(found.extent(dim), limits) for dim in found.more_rows)
        extents = {"m": rows, "n": columns + blocks.columns, "k": depth}
        machine = {"rows": blocks.rows, "lanes": blocks.lanes, "small": blocks.small}
        return self.spared is not None and self.spared.holds({**extents, **machine})


def spared_where(found: Contraction, *, in_order: bool, handed: bool, ended: bool) -> Predicate | None:
    """Where small operands are multiplied where they are, or copied to where copies stay near; None: nowhere.

    in_order: rows of both operands are contiguous.  handed: parts of the result are handed to its readers.
    ended: these are computed in registers.
    """
    segments = found.more_columns or found.sums
    if not segments and found.triangle is None and in_order:
        return COPIES_NOTHING
    is_near = not (segments or found.more_rows or handed or (ended and found.triangle is not None))
    return COPIES_NEAR if is_near else None


def packed_pad(name: str, ctype: str, rooms: Sequence[PackedRoom]) -> Pad:
    """The packed operands, of one product after the other where several are added up."""
    room, *others = (each.bytes() for each in rooms)
    for other in others:
        room = Ternary(CBinary(">", room, other), room, other)
    return Pad(
        name, ctype, room, lambda limits: 0.0 if all(each.is_spared(limits) for each in rooms) else inf
    )
