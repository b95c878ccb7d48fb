"""Sets that take turns along a dimension: the even points of a rectangle beside its odd ones."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polymat.lang.condition import Condition
from polymat.lang.expr import Variable
from polymat.lang.types import Long
from polymat.poly.domain import Domain, basic_sets


def remainder(domain: Domain, dim: str) -> tuple[int, int] | None:
    """The period and the remainder of all points of a set along a dimension; None where they have none."""
    parts, at = basic_sets(domain.set), domain.dims.index(dim)
    if len(parts) != 1 or not any(_has_period(each, at) for each in parts[0].get_constraints()):
        return None
    found = domain.set.get_stride_info(at)
    period, offset = int(found.get_stride().to_python()), found.get_offset()
    if period == 1 or not offset.is_cst():
        return None
    return period, int(offset.get_constant_val().to_python()) % period


def _has_period(constraint: isl.Constraint, at: int) -> bool:
    """Whether an equation gives a dimension as a multiple of something, and a number."""
    divisions = int(constraint.dim(isl.dim_type.div))
    own = constraint.involves_dims(isl.dim_type.set, at, 1)
    return bool(constraint.is_equality() and own and constraint.involves_dims(isl.dim_type.div, 0, divisions))


def taking_turns(domains: Sequence[Domain], dim: str) -> Domain | None:
    """The set of which the domains, in this order, hold the points of remainders 0, 1, ... along a dimension.

    None where they are no such parts of a set.

    before:  [0 <= i < N and i % 2 == 0, 0 <= i < N and i % 2 == 1]
    after:   0 <= i < N
    """
    found = [remainder(domain, dim) for domain in domains]
    if found != [(len(domains), k) for k in range(len(domains))]:
        return None
    at = domains[0].dims.index(dim)
    whole = isl.Set.empty(domains[0].set.get_space())
    for domain in domains:
        whole = whole.union(domain.set.remove_divs_involving_dims(isl.dim_type.set, at, 1))
    joined = Domain(domains[0].params, domains[0].dims, whole.coalesce())
    if joined.set.n_basic_set() != 1:
        return None
    place = Variable(Long, dim) % len(domains)
    classes = [joined.where(Condition(place, "==", k)) for k in range(len(domains))]
    alike = all(own.equals(domain) for own, domain in zip(classes, domains, strict=True))
    return joined if alike else None
