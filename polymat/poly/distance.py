"""How far an affine form ranges over a domain, for all values of the parameters at once."""

from __future__ import annotations

import islpy as isl

from polymat.lang.affine import Affine
from polymat.poly.access import Access
from polymat.poly.domain import Domain
from polymat.poly.limit import limited

MAX_OPERATIONS = 1_000_000

Span = tuple[int, int]


def value_span(domain: Domain, form: Affine) -> Span | None:
    """Smallest and largest value of a form over the points of a domain and all parameter values.

    None when it is unbounded, grows with a parameter, or takes isl too long to find; (0, -1) when the domain
    is empty.
    """
    try:
        with limited(domain.set.get_ctx(), MAX_OPERATIONS):
            values = Access.of(domain, [form]).image()
            if values.is_empty():
                return (0, -1)
            low, high = values.dim_min_val(0), values.dim_max_val(0)
    except isl.Error:
        return None
    if not (low.is_int() and high.is_int()):
        return None
    return (int(low.to_python()), int(high.to_python()))
