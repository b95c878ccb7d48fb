"""Triangles of contractions: sums, or results, on one side of a diagonal."""

from __future__ import annotations

from typing import Literal

from polymat.dataclass import dataclass
from polymat.graph.term import Term
from polymat.lang.affine import Affine
from polymat.poly.domain import Domain

Place = Literal["left", "right", "result"]


@dataclass(frozen=True, slots=True)
class Triangle:
    """The points of a contraction's box with `across < line + shift` (before) or `across >= line + shift`.

    place: of which matrix it is a triangle.  line, across: of the left operand its rows and the depth, of the
    right one its columns and the depth, of the result its rows and its columns.
    """

    place: Place
    line: str
    across: str
    before: bool
    shift: int

    @property
    def rest(self) -> Triangle:
        """The other points of the box."""
        return Triangle(self.place, self.line, self.across, not self.before, self.shift)

    @property
    def condition(self) -> Affine:
        """The affine form that is not negative at the points of the triangle."""
        difference = Affine.name(self.line) - Affine.name(self.across) + self.shift
        return difference - 1 if self.before else -difference

    def __str__(self) -> str:
        relation = "<" if self.before else ">="
        return f"{self.across} {relation} {Affine.name(self.line) + self.shift}"


def triangle_of(
    term: Term, box: Domain, context: Domain, rows: str, columns: str, depth: str
) -> Triangle | None:
    """The triangle of the box that a term is summed over, with its diagonal or not; None where it is none."""
    here = term.domain.assume(context)
    pairs: tuple[tuple[Place, str, str], ...] = (
        ("left", rows, depth),
        ("right", columns, depth),
        ("result", rows, columns),
    )
    for place, line, across in pairs:
        for before in (True, False):
            for shift in (0, 1):
                found = Triangle(place, line, across, before, shift)
                if here.equals(box.at_least_zero([found.condition])):
                    return found
    return None
