"""Several reads at one computed place: what is the same for a row goes to pointers before its loop.

A loop that gathers takes the places out of vectors one by one.  Written so that several reads have one place,
and pointers that stay, it does so once for all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Block,
    Cast,
    CBinary,
    CExpr,
    CUnary,
    Declare,
    Evaluate,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
    always_evaluated,
    expressions,
    names_in,
    plus,
)
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import integer_of, is_element
from polymat.codegen.loops.innermost import straight_range, with_innermost
from polymat.dataclass import dataclass
from polymat.lang.types import ScalarType

LEAST = 2  # reads at one place
LEAST_BYTES = 4  # of elements that are gathered
ROW = "_pm_gathered"


def with_shared_places(statements: Sequence[Stmt], arrays: Mapping[str, ScalarType]) -> tuple[Stmt, ...]:
    """The statements with pointers before their innermost loops, where several reads have one place.

    arrays: element types, by name.

    before:  for j: y[j] = a[(i + 1) * n + p[j]] - a[i * n + p[j]]
    after:   b = &a[(i + 1) * n], c = &a[i * n];  for j: y[j] = b[p[j]] - c[p[j]]
    """
    wide = {name for name, dtype in arrays.items() if dtype.size >= LEAST_BYTES}
    return with_innermost(statements, lambda loop: _split(loop, wide, arrays))


@dataclass(frozen=True, slots=True)
class IndexSum:
    """A sum of a number, what is the same for all points of a loop, and multiples of what is not."""

    number: int
    same: CExpr | None
    varying: tuple[tuple[CExpr | None, CExpr], ...]

    def times(self, factor: CExpr) -> IndexSum:
        """The sum multiplied by what is the same for all points."""
        known = integer_of(factor)
        same: CExpr | None = None if self.same is None else CBinary("*", self.same, factor)
        if known is None and self.number:
            same = _added(same, CBinary("*", Literal(str(self.number)), factor))
        number = 0 if known is None else self.number * known
        varying = tuple(
            (factor if by is None else CBinary("*", by, factor), each) for by, each in self.varying
        )
        return IndexSum(number, same, varying)

    def plus(self, other: IndexSum) -> IndexSum:
        """The sum of both."""
        same = other.same if self.same is None else _added(self.same, other.same)
        return IndexSum(self.number + other.number, same, self.varying + other.varying)

    @property
    def place(self) -> CExpr:
        """The part that is not the same for all points, without the number."""
        terms = [each if by is None else CBinary("*", by, each) for by, each in self.varying]
        total = terms[0]
        for term in terms[1:]:
            total = CBinary("+", total, term)
        return total


def _added(one: CExpr | None, other: CExpr | None) -> CExpr | None:
    if one is None or other is None:
        return one or other
    return CBinary("+", one, other)


def _split(loop: For, wide: set[str], arrays: Mapping[str, ScalarType]) -> Stmt | None:
    if straight_range(loop) is None:
        return None
    varying = {loop.variable, *(item.name for item in loop.body if isinstance(item, Declare))}
    reads = dict.fromkeys(node for node in always_evaluated(loop.body) if _is_gathered(node, wide))
    all_sums = {read: index_sum(read.index, varying) for read in reads if isinstance(read, Subscript)}
    sums = {read: found for read, found in all_sums.items() if found.varying}
    places = Counter(each.place for each in sums.values())
    pointers: dict[tuple[CExpr, CExpr], str] = {}
    known: dict[CExpr, CExpr] = {}
    declared: list[Stmt] = []
    for read, each in sums.items():
        if each.same is None or places[each.place] < LEAST or _reads(each.same):
            continue
        key = (read.array, each.same)
        if key not in pointers:
            assert isinstance(read.array, Id), "an element is one of a named array"
            pointers[key] = f"{ROW}{len(pointers)}"
            ctype = f"const {arrays[read.array.name].c} *const"
            address = CUnary("&", Subscript(read.array, each.same))
            declared.append(Declare(ctype, pointers[key], address))
        known[read] = Subscript(Id(pointers[key]), plus(each.place, each.number))
    return Block((*declared, replace(loop, body=substituted(loop.body, known)))) if declared else None


def _reads(same: CExpr) -> bool:
    """Whether an element of an array is read, which is there for the points of the loop alone."""
    return any(isinstance(part, Subscript) for part in expressions([Evaluate(same)]))


def _is_gathered(node: CExpr, wide: set[str]) -> bool:
    if not is_element(node, wide):
        return False
    inner = expressions([Evaluate(node.index)])
    return any(isinstance(part, Cast) and part.within is not None for part in inner)


def index_sum(expr: CExpr, varying: set[str]) -> IndexSum:
    """An index as a sum of parts; varying: the names of what differs between points."""
    number = integer_of(expr)
    if number is not None:
        return IndexSum(number, None, ())
    if not names_in([Evaluate(expr)]) & varying:
        return IndexSum(0, expr, ())
    match expr:
        case CBinary("+", left, right):
            return index_sum(left, varying).plus(index_sum(right, varying))
        case CBinary("-", left, right) if (less := integer_of(right)) is not None:
            return index_sum(left, varying).plus(IndexSum(-less, None, ()))
        case CBinary("*", left, right) if not names_in([Evaluate(right)]) & varying:
            return index_sum(left, varying).times(right)
        case CBinary("*", left, right) if not names_in([Evaluate(left)]) & varying:
            return index_sum(right, varying).times(left)
        case _:
            return IndexSum(0, None, ((None, expr),))
