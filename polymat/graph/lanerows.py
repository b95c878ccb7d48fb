"""Rows of steps that need none of each other in columns before all of them, found from what points read.

A point sums up products along its row: of elements of its own row, and of others that depend on the column
and the term alone, and on finished rows.  Where the sum of column x takes terms before x and reads rows up to
x, rows i to i + n have all they need in the columns before i.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from polymat.dataclass import dataclass
from polymat.graph.blockedsums import SKEWS
from polymat.graph.laned import LaidElement, RowCase, RowCircle, RowSum
from polymat.graph.lanedterms import (
    AddedTerms,
    Inside,
    are_same,
    are_same_cases,
    insides,
    is_arithmetic,
    is_even,
    is_zero,
)
from polymat.graph.placedreads import Element, SharedArrays
from polymat.graph.splice import free_name, names_taken
from polymat.graph.stage import Accumulation, Part, loads_of
from polymat.lang.affine import Affine, computed_in
from polymat.lang.expr import Load, Parameter, Variable
from polymat.lang.table import Lookup
from polymat.lang.traverse import walk
from polymat.poly.domain import Domain
from polymat.poly.finished import conditions, for_each, in_coordinates, with_steps

NAMED = (Parameter, Variable, Lookup)  # values that are no elements


def row_circle(shared: SharedArrays) -> RowCircle | None:
    """The rows of a section; None where its steps are no such rows."""
    found_inside = insides(shared)
    if found_inside is None:
        return None
    found = (_Finder(shared, found_inside, skew).circle() for skew in SKEWS)
    return next((each for each in found if each is not None), None)


@dataclass(eq=False)
class _Finder:
    """Finds the forms of one circle, whose columns are inner steps plus `skew` times the row."""

    shared: SharedArrays
    insides: Sequence[Inside]
    skew: int
    names: tuple[str, str] = field(default=("", ""), init=False)

    def circle(self) -> RowCircle | None:
        inner = [names_taken(each.pipeline) for each in self.insides]
        taken = {*names_taken(self.shared.whole), *self.shared.steps}.union(*inner)
        column = free_name("column", taken)
        self.names = (column, free_name("term", {*taken, column}))
        parts = [(inside, part) for inside in self.insides for part in inside.point.parts]
        domains = [self._points(*each) for each in parts]
        whole = domains[0]
        for each in domains[1:]:
            whole = whole.union(each)
        ends = for_each(whole, column).limits(column)
        behind = None if ends is None else self._here - ends[1]
        if ends is None or behind is None or not behind.is_constant or behind.const not in (0, 1):
            return None
        if not self._are_lows([ends[0]]):
            return None
        added, places, made = self._sum(ends[0]), self._places(), self._made()
        if added is None or places is None or made is None or not self._has_all_terms(*added, whole):
            return None
        cases = [self._case(*each, at, whole) for each, at in zip(parts, domains, strict=True)]
        known = tuple(case for case in cases if case is not None)
        main = self._main(parts, known, domains, whole, added[0]) if len(known) == len(cases) else None
        if main is None:
            return None
        number, lows = main
        names, dtype = (self._row, *self.names), self.insides[0].point.dtype
        return RowCircle(
            *names, dtype, ends[0], behind.const, added[0], known[number], lows, known, places, made
        )

    # ---- the sum ----

    def _sum(self, first: Affine) -> tuple[RowSum, Domain] | None:
        """The sum, and row, column and term of all that it adds, each once.

        What points in the column of their row's number add may be written apart, if it is the same there.
        """
        sums = [(inside, inside.total) for inside in self.insides if inside.total is not None]
        added = [self._added(inside, item) for inside, total in sums for item in total.accumulations]
        if None in added or not all(is_zero(total.parts) for _, total in sums):
            return None
        ends = Affine.name(self.names[0]) - self._here
        parts = [each for each in added if each is not None]
        before = [each for each in parts if not each.terms.at_least_zero([-ends - 1]).is_empty()]
        if len(before) != 1 or not self._are_finished(before[0]):
            return None
        (main,) = before
        there = {self._row: Affine.name(self.names[0])}
        terms = main.terms
        for each in parts:
            if each is not main:
                wrong = each.terms.at_least_zero([ends - 1]).union(each.terms.intersect(terms))
                if not wrong.is_empty() or not are_same(each, main, there):
                    return None
                terms = terms.union(each.terms)
        sides = for_each(terms, self.names[1]).sides(self.names[1])
        if sides is None or sides[1] != (Affine.name(self.names[0]) - 1,) or not self._are_lows(sides[0]):
            return None
        if not terms.at_least_zero([first - 1 - Affine.name(self.names[1])]).is_empty():
            return None
        return RowSum(main.item.expr, sides[0], main.own, main.elements), terms

    def _added(self, inside: Inside, item: Accumulation) -> AddedTerms | None:
        """What one item adds, its terms told apart by the columns of what they read of their own row."""
        if len(item.dims) != 1 or item.target or not is_arithmetic(item.expr, inside.point):
            return None
        read = self._read(inside, item)
        if read is None:
            return None
        points = with_steps(item.domain.assume(inside.pipeline.context), self.shared.steps)
        ends = self._column - self._here
        is_end = points.at_least_zero([-ends - 1]).is_empty() and points.at_least_zero([ends - 1]).is_empty()
        at = {self.shared.steps[1]: self._here - self._here.scale(self.skew)} if is_end else {}
        own = {load: each for load, each in read.items() if each.made and each.made[0] == self._here}
        columns = {(each.made[1] + self._here.scale(self.skew)).substitute(at) for each in own.values()}
        if len(columns) != 1:
            return None
        (term,), reduced = columns, item.dims[0]
        sign = term.coefficient(reduced)
        if abs(sign) != 1 or not term.is_linear_in([reduced, *self.shared.steps]):
            return None
        rest = term - Affine.name(reduced).scale(sign)
        solved = {reduced: (Affine.name(self.names[1]) - rest).scale(sign)}
        laid = {load: self._laid(each, solved) for load, each in read.items()}
        terms = in_coordinates(points, (self._row, *self.names), [self._here, self._column, term])
        others = {
            load: tuple(self._moved(form, solved) for form in each.made)
            for load, each in read.items()
            if load not in own
        }
        return AddedTerms(item, frozenset(own), laid, others, terms)

    def _are_finished(self, added: AddedTerms) -> bool:
        """Whether what a term reads of other rows is of rows up to its column, in columns up to the term."""
        column, term = map(Affine.name, self.names)
        for load, made in added.others.items():
            if any(self._row in form.names() for form in added.elements[load].indices):
                return False
            if made:
                row, inner = made
                later = (row - column - 1, inner + row.scale(self.skew) - term - 1)
                if any(not added.terms.at_least_zero([form]).is_empty() for form in later):
                    return False
        return True

    def _has_all_terms(self, found: RowSum, terms: Domain, whole: Domain) -> bool:
        """Whether each point adds all terms between the limits."""
        return self._between(whole, found).is_subset(terms)

    def _between(self, points: Domain, found: RowSum) -> Domain:
        """The terms of some points between the limits."""
        column, term = map(Affine.name, self.names)
        limits = [*(term - low for low in found.lows), column - 1 - term]
        return points.extended([self.names[1]]).at_least_zero(limits)

    # ---- cases ----

    def _points(self, inside: Inside, part: Part) -> Domain:
        """Row and column of the points of a case."""
        steps = self.shared.steps
        points = with_steps(part.domain.assume(inside.pipeline.context), steps)
        return in_coordinates(points, (self._row, self.names[0]), [self._here, self._column])

    def _case(self, inside: Inside, part: Part, points: Domain, whole: Domain) -> RowCase | None:
        """A case; None where it reads what may have been written over."""
        where, read = conditions(points, whole), self._read(inside, part)
        if where is None or read is None or any(isinstance(each, NAMED) for each in walk(part.expr)):
            return None
        laid = {load: self._laid(each, {}) for load, each in read.items()}
        for load, each in read.items():
            row_wise = any(self._row in form.names() for form in laid[load].indices)
            if not each.made and row_wise and laid[load].indices[0] != self._here:
                return None
        return RowCase(where, part.expr, laid)

    def _main(
        self,
        parts: Sequence[tuple[Inside, Part]],
        cases: Sequence[RowCase],
        domains: Sequence[Domain],
        whole: Domain,
        found: RowSum,
    ) -> tuple[int, tuple[Affine, ...]] | None:
        """The one case in columns before the row's number that is not 0, and where these begin.

        Points that have no terms may be written apart, where they are the same without.
        """
        column = Affine.name(self.names[0])
        before = [each.at_least_zero([self._here - 1 - column]) for each in domains]
        some = [k for k, each in enumerate(before) if not each.is_empty() and not is_zero([parts[k][1]])]
        summing = [k for k in some if any(load not in cases[k].elements for load in loads_of(parts[k][1]))]
        if len(summing) != 1:
            return None
        (number,) = summing
        points = before[number]
        for k in some:
            if k != number:
                added = self._between(before[k], found)
                if not added.is_empty() or not are_same_cases(cases[k], cases[number]):
                    return None
                points = points.union(before[k])
        sides = for_each(points, self.names[0]).sides(self.names[0])
        if sides is None or sides[1] != (self._here - 1,) or not self._are_lows(sides[0]):
            return None
        between = whole.at_least_zero([*(column - low for low in sides[0]), self._here - 1 - column])
        inside, part = parts[number]
        if not between.is_subset(points) or not is_arithmetic(part.expr, inside.point):
            return None
        if not is_even(cases[number], self._row) or not self._needs_earlier_columns(inside, part, points):
            return None
        return number, sides[0]

    def _needs_earlier_columns(self, inside: Inside, part: Part, points: Domain) -> bool:
        """Whether what some points read of what steps make is in rows up to their own column."""
        read, column = self._read(inside, part), Affine.name(self.names[0])
        assert read is not None
        rows = [self._moved(each.made[0], {}) for each in read.values() if each.made]
        later = (points.at_least_zero([row - column - 1]) for row in rows)
        return all(self._row not in r.names() for r in rows) and all(each.is_empty() for each in later)

    # ---- elements ----

    def _read(self, inside: Inside, item: Part | Accumulation) -> dict[Load, Element] | None:
        """What is read of arrays that all steps share; None where that is open."""
        pairs = zip(inside.pipeline.inputs, inside.given, strict=True)
        views = {array.name: view for array, view in pairs}
        found: dict[Load, Element] = {}
        for load in loads_of(item):
            if load.source.is_input:
                element = self.shared.element(views, load)
                if element is None or computed_in(element.indices) or load.dtype != inside.point.dtype:
                    return None
                found[load] = element
            elif isinstance(item, Accumulation):
                return None
        return found

    def _places(self) -> dict[str, tuple[int, tuple[Affine, ...]]] | None:
        """Where each array is among what a step is given whole."""
        extents = {array.name: array.extents for array in self.shared.arrays()}
        views = self.shared.section.inputs
        whole = {view.array: k for k, view in enumerate(views) if view.step is None}
        needed = {view.array for view in (*views, *self.shared.section.outputs)}
        return {name: (whole[name], extents[name]) for name in needed} if needed <= {*whole} else None

    def _made(self) -> LaidElement | None:
        """The element that a step makes."""
        assert self.shared.inner is not None
        held = {each.name: each for each in self.shared.inner.held}[self.insides[0].point.name]
        (output,) = self.shared.section.outputs
        if held.extents or output.step is None:
            return None
        around = self.shared.held[output.array]
        inner = Affine.name(self.shared.steps[1])
        return self._laid(Element(output.array, (around.plane(output.step), held.plane(inner))), {})

    def _laid(self, element: Element, solved: Mapping[str, Affine]) -> LaidElement:
        return LaidElement(element.array, tuple(self._moved(form, solved) for form in element.indices))

    def _moved(self, form: Affine, solved: Mapping[str, Affine]) -> Affine:
        """A form of row, column and term."""
        inner = Affine.name(self.names[0]) - self._here.scale(self.skew)
        return form.substitute(solved).substitute({self.shared.steps[1]: inner})

    def _are_lows(self, forms: Sequence[Affine]) -> bool:
        """Whether limits are the same for all rows, or move with them one by one."""
        return len(forms) > 0 and all(
            form.coefficient(self._row) in (0, 1)
            and form.is_linear_in([self._row])
            and {*self.names}.isdisjoint(form.names())
            for form in forms
        )

    @property
    def _row(self) -> str:
        return self.shared.steps[0]

    @property
    def _here(self) -> Affine:
        return Affine.name(self._row)

    @property
    def _column(self) -> Affine:
        return Affine.name(self.shared.steps[1]) + self._here.scale(self.skew)
