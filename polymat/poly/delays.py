"""What can be said of values that are computed later than the order of a recurrence has them."""

from __future__ import annotations

import islpy as isl

from polymat.lang.affine import Affine
from polymat.poly.domain import Domain
from polymat.poly.isltext import affine_text, space_text, tuple_text

_LATER = "{{ [a0, {rest}] -> [b0, {rest}] : a0 < b0 }}"


def least_value(domain: Domain, form: Affine) -> int | None:
    """The least value of a form at the points of a domain, for all sizes; None where there is none."""
    text = space_text(domain.params, f"{tuple_text(domain.dims)} -> [{affine_text(form)}]")
    values = domain.set.apply(isl.Map(text))
    values = values.project_out(isl.dim_type.param, 0, values.dim(isl.dim_type.param))
    if values.is_empty():
        return None
    least = values.dim_min_val(0)
    return int(least.to_python()) if least.is_int() else None


def is_changed_later(elements: isl.Set, changed: Domain) -> bool:
    """Whether one of the elements has another in `changed` that differs from it in a larger first index."""
    rest = ", ".join(f"i{k}" for k in range(1, len(changed.dims)))
    after = elements.reset_tuple_id() if elements.has_tuple_id() else elements
    after = after.apply(isl.Map(_LATER.format(rest=rest)))
    return not after.is_disjoint(changed.set)


def meets(elements: isl.Set, other: Domain) -> bool:
    """Whether a set of elements has one of a domain."""
    return not elements.is_disjoint(other.set)
