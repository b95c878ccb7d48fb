"""Intervals of integers, and the domains that they make with variables."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from polymat.errors import (
    DtypeError,
    LangError,
    Location,
    NameClashError,
    NotAffineError,
    ShapeError,
    caller_location,
    counted,
)
from polymat.lang.affine import Affine, computed_in, extremes
from polymat.lang.computed import index_form
from polymat.lang.databounds import enclosed, widened
from polymat.lang.expr import Expr, Load, Parameter, Variable, as_expr
from polymat.lang.traverse import loads_in, names_of, walk
from polymat.lang.types import ScalarType, check_type


class Interval:
    """The integers lo, lo + 1, ..., hi (both included), as in PolyMage.

    Bounds are affine in sizes and in the variables before it in the same domain; hi < lo is empty.  Of what a
    Reduction reduces over they may be computed from data whose range is known: `Interval(Int, row(i),
    row(i + 1) - 1)` of `Vector(Int, "row", [N + 1], values=(0, NNZ), sorted=True)`, the rows of a sparse
    matrix.

    data: such bounds; lo and hi are then what all of them lie between.
    """

    __slots__ = ("at", "data", "dtype", "hi", "lo", "sizes")

    def __init__(
        self, dtype: ScalarType, lo: Any, hi: Any, *, sizes: tuple[Parameter, ...] | None = None
    ) -> None:
        self.at = caller_location()
        self.dtype = check_type(dtype, "an Interval", self.at)
        if dtype.kind not in "iu":
            raise DtypeError(f"an Interval is of integers, got {dtype}", at=self.at)
        self.sizes = size_parameters(lo, hi) if sizes is None else sizes
        self.lo, self.hi = (index_form(bound, place, self.at) for place, bound in enumerate((lo, hi)))
        self.data: tuple[Expr, Expr] | None = None
        if computed_in((self.lo, self.hi)):
            self.data = widened(as_expr(lo, self.at)), widened(as_expr(hi, self.at))
            limits = _declared_sizes(self.data)
            self.sizes = tuple(dict.fromkeys((*self.sizes, *limits)))
            low, high = (index_form(bound, place, self.at) for place, bound in enumerate(self.data))
            self.lo, self.hi = enclosed(low, high, {size.name for size in self.sizes}, self.at)

    def whole(self) -> Interval:
        """The interval that all values of bounds from data lie in; itself where there are none."""
        if self.data is None:
            return self
        made = copy(self)
        made.data = None
        return made

    def __repr__(self) -> str:
        return f"Interval({self.dtype}, {self.lo}, {self.hi})"


def size_parameters(*values: Any) -> tuple[Parameter, ...]:
    """The parameters in index expressions and extents, in order of first use."""
    found: list[Parameter] = []
    for value in values:
        if isinstance(value, Expr):
            found += [node for node in walk(value) if isinstance(node, Parameter)]
        elif isinstance(value, Affine):
            found += [size for size in value.parameters if size.name in value.names()]
    return tuple(dict.fromkeys(found))


def _declared_sizes(values: tuple[Expr, ...]) -> tuple[Parameter, ...]:
    """The parameters of the indices, extents and limits of what is read in some expressions."""
    loads = [node for value in values for node in loads_in(value)]
    return tuple(size for load in loads for size in (*load.sizes, *load.source.sizes))


Domain = tuple[Sequence[Variable], Sequence[Interval]]


def check_domain(
    domain: Any, label: str, at: Location | None, *, reduced: bool = False
) -> tuple[tuple[Variable, ...], tuple[Interval, ...]]:
    """Check the form of `([variables], [intervals])`, and that bounds use earlier variables only.

    reduced: it is reduced over, so that bounds may be computed from data.
    """
    try:
        variables, intervals = (tuple(part) for part in domain)
    except (TypeError, ValueError):
        raise LangError(
            f"the domain of {label} is ([variables], [intervals]), got {domain!r:.60}", at=at
        ) from None
    for part, kind in ((variables, Variable), (intervals, Interval)):
        for item in part:
            if not isinstance(item, kind):
                wanted = "an Interval" if kind is Interval else "a Variable"
                raise LangError(
                    f"the domain of {label} has {item!r:.60} for {wanted}",
                    at=at,
                    hint=_instead(item) if kind is Interval else "",
                )
    if len(variables) != len(intervals):
        found = f"{counted(len(variables), 'variable')} and {counted(len(intervals), 'interval')}"
        raise ShapeError(f"{label} has {found}", at=at)
    names = [v.name for v in variables]
    for name in names:
        if names.count(name) > 1:
            raise NameClashError(f"two variables of {label} are named {name}", at=at)
    for variable, interval in zip(variables, intervals, strict=True):
        if interval.data is not None and not reduced:
            of_data = any(isinstance(node, Load) for bound in interval.data for node in walk(bound))
            what = "computed from data" if of_data else "not affine"
            raise NotAffineError(
                f"the bounds of {variable} in {label} are {what}",
                at=interval.at,
                hint="a Reduction may reduce over such an interval; elsewhere Select(condition, value, 0)",
            )
    _check_bounds(names, intervals, label)
    return variables, intervals


def _instead(item: object) -> str:
    """How the interval would be written that a range or an extent stands for."""
    low, high = "lo", "hi"
    if isinstance(item, range) and item.step == 1:
        low, high = str(item.start), str(item.stop - 1)
    elif isinstance(item, int) and not isinstance(item, bool):
        low, high = "0", str(item - 1)
    elif isinstance(item, Parameter):
        low, high = "0", f"{item} - 1"
    return f"Interval(Int, {low}, {high}): both ends belong to it"


def _check_bounds(names: list[str], intervals: tuple[Interval, ...], label: str) -> None:
    for position, interval in enumerate(intervals):
        sizes = {p.name for p in interval.sizes}
        for used in (*interval.lo.names(), *interval.hi.names(), *names_of(interval.data or ())):
            if used in sizes and used in names:
                raise NameClashError(f"{used} is both a size and a variable of {label}", at=interval.at)
            if used not in sizes and used not in names[:position]:
                raise NotAffineError(
                    f"the bounds of {names[position]} in {label} use {used}, which does not come before it",
                    at=interval.at,
                    hint="bounds may use sizes and the variables before in the same domain",
                )


def bounds_of(interval: Interval, earlier: dict[str, tuple[Affine, Affine]]) -> tuple[Affine, Affine]:
    """Smallest lower and largest upper bound of an interval over the ranges of earlier variables."""
    return extremes(interval.lo, earlier)[0], extremes(interval.hi, earlier)[1]
