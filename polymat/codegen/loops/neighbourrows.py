"""Rows of gathered elements at places that are neighbours, as those of a band are: loaded as they lie.

Four places are compared with the first of them and what follows it, and where all are as they should be, the
four elements are one load.  Some rows are looked at, at each call, whether most are so: a processor guesses
which fours are.
"""

from __future__ import annotations

from polymat.codegen.c.ctree import CBinary, CExpr, CUnary, Id, Literal, Stmt, names_in
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.shorthand import all_of, request
from polymat.codegen.loops.gatheredrows import Leaves, Rows
from polymat.dataclass import dataclass

BESIDE = "_pm_beside"  # whether elements of rows are at places beside each other


@dataclass(frozen=True, slots=True)
class NearTerms:
    """Four terms in a vector whose elements are likely neighbours, and whether most of all rows are so.

    asked: what is read by later rows.
    """

    four: CExpr
    most: CExpr
    asked: tuple[Stmt, ...]


def near_terms(value: CExpr, rows: Rows, leaves: Leaves) -> NearTerms | None:
    """The terms from one on; None where they are no products of elements, or rows have places of their own.

    before:  x[k] * y[at[k]]
    after:   _pm_four_from(&x[k]) * _pm_four_near(y, &at[k])
    """
    found = leaves.of(value)
    if found is None or not rows.inside:
        return None
    gathered = [leaf for leaf in found.values() if leaf.array is not None]
    if not gathered or not all(
        names_in([leaf.first.index]) <= {*rows.same, leaves.here} for leaf in gathered
    ):
        return None
    four = substituted(value, {whole: leaf.four(leaves.suffix, "near") for whole, leaf in found.items()})
    first: dict[CExpr, CExpr] = {Id(leaves.here): Literal("0")}
    places = ((CUnary("&", substituted(leaf.first, first)), leaf.places) for leaf in gathered)
    streams = [leaf.first for leaf in found.values() if leaf.array is None]
    ahead = (CBinary("+", CUnary("&", element), Id("_PM_AHEAD")) for element in streams)
    asked = tuple(map(request, ahead))
    return NearTerms(four, all_of(rows.beside(*each) for each in places), asked)
