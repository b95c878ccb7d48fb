"""Values of a loop along rows as vectors: elements that lie next to each other, and arithmetic on them."""

from __future__ import annotations

from collections.abc import Collection

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, CUnary, Evaluate, Id, names_in
from polymat.codegen.c.rows import RowTypes, read_of
from polymat.codegen.loops.accumulators import VECTORISED

SAME = "_pm_same"  # with a number: what all points of a row are computed with


class RowVectors:
    """Writes vectors of the values of a loop; arrays: those that have elements of their type.

    changing: the variables that the loop assigns to, which are the same for no row.
    """

    def __init__(
        self, types: RowTypes, variable: str, arrays: Collection[str], changing: frozenset[str]
    ) -> None:
        self.types, self.variable, self.arrays = types, variable, arrays
        self.changing = changing | {variable}
        self._same: dict[CExpr, str] = {}

    @property
    def same(self) -> tuple[tuple[str, CExpr], ...]:
        """Scalars that written vectors are computed with, the same for the whole row, by name."""
        return tuple((name, value) for value, name in self._same.items())

    def of(self, value: CExpr) -> CExpr | None:
        """The vector that begins at a value; None where that is something else than arithmetic on elements.

        before:  x[k] * (1.0f / m)
        after:   _pm_row_load_f32(&x[k]) * _pm_same_0
        """
        match value:
            case CBinary("+" | "-" | "*" | "/" as op, left, right):
                one, other = self._side(left), self._side(right)
                if one is None or other is None or (isinstance(one, Id) and isinstance(other, Id)):
                    return None
                return CBinary(op, one, other)
            case CUnary("-", inner):
                vector = self.of(inner)
                return None if vector is None else CUnary("-", vector)
            case CCall(function, (inner,)) if function in VECTORISED:
                vector = self.of(inner)
                return None if vector is None else CCall(f"_pm_row_abs_{self.types.suffix}", (vector,))
            case _:
                read = read_of(value, self.variable)
                return None if read is None or read.array not in self.arrays else self.types.load(value)

    def _side(self, value: CExpr) -> CExpr | None:
        """A vector, or the name of what is the same for the whole row."""
        if self.changing.isdisjoint(names_in([Evaluate(value)])):
            return Id(self._same.setdefault(value, f"{SAME}_{len(self._same)}"))
        return self.of(value)
