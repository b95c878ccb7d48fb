"""Shapes that meet element by element: dimensions are aligned at the last one, those of extent 1 repeated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from polymat.errors import ShapeError, caller_location
from polymat.lang.affine import Affine
from polymat.lang.algebra import Shape, described, extents_hint
from polymat.lang.expr import Expr, Variable
from polymat.lang.function import Source

ONE = Affine((), 1)
_Owned = tuple[Affine, Source]  # an extent, and the operand that it is of


def broadcast_shape(operands: Iterable[Source | Expr], operation: str) -> Shape:
    """The shape of a result; what has no dimensions counts for nothing.

    What an extent is declared as counts, not what it happens to be in a call: N is repeated for no N.
    """
    return joined(((each.shape, each) for each in operands if isinstance(each, Source)), operation)


def joined(shapes: Iterable[tuple[Shape, Source]], operation: str) -> Shape:
    """The shape in which all of some shapes, each of an operand, are repeated."""
    found: list[_Owned] = []
    for shape, source in shapes:
        own = [(extent, source) for extent in shape]
        rank = max(len(found), len(own))
        pairs = zip(_filled(found, rank, source), _filled(own, rank, source), strict=True)
        found = [_met(*pair, operation) for pair in pairs]
    return tuple(extent for extent, _ in found)


def _filled(extents: list[_Owned], rank: int, source: Source) -> list[_Owned]:
    return [(ONE, source)] * (rank - len(extents)) + extents


def _met(one: _Owned, other: _Owned, operation: str) -> _Owned:
    if other[0] in (ONE, one[0]):
        return one
    if one[0] == ONE:
        return other
    left, right = one[1], other[1]
    raise ShapeError(
        f"{operation}: {described(left)} and {described(right)} do not fit: "
        f"extents {one[0]} and {other[0]} differ",
        at=caller_location(),
        hint=_hint(left, right) or extents_hint(one[0], other[0]),
    )


def _hint(left: Source, right: Source) -> str:
    if left.rank == right.rank == 2 and left.shape == right.shape[::-1]:
        label = right.label
        return f"did you mean {label.removesuffix('.T') if label.endswith('.T') else f'{label}.T'}?"
    for vector, matrix in ((left, right), (right, left)):
        if vector.rank == 1 and matrix.rank > 1 and vector.shape[0] == matrix.shape[-2]:
            return f"did you mean {vector.label}[:, None], a column?"
    return ""


def element(operand: Source | Expr, shape: Shape, at: Sequence[Variable]) -> Expr:
    """The element of an operand that is read at indices of a result of some shape."""
    if not isinstance(operand, Source):
        return operand
    return operand(*repeated(operand.shape, shape, at))


def repeated(own: Shape, shape: Shape, at: Sequence[Any]) -> list[Any]:
    """The indices of an operand at those of a result: 0 where one element stands for all."""
    skipped = len(shape) - len(own)
    pairs = zip(own, shape[skipped:], at[skipped:], strict=True)
    return [Affine() if extent == ONE != whole else index for extent, whole, index in pairs]
