"""Accesses: which elements of an array each point of a domain touches, or may touch."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polymat.dataclass import dataclass
from polymat.lang.affine import Affine
from polymat.poly.domain import Domain
from polymat.poly.freed import freed
from polymat.poly.isltext import affine_text, space_text, tuple_text
from polymat.poly.readonce import map_of


@dataclass(frozen=True, eq=False)
class Access:
    """A map from the points of a domain to array elements.  Equality is identity."""

    domain: Domain
    map: isl.Map
    is_exact: bool = True

    @staticmethod
    def of(domain: Domain, indices: Sequence[Affine]) -> Access:
        """The access `array(indices)` at every point of a domain.

        An index that is computed from data has every value that it may have: such an access is not exact.
        """
        free, forms = freed(domain, indices)
        image = "[" + ", ".join(affine_text(form) for form in forms) + "]"
        whole = map_of(space_text(domain.params, f"{tuple_text(free.dims)} -> {image}"))
        found, rank = whole.intersect_domain(free.set), len(domain.dims)
        if free is domain:
            return Access(domain, found)
        points = found.project_out(isl.dim_type.in_, rank, len(free.dims) - rank)
        return Access(domain, points, is_exact=False)

    def image(self) -> isl.Set:
        """The elements touched."""
        return self.map.range()

    def outside(self, target: Domain) -> Domain:
        """The points that touch an element which is not in `target`."""
        bad = self.map.subtract_range(target.set)
        return Domain(self.domain.params, self.domain.dims, bad.domain())

    def inside(self, target: Domain) -> Domain:
        """The points that touch an element of `target`."""
        good = self.map.intersect_range(target.set)
        return Domain(self.domain.params, self.domain.dims, good.domain())

    def within(self, target: Domain) -> Access:
        """This access where it touches an element of `target`."""
        return Access(self.domain, self.map.intersect_range(target.set), self.is_exact)

    def elements(self, dims: Sequence[str]) -> Domain:
        """The elements touched, with names for their dimensions."""
        return Domain(self.domain.params, (), self.map.range()).renamed(dims)

    def is_injective(self) -> bool:
        """Whether no element is touched by two points, and each point touches one."""
        return self.is_exact and bool(self.map.is_injective())

    def is_subset(self, other: Access) -> bool:
        """Whether every (point, element) pair is also in `other`."""
        return bool(self.map.is_subset(other.map))

    def same_element_pairs(self, other: Access) -> isl.Map:
        """Pairs of points (one of this domain, one of the other's) that touch the same element."""
        return self.map.apply_range(other.map.reverse())
