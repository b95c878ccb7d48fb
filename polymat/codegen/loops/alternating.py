"""Parts of a stage that take turns along a dimension, as the even and the odd points of an image do.

Each part by itself writes every other element, for which there are no vector stores.  In one loop all of them
are written, and `split_by_remainder` has whole blocks of it choose nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from polymat.codegen.c.ctree import CBinary, CExpr, Literal
from polymat.lang.expr import Expr
from polymat.poly.domain import Domain
from polymat.poly.residues import remainder, taking_turns

PERIODS = (2, 4, 8)  # of which a remainder is some of an index's bits; blocks are not longer
Piece = tuple[Domain, tuple[Expr, ...]]


def joined_turns(pieces: Sequence[Piece], dim: str) -> list[Piece]:
    """The pieces with those that take turns along a dimension in one, and the value for each remainder.

    before:  (i even: a), (i odd: b)
    after:   (all i: a, b)
    """
    found = [remainder(domain, dim) if len(pieces) > 1 else None for domain, _ in pieces]
    made: list[Piece] = []
    used: set[int] = set()
    for k, (known, piece) in enumerate(zip(found, pieces, strict=True)):
        if k in used:
            continue
        period = known[0] if known is not None else 0
        others = _turns(pieces, found, k, period, dim) if period in PERIODS else None
        if others is None:
            made.append(piece)
            continue
        domain, members = others
        used.update(members)
        made.append((domain, tuple(pieces[member][1][0] for member in members)))
    return made


def _turns(
    pieces: Sequence[Piece], found: Sequence[tuple[int, int] | None], first: int, period: int, dim: str
) -> tuple[Domain, tuple[int, ...]] | None:
    """The set of which a piece and others hold the points in turn, and these in the order of remainders."""
    places = [[k for k, known in enumerate(found) if known == (period, rest)] for rest in range(period)]
    mine = next(rest for rest, place in enumerate(places) if first in place)
    # Parts that belong together are written one after the other, each remainder as often as all others.
    number = places[mine].index(first)
    if any(len(place) <= number for place in places):
        return None
    members = [place[number] for place in places]
    domain = taking_turns([pieces[member][0] for member in members], dim)
    return None if domain is None else (domain, tuple(members))


def chosen_turn(index: CExpr, period: int, turn: int) -> CExpr:
    """Whether it is the turn of a remainder at an index, which may be negative."""
    return CBinary("==", CBinary("&", index, Literal(str(period - 1))), Literal(str(turn)))
