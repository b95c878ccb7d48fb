"""The loops and copies of a scheme, outermost first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, Declare, For, Id, Literal, Stmt, plus
from polymat.codegen.c.needs import MIN_I64, Need
from polymat.codegen.products.schemecopies import CopyWriter
from polymat.codegen.products.schemeplace import LoopPlace, Span
from polymat.product.scheme import Atom, Pack, SchemeLoop, Sequence2

Inside: TypeAlias = Callable[[Sequence[Atom], LoopPlace], tuple[Stmt, ...]]
"""Writes what the loops around leave to the atoms that are left."""


class SchemeLoops:
    """Writes loops around what a block writer adds; names are given out once in a C function."""

    def __init__(self, copies: CopyWriter, needs: set[Need]) -> None:
        self.copies, self.needs = copies, needs
        self._named = 0

    def fresh(self, what: str) -> str:
        """A name of the C function that no other has."""
        self._named += 1
        return f"_pm_{what}{self._named}"

    def around(self, atoms: Sequence[Atom], count: int, place: LoopPlace, inside: Inside) -> tuple[Stmt, ...]:
        """The loops and copies of so many atoms, the first ones, around what is written of the others."""
        if count == 0:
            return inside(atoms, place)
        first, *rest = atoms
        if isinstance(first, Pack):
            statements, place = self.copies.copy(first, rest, place, self.fresh)
            return (*statements, *self.around(rest, count - 1, place, inside))
        span, further = place.spans[first.dim], _next(rest, first.dim)
        if isinstance(further, Sequence2) and not first.size:
            return self._two_sizes(
                further, rest, place, lambda new, at: self.around(new, count - 1, at, inside)
            )
        step = first.size or (further.size if further else 1)
        return self._loop(
            first.dim, span, step, lambda left: self.around(rest, count - 1, left, inside), place
        )

    def _two_sizes(
        self, pair: Sequence2, rest: Sequence[Atom], place: LoopPlace, inside: Inside
    ) -> tuple[Stmt, ...]:
        """Blocks of the larger size, then those of the smaller."""
        span, middle = place.spans[pair.dim], self.fresh("middle")
        size, smaller = pair.size, pair.size - pair.unit
        declared, points = self._of_larger(pair, span)

        def part(begin: CExpr, end: CExpr, points: int, *, whole: bool) -> tuple[Stmt, ...]:
            block = SchemeLoop("U", pair.dim, points)
            atoms = [block if atom == pair else atom for atom in rest]
            span = Span(begin, end, None, Literal(str(points)))
            return self._loop(pair.dim, span, points, lambda left: inside(atoms, left), place, whole=whole)

        return (
            *declared,
            Declare("const ptrdiff_t", middle, CBinary("+", span.begin, points)),
            *part(span.begin, Id(middle), size, whole=True),
            *part(Id(middle), span.end, smaller, whole=bool(pair.counts)),
        )

    def _of_larger(self, pair: Sequence2, span: Span) -> tuple[tuple[Stmt, ...], CExpr]:
        """The points in larger blocks, behind what that is computed with: as few as make both fill a span."""
        size, unit = Literal(str(pair.size)), Literal(str(pair.unit))
        if pair.counts:
            return (), Literal(str(pair.counts[0] * pair.size))
        count = self.fresh("count")
        blocks = CBinary("/", CBinary("+", span.count, Literal(str(pair.size - 1))), size)
        missing = CBinary("-", CBinary("*", Id(count), size), span.count)
        fewer = CBinary("/", CBinary("+", missing, Literal(str(pair.unit - 1))), unit)
        self.needs.add(MIN_I64)
        larger = CBinary("-", Id(count), CCall(MIN_I64.function, (Id(count), fewer)))
        return (Declare("const ptrdiff_t", count, blocks),), CBinary("*", larger, size)

    def _loop(
        self,
        dim: str,
        span: Span,
        step: int,
        inside: Callable[[LoopPlace], tuple[Stmt, ...]],
        place: LoopPlace,
        *,
        whole: bool = False,
    ) -> tuple[Stmt, ...]:
        """A loop in steps, the last of which may be shorter where they are not known to be whole."""
        if span.length == step:
            return inside(place)
        at = Id(self.fresh("at"))
        if whole or step == 1 or (span.length is not None and span.length % step == 0):
            body = inside(place.along(dim, Span.of(at, step)))
        else:
            self.needs.add(MIN_I64)
            end, size = Id(self.fresh("past")), Literal(str(step))
            limit = CCall(MIN_I64.function, (plus(at, step), span.end))
            left = place.along(dim, Span(at, end, None, size))
            body = (Declare("const ptrdiff_t", end.name, limit), *inside(left))
        return (For(at.name, span.begin, CBinary("<", at, span.end), Literal(str(step)), body),)


def _next(rest: Sequence[Atom], dim: str) -> SchemeLoop | Sequence2 | None:
    """The next atom of a dimension that says how many points it takes."""
    own = (atom for atom in rest if not isinstance(atom, Pack) and atom.dim == dim)
    return next((atom for atom in own if atom.size), None)
