"""Which rows linear steps add multiples of crossing rows to, and which a product of them leaves out.

A product multiplies by zeros as well, and 0 times infinity is NaN.  Where no step adds a row to another, the
product must not: an infinity stays where the steps one by one leave it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polymat.graph.accesses import loads_with_domains
from polymat.graph.latesums import over
from polymat.graph.linearrows import LinearRows, LinearStep
from polymat.lang.affine import Affine
from polymat.lang.expr import Load
from polymat.poly.access import Access
from polymat.poly.domain import Domain
from polymat.poly.finished import at_values, in_coordinates


def is_known_what_rows_hold(found: LinearStep, context: Domain) -> bool:
    """Whether a row holds multiples of the crossing rows of exactly those steps that it was added to.

    That is so where each step changes, and reads, such rows alone as the step before it added to: all these
    hold the crossing rows of all steps so far.  A row that is moved, or stays, is not added to again.
    """
    step, added = found.slices.step, _added_rows(found)
    back = {step: Affine.name(step) - 1}
    earlier = over(at_values(added, back), context.params)
    known = context.intersect(over(at_values(context, back), context.params))
    for part in found.parts:
        if _stays(found, part):
            continue
        here = part.rows.assume(known)
        reads = (Access.of(where, (row,)).outside(earlier) for where, row in _rows_read(found, part, here))
        if not here.is_subset(earlier) or not all(each.is_empty() for each in reads):
            return False
    return True


def steps_by_row(found: LinearStep, first: Affine, params: Sequence[str]) -> Domain:
    """The rows that each step adds to: by row, and by the number of the step from the first of a block on.

    before:  the step k adds to the rows k <= i < R
    after:   (i, m) with first + m <= i < R
    """
    step, (row, _) = found.slices.step, found.dims
    added = over(_added_rows(found), params).raised(step)
    return in_coordinates(added, (row, step), (Affine.name(row), Affine.name(step) - first))


def _added_rows(found: LinearStep) -> Domain:
    """The rows that a step adds multiples of its crossing row to."""
    (first, *others) = (part.rows for part in found.parts if part.rest is not None)
    for each in others:
        first = first.union(each)
    return first


def _stays(found: LinearStep, part: LinearRows) -> bool:
    here = tuple(map(Affine.name, found.dims))
    return part.rest is None and isinstance(part.own, Load) and part.own.indices == here


def _rows_read(found: LinearStep, part: LinearRows, here: Domain) -> Iterator[tuple[Domain, Affine]]:
    """The rows that a part is made of, and where."""
    if part.rest is not None:
        yield here, found.crossing
    if part.own is not None:
        for where, load in loads_with_domains(here, part.own):
            if found.is_own(load):
                yield where, load.indices[0]
