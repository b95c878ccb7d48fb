"""Where an element of an array lies: its index in row-major order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from polymat.codegen.c.ctree import CBinary, CExpr, Literal
from polymat.codegen.memory.storage import Buffer
from polymat.lang.affine import Affine

Size = Callable[[Affine], CExpr]


def place_of(buffer: Buffer, indices: Sequence[CExpr], size: Size) -> CExpr:
    """The row-major index of an element.  size: a form over the sizes in C."""
    total: CExpr = Literal("0")
    for k, (value, extent) in enumerate(zip(indices, buffer.extents, strict=True)):
        if buffer.is_single(k):
            continue
        value = _along(buffer, k, value, size)
        if k == 0:
            total = value
            continue
        product = CBinary("*", total, size(extent))
        total = value if total == Literal("0") else CBinary("+", product, value)
    return total


def _along(buffer: Buffer, k: int, value: CExpr, size: Size) -> CExpr:
    """Where an index is along a dimension of an array."""
    if buffer.origin[k] != Affine():
        value = CBinary("-", value, size(buffer.origin[k]))
    places = buffer.folds[k] if buffer.folds else None
    if places is not None and places & (places - 1):
        return CBinary("%", value, Literal(str(places)))
    if k == buffer.ring or places is not None:
        return CBinary("&", value, size(buffer.extents[k] - 1))
    return value
