"""Where copies of a statement for several rows read and write: elements that lie in a line, one a copy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from polymat.codegen.c.ctree import CBinary, CExpr, Id, Literal, Subscript, expressions, plus
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import index_terms, integer_of
from polymat.dataclass import dataclass

Form = tuple[tuple[object, ...], tuple[tuple[CExpr, int], ...], int]
"""An index: what is no number, the number that is multiplied by each stride, and the number alone."""


@dataclass(frozen=True, slots=True, eq=False)
class LaneRead:
    """The element of a copy each: the first one, and how far each lies behind the one before.

    array: that of all.  others: what else than numbers tells where.  rows: the numbers by which strides are
    multiplied, of the first element.  column: the number added.  row_step, column_step: how these change
    from copy to copy.
    """

    first: Subscript
    array: str
    others: tuple[object, ...]
    rows: tuple[tuple[CExpr, int], ...]
    column: int
    row_step: tuple[tuple[CExpr, int], ...]
    column_step: int

    @property
    def apart(self) -> CExpr:
        """How many elements lie between those of two copies."""
        total: CExpr | None = None
        for stride, step in self.row_step:
            far = stride if step == 1 else CBinary("*", Literal(str(step)), stride)
            total = far if total is None else CBinary("+", total, far)
        return Literal(str(self.column_step)) if total is None else plus(total, self.column_step)

    def at(self, columns: int, rows: int = 0) -> Subscript:
        """The element so many columns behind the first one, and so many copies."""
        index = self.first.index
        if rows:
            step = self.apart if abs(rows) == 1 else CBinary("*", Literal(str(abs(rows))), self.apart)
            index = CBinary("+" if rows > 0 else "-", index, step)
        return Subscript(self.first.array, plus(index, columns))


def lane_reads(values: Sequence[CExpr]) -> tuple[CExpr, tuple[LaneRead, ...]] | None:
    """Take copies of an expression apart: one of names `0`, `1` ..., and the elements that these stand for.

    None where they are not copies of one expression but for elements that lie in a line.
    """
    elements = [_elements(value) for value in values]
    if len({len(each) for each in elements}) > 1:
        return None
    shapes = [
        substituted(value, {element: Id(str(place)) for place, element in enumerate(each)})
        for value, each in zip(values, elements, strict=True)
    ]
    reads = [_in_line(copies) for copies in zip(*elements, strict=True)]
    found = tuple(read for read in reads if read is not None)
    same = all(shape == shapes[0] for shape in shapes[1:])
    return (shapes[0], found) if same and len(found) == len(reads) else None


def _elements(value: CExpr) -> list[Subscript]:
    return list(dict.fromkeys(each for each in expressions([value]) if isinstance(each, Subscript)))


def _in_line(copies: Sequence[Subscript]) -> LaneRead | None:
    first = copies[0]
    forms = [_form(each.index) for each in copies]
    if not isinstance(first.array, Id) or any(each.array != first.array for each in copies):
        return None
    others, rows, column = forms[0]
    strides = [stride for stride, _ in rows]
    steps = []
    for before, after in pairwise(forms):
        if after[0] != others or [stride for stride, _ in after[1]] != strides:
            return None
        moved = tuple(b - a for (_, a), (_, b) in zip(before[1], after[1], strict=True))
        steps.append((moved, after[2] - before[2]))
    if len(set(steps)) != 1:
        return None
    moves, column_step = steps[0]
    row_step = tuple((stride, step) for stride, step in zip(strides, moves, strict=True) if step)
    return LaneRead(first, first.array.name, others, rows, column, row_step, column_step)


def _form(index: CExpr) -> Form:
    """An index with its numbers apart: (8 * i + 3) * N + j - 2 has 3 of N, and -2."""
    others: list[object] = []
    rows: dict[CExpr, int] = {}
    column = 0
    for sign, term in index_terms(index):
        number = integer_of(term)
        if number is not None:
            column += sign * number
        elif isinstance(term, CBinary) and term.op == "*" and integer_of(term.left) is None:
            inner = [(s, each, integer_of(each)) for s, each in index_terms(term.left)]
            times = sum(s * each for s, _, each in inner if each is not None)
            rows[term.right] = rows.get(term.right, 0) + sign * times
            others += [(sign * s, each, term.right) for s, each, known in inner if known is None]
        else:
            others.append((sign, term))
    return tuple(sorted(others, key=repr)), tuple(sorted(rows.items(), key=repr)), column
