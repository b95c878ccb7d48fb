"""Domains: exact sets of integer points with named dimensions and parameters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import islpy as isl

from polymat.dataclass import dataclass
from polymat.errors import Location
from polymat.lang.affine import Affine, Limits
from polymat.lang.condition import Condition
from polymat.memo import remembered
from polymat.poly.isltext import affine_text, condition_text, decode_text, encode, space_text, tuple_text
from polymat.poly.readonce import map_of, set_of

IslError = isl.Error
_FROM_HERE = isl.Map("{ [a] -> [b] : a <= b }")
_UP_TO_HERE = isl.Map("{ [a] -> [b] : b <= a }")


def basic_sets(union: isl.Set) -> list[isl.BasicSet]:
    """The convex sets that a set is written as the union of."""
    parts = union.get_basic_set_list()
    return [parts.get_at(k) for k in range(parts.n_basic_set())]


def _first_fixed(part: isl.BasicSet) -> int:
    """The first dimension that an equation gives a value; behind the last where none does."""
    equations = [each for each in part.get_constraints() if each.is_equality()]
    count = int(part.dim(isl.dim_type.set))
    fixed = (k for k in range(count) if any(e.involves_dims(isl.dim_type.set, k, 1) for e in equations))
    return next(fixed, count)


@dataclass(frozen=True, eq=False)
class Domain:
    """The points of one stage (or of the parameters alone, with no dims).  Equality is identity."""

    params: tuple[str, ...]
    dims: tuple[str, ...]
    set: isl.Set

    @staticmethod
    def box(
        params: Sequence[str],
        dims: Sequence[str],
        bounds: Sequence[tuple[Affine, Affine]],
    ) -> Domain:
        """lo <= dim <= hi for each dimension; bounds may use parameters and earlier dimensions."""
        limits = [
            f"{affine_text(lo)} <= {encode(d)} <= {affine_text(hi)}"
            for d, (lo, hi) in zip(dims, bounds, strict=True)
        ]
        body = tuple_text(dims) + (" : " + " and ".join(limits) if limits else "")
        return Domain(tuple(params), tuple(dims), set_of(space_text(params, body)))

    def where(self, condition: Condition, at: Location | None = None) -> Domain:
        """The points at which an affine condition holds."""
        return self._constrain(condition_text(condition, at))

    def at_least_zero(self, forms: Sequence[Affine]) -> Domain:
        """The points at which every form is >= 0."""
        if not forms:
            return self
        return self._constrain(" and ".join(f"{affine_text(form)} >= 0" for form in forms))

    def within(self, dim: str, ranges: Sequence[Limits]) -> Domain:
        """The points at which a dimension lies within one of some ranges."""
        name, texts = encode(dim), []
        for limits in ranges:
            lows = [f"{affine_text(form)} <= {name}" for form in limits.lows]
            highs = [f"{name} <= {affine_text(form)}" for form in limits.highs]
            texts.append(f"({' and '.join([*lows, *highs]) or 'true'})")
        return self._constrain(" or ".join(texts))

    def with_params(self, names: Sequence[str]) -> Domain:
        """This set with further parameters, not constrained."""
        params = (*self.params, *(n for n in names if n not in self.params))
        wide = set_of(space_text(params, tuple_text(self.dims)))
        return Domain(params, self.dims, self.set.align_params(wide.get_space()))

    def over(self, params: Sequence[str]) -> Domain:
        """This set over these parameters, among which its own are."""
        wide = set_of(space_text(tuple(params), tuple_text(self.dims)))
        return Domain(tuple(params), self.dims, self.set.align_params(wide.get_space()))

    def between(self, dim: str, low: Affine, high: Affine) -> Domain:
        """The points with low <= dim < high; the bounds may use new parameters, put last."""
        new = [n for form in (low, high) for n in form.names() if n not in self.params]
        params = self.params + tuple(dict.fromkeys(new))
        body = f"{tuple_text(self.dims)} : {affine_text(low)} <= {encode(dim)} < {affine_text(high)}"
        limit = set_of(space_text(params, body))
        return Domain(params, self.dims, self.set.align_params(limit.get_space()).intersect(limit))

    def sliced(self, dim: str, value: Affine) -> Domain:
        """The points at one value of a dimension, which goes; the value may use new parameters, put last."""
        position, known = self.dims.index(dim), {*self.params, *self.dims, *value.names()}
        here = max(known, key=len) + "_"  # the value may have a name of its own that is the dimension's here
        dims = (*self.dims[:position], here, *self.dims[position + 1 :])
        there = self.renamed(dims).between(here, value, value + 1)
        rest = there.set.project_out(isl.dim_type.set, position, 1)
        return Domain(there.params, self.dims[:position] + self.dims[position + 1 :], rest)

    def raised(self, param: str) -> Domain:
        """This set with a parameter as its first dimension."""
        position = self.params.index(param)
        moved = self.set.move_dims(isl.dim_type.set, 0, isl.dim_type.param, position, 1)
        rest = self.params[:position] + self.params[position + 1 :]
        return Domain(rest, self.dims, moved).renamed((param, *self.dims))

    def is_alike_for(self, param: str, context: Domain) -> bool:
        """Whether there are points for all values of a parameter that a context allows, or for none.

        The other parameters decide which of the two it is.
        """
        line, position = isl.dim_type.set, context.params.index(param)
        allowed = context.set.params().coalesce()
        there = self.set.params().align_params(allowed.get_space()).intersect(allowed)
        sides = (there, allowed.subtract(there))
        wide = (isl.Set.from_params(side) for side in sides)
        some, none = (side.move_dims(line, 0, isl.dim_type.param, position, 1) for side in wide)
        return bool(some.project_out(line, 0, 1).is_disjoint(none.project_out(line, 0, 1)))

    def moved(self, dim: str, by: int) -> Domain:
        """The points of this set with `by` added to one dimension."""
        after = [f"{encode(d)} + {by}" if d == dim else encode(d) for d in self.dims]
        step = map_of(space_text(self.params, f"{tuple_text(self.dims)} -> [{', '.join(after)}]"))
        return Domain(self.params, self.dims, self.set.apply(step))

    def onto(self, dims: Sequence[str]) -> Domain:
        """The values of some dimensions, in the order given."""
        names = [encode(dim) for dim in dims]
        step = map_of(space_text(self.params, f"{tuple_text(self.dims)} -> [{', '.join(names)}]"))
        return Domain(self.params, tuple(dims), self.set.apply(step))

    def _constrain(self, text: str) -> Domain:
        limit = set_of(space_text(self.params, f"{tuple_text(self.dims)} : {text}"))
        return Domain(self.params, self.dims, self.set.intersect(limit))

    def renamed(self, dims: Sequence[str]) -> Domain:
        """The points of this set under other dimension names."""
        result = self.set
        for position, name in enumerate(dims):
            result = result.set_dim_name(isl.dim_type.set, position, encode(name))
        return Domain(self.params, tuple(dims), result)

    def extended(self, dims: Sequence[str]) -> Domain:
        """The points of this set with any value of further dimensions, put last."""
        wider = self.set.insert_dims(isl.dim_type.set, len(self.dims), len(dims))
        return Domain(self.params, self.dims, wider).renamed((*self.dims, *dims))

    @remembered
    def assume(self, context: Domain) -> Domain:
        """Restrict to parameter values in `context`."""
        return Domain(self.params, self.dims, self.set.intersect_params(context.set.params()))

    def union(self, other: Domain) -> Domain:
        """The points of either."""
        return Domain(self.params, self.dims, self.set.union(other.set))

    def intersect(self, other: Domain) -> Domain:
        """The points of both."""
        return Domain(self.params, self.dims, self.set.intersect(other.set))

    def subtract(self, other: Domain) -> Domain:
        """The points of this one only."""
        return Domain(self.params, self.dims, self.set.subtract(other.set).coalesce())

    @remembered
    def pieces(self) -> tuple[Domain, ...]:
        """The set in disjoint convex pieces, those first in which an outer dimension has one value.

        before:  i = 0 or i = N - 1 or j = 0, of 0 <= i, j < N
        after:   i = 0;  i = N - 1 > 0;  j = 0 and 0 < i < N - 1
        """
        whole = self.set.coalesce()
        if whole.n_basic_set() <= 1:
            return (self,)
        found: list[isl.BasicSet] = []
        before = isl.Set.empty(whole.get_space())
        for part in sorted(basic_sets(whole), key=_first_fixed):
            found += basic_sets(isl.Set.from_basic_set(part).subtract(before).coalesce().make_disjoint())
            before = before.union(isl.Set.from_basic_set(part))
        return tuple(Domain(self.params, self.dims, isl.Set.from_basic_set(piece)) for piece in found)

    @remembered
    def limits(self, dim: str) -> tuple[Affine, Affine] | None:
        """The least and the largest value of a dimension of a convex set, where each is one form of sizes.

        Forms, not values: where they cross, or other conditions on the sizes do not hold, the set is empty.
        """
        sides = self.sides(dim)
        return (sides[0][0], sides[1][0]) if sides is not None and [*map(len, sides)] == [1, 1] else None

    def sides(self, dim: str) -> tuple[tuple[Affine, ...], tuple[Affine, ...]] | None:
        """The forms of sizes that a dimension of a convex set is at least, and those that it is at most."""
        parts = basic_sets(self.set)
        if len(parts) != 1 or parts[0].dim(isl.dim_type.div) > 0:
            return None
        lows: list[Affine] = []
        highs: list[Affine] = []
        for constraint in parts[0].remove_redundancies().get_constraints():
            step, form = self._solved(constraint, dim)
            if step == 0:
                continue
            if form is None or abs(step) != 1:
                return None
            equal = constraint.is_equality()
            lows += [form.scale(-step)] if equal or step > 0 else []
            highs += [form.scale(-step)] if equal or step < 0 else []
        return tuple(lows), tuple(highs)

    def _solved(self, constraint: isl.Constraint, dim: str) -> tuple[int, Affine | None]:
        """The coefficient of a dimension in a constraint, and the rest; None for one with dimensions."""

        def at(kind: isl.dim_type, position: int) -> int:
            return int(constraint.get_coefficient_val(kind, position).to_python())

        own = self.dims.index(dim)
        others = (k for k in range(len(self.dims)) if k != own)
        if any(at(isl.dim_type.set, k) for k in others):
            return at(isl.dim_type.set, own), None
        terms = ((name, at(isl.dim_type.param, k)) for k, name in enumerate(self.params))
        const = int(constraint.get_constant_val().to_python())
        return at(isl.dim_type.set, own), Affine(tuple((name, c) for name, c in terms if c), const)

    def is_empty(self) -> bool:
        """Whether there is no point for any parameter values."""
        return bool(self.set.is_empty())

    def is_subset(self, other: Domain) -> bool:
        """Whether every point is in `other`, whose dims may have other names."""
        return bool(self.set.is_subset(other.set))

    def equals(self, other: Domain) -> bool:
        """Whether the points are the same."""
        return bool(self.set.is_equal(other.set))

    def example(self) -> dict[str, int] | None:
        """A small point and the parameter values that it needs, by name; None when empty."""
        if self.is_empty():
            return None
        flat = self.set.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, len(self.params))
        try:
            point = flat.lexmin().sample_point()
        except isl.Error:  # unbounded below
            point = flat.sample_point()
        names = self.params + self.dims
        values = [point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(len(names))]
        return dict(zip(names, values, strict=True))

    def is_box(self) -> bool:
        """Whether the set is one rectangle, without gaps, whose sides depend on parameters only.

        At some parameters it may be empty although its sides are not: `has_all_of` tells.
        """
        return self._is_box

    def has_all_of(self, bounds: Sequence[tuple[Affine, Affine]], context: Domain | None = None) -> bool:
        """Whether every point between such bounds is in the set, at all sizes of the context.

        A box may ask more of sizes than that its sides do not cross.
        """
        between = Domain.box(self.params, self.dims, bounds)
        return (between if context is None else between.assume(context)).is_subset(self)

    @cached_property
    def _is_box(self) -> bool:
        count = len(self.dims)
        bare = self.set.reset_tuple_id() if self.set.has_tuple_id() else self.set
        hull = isl.Set.universe(bare.get_space())
        for position in range(count):
            side = bare.project_out(isl.dim_type.set, position + 1, count - position - 1)
            side = side.project_out(isl.dim_type.set, 0, position)
            side = side.apply(_FROM_HERE).intersect(side.apply(_UP_TO_HERE))
            side = side.insert_dims(isl.dim_type.set, 0, position)
            side = side.insert_dims(isl.dim_type.set, position + 1, count - position - 1)
            hull = hull.intersect(side)
        return bool(hull.is_subset(bare))

    @property
    def has_parameters(self) -> bool:
        """Whether the set is written with a parameter, so that its points may be others in another call."""
        return bool(self.set.involves_dims(isl.dim_type.param, 0, self.set.dim(isl.dim_type.param)))

    @property
    def key(self) -> str:
        """Text that is equal for textually equal sets."""
        return str(self.set.coalesce())

    def __str__(self) -> str:
        return decode_text(str(self.set.coalesce()))
