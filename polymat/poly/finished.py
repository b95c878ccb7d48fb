"""Values that all points of a set have in common, as an interval between forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from polymat.lang.affine import Affine
from polymat.poly.access import Access
from polymat.poly.domain import Domain, basic_sets

Interval = tuple[tuple[Affine, ...], tuple[Affine, ...]]
"""The forms that a value is at least, and those that it is at most."""


def with_steps(domain: Domain, names: Sequence[str]) -> Domain:
    """A domain with parameters as its first dimensions, in this order."""
    for name in reversed(names):
        domain = domain.raised(name)
    return domain


def at_values(context: Domain, values: Mapping[str, Affine]) -> Domain:
    """All that is known where parameters have the values of forms, which may use new ones."""
    dims = tuple(values)
    raised = with_steps(context, dims)
    for name, form in values.items():
        raised = raised.sliced(name, form)
    return raised


def in_coordinates(domain: Domain, dims: Sequence[str], forms: Sequence[Affine]) -> Domain:
    """The points of a domain by other coordinates, each a form of its own dimensions."""
    return Access.of(domain, forms).elements(dims)


def is_full(domain: Domain) -> bool:
    """Whether there are points beside each other along all dimensions: no equation holds for all of them."""
    hull = domain.set.affine_hull()
    return not any(
        each.is_equality() and each.involves_dims(isl.dim_type.set, 0, len(domain.dims))
        for each in hull.get_constraints()
    )


def common_interval(results: Domain, terms: Domain, barred: Domain) -> Interval | None:
    """Values of the last dimension that are in `terms` with each of the results; none of `barred`.

    results: by all other dimensions.  barred: by that dimension alone.  None where no interval between forms
    of the parameters has them.

    before:  results 0 <= i < n; terms i <= k < m
    after:   n - 1 <= k < m
    """
    last = terms.dims[-1]
    wide = results.extended([last]).renamed(terms.dims)
    lacking = wide.subtract(terms).onto([last])
    common = terms.onto([last]).subtract(lacking).subtract(barred)
    here = results.set.params()
    for part in basic_sets(common.set.coalesce()):
        sides = Domain(common.params, common.dims, isl.Set.from_basic_set(part)).sides(last)
        if sides is None or not all(sides):
            continue
        box = _between(common.params, last, sides)
        if box.set.intersect_params(here).is_subset(common.set):
            return sides
    return None


def _between(params: Sequence[str], dim: str, sides: Interval) -> Domain:
    """The values between forms."""
    (low, *lows), (high, *highs) = sides
    value = Affine.name(dim)
    box = Domain.box(params, [dim], [(low, high)])
    return box.at_least_zero([*(value - form for form in lows), *(form - value for form in highs)])


def counts_at(domain: Domain, sizes: Mapping[str, int]) -> list[int]:
    """How far the points of a domain reach along each of its dimensions, at some values of the parameters."""
    at = domain.set
    for place, name in enumerate(domain.params):
        at = at.fix_val(isl.dim_type.param, place, isl.Val.int_from_si(at.get_ctx(), int(sizes[name])))
    if at.is_empty():
        return [0] * len(domain.dims)
    ends = ((at.dim_min_val(k), at.dim_max_val(k)) for k in range(len(domain.dims)))
    return [int(high.to_python()) - int(low.to_python()) + 1 for low, high in ends]


def for_each(domain: Domain, last: str) -> Domain:
    """The values of the last dimension at each point of all others, which are parameters then."""
    count = len(domain.dims) - 1
    kinds = isl.dim_type
    moved = domain.set.coalesce().move_dims(kinds.param, domain.set.dim(kinds.param), kinds.set, 0, count)
    return Domain((*domain.params, *domain.dims[:-1]), (last,), moved)


def conditions(domain: Domain, known: Domain) -> tuple[tuple[tuple[Affine, bool], ...], ...] | None:
    """The conditions by which points of a domain differ from others: one of these, each all of some forms.

    A form is at least 0, or 0 where the second of the pair says so.  known: all points.  None where no forms
    tell them.
    """
    found = []
    for part in basic_sets(domain.set.gist(known.set).coalesce().make_disjoint()):
        if part.dim(isl.dim_type.div) > 0:
            return None
        found.append(tuple((_form(domain, each), each.is_equality()) for each in part.get_constraints()))
    return tuple(found)


def _form(domain: Domain, constraint: isl.Constraint) -> Affine:
    """The form of parameters and dimensions of a constraint."""
    sides = ((isl.dim_type.param, domain.params), (isl.dim_type.set, domain.dims))
    terms = [
        (name, int(constraint.get_coefficient_val(kind, k).to_python()))
        for kind, names in sides
        for k, name in enumerate(names)
    ]
    const = int(constraint.get_constant_val().to_python())
    return Affine(tuple((name, number) for name, number in terms if number), const)
