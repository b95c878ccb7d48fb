"""The interior of a stage, in which indices that a border limits are what they say: a part of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.graph.borders import MOST_PARTS, typed_as
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Part, Stage
from polymat.lang.affine import Affine, Computed, computed_in
from polymat.lang.expr import Binary, Expr, Load, SelectExpr
from polymat.lang.indices import affine_form, affine_names
from polymat.lang.traverse import children, has_loads, rebuild, walk
from polymat.poly.domain import Domain


def split_interiors(pipeline: Pipeline) -> Pipeline:
    """Define stages apart where Min and Max in indices, and a Select on indices around reads, are decided.

    What is left is a border, a few points wide, and stays as it is written.  Loops over the interior have
    neither branches nor computed indices, which C compilers do not take by vectors.

    before:  y(i) = x(Max(i - 1, 0)) + x(i) for 0 <= i < N
    after:   y(i) = x(i - 1) + x(i) for 1 <= i < N;  x(Max(i - 1, 0)) + x(i) for i = 0
    """
    return pipeline.with_stages(tuple(_split(stage, pipeline.context) for stage in pipeline.stages))


def _split(stage: Stage, context: Domain) -> Stage:
    if stage.is_reduction or stage.reads_itself:
        return stage
    parts = tuple(found for part in stage.parts for found in _parts(part, context))
    return replace(stage, parts=parts) if len(stage.parts) < len(parts) <= MOST_PARTS else stage


def _parts(part: Part, context: Domain) -> Iterator[Part]:
    decided = _Decided(part.domain, context)
    expr = decided.rebuilt(part.expr)
    inside = decided.inside
    outside = part.domain.subtract(inside)
    if expr is part.expr or not (_is_between_forms(inside) and _is_between_forms(outside)):
        yield part
        return
    yield replace(part, domain=inside, condition=None, expr=expr)
    yield replace(part, domain=outside, condition=None, fills=False)


@dataclass(slots=True, eq=False)
class _Decided:
    """What the values of a part are inside of the points where everything in them that is decided is.

    domain: all points.  inside: those where what was decided so far holds.
    """

    domain: Domain
    context: Domain
    inside: Domain

    def __init__(self, domain: Domain, context: Domain) -> None:
        self.domain, self.context, self.inside = domain, context, domain

    def rebuilt(self, expr: Expr) -> Expr:
        """An expression as it is inside; the same object where nothing of it is decided."""
        if not any(isinstance(node, SelectExpr) or _limited(node) for node in walk(expr, _around)):
            return expr
        found = rebuild(expr, lambda node: node, instead=self._instead)
        return expr if self.inside is self.domain else found

    def _instead(self, node: Expr) -> Expr | None:
        if isinstance(node, SelectExpr):
            return self._chosen(node)
        return self._read(node) if isinstance(node, Load) and _limited(node) else None

    def _chosen(self, node: SelectExpr) -> Expr | None:
        """The branch that a Select takes inside, where indices decide it and a branch reads."""
        names = affine_names(node.condition)
        if names is None or not self._knows(names) or not (has_loads(node.then) or has_loads(node.otherwise)):
            return None
        there = self.domain.where(node.condition)
        first = self._decide(there, self.domain.subtract(there))
        if first is None:
            return None
        value = node.then if first else node.otherwise
        value = rebuild(value, lambda leaf: leaf, instead=self._instead)
        return typed_as(node, value)

    def _read(self, load: Load) -> Load | None:
        """A load whose computed indices are forms inside, as far as they are."""
        forms: dict[Computed, Affine] = {}
        for atom in computed_in(load.indices):
            before = self.inside
            form = self._form(atom.value)
            if form is None:
                self.inside = before
            else:
                forms[atom] = form
        return (
            replace(load, indices=tuple(each.with_computed(forms) for each in load.indices))
            if forms
            else None
        )

    def _form(self, value: Expr) -> Affine | None:
        """A value as a form, where Min and Max of forms are decided."""
        if not (isinstance(value, Binary) and value.op in ("min", "max")):
            form = affine_form(value)
            return form if form is not None and self._knows(set(form.names())) else None
        left, right = self._form(value.left), self._form(value.right)
        if left is None or right is None:
            return None
        is_left = self.domain.at_least_zero([left - right if value.op == "max" else right - left])
        first = self._decide(is_left, self.domain.subtract(is_left))
        return None if first is None else left if first else right

    def _knows(self, names: set[str]) -> bool:
        return names <= {*self.domain.params, *self.domain.dims}

    def _decide(self, first: Domain, second: Domain) -> bool | None:
        """Whether the first of two parts of the domain is inside, not the second; None where neither is thin.

        Points of the other one are outside from now on.
        """
        sides = [each.assume(self.context) for each in (first, second)]
        if any(each.is_empty() for each in sides):
            return sides[1].is_empty()
        if not all(map(_is_between_forms, sides)):
            return None
        widths = [*map(_width, sides)]
        if widths[0] == widths[1]:
            return None
        chosen = widths[0] is None or (widths[1] is not None and widths[0] > widths[1])
        self.inside = self.inside.intersect(first if chosen else second)
        return chosen


def _around(node: Expr) -> tuple[Expr, ...]:
    """The operands of a node, without the values in indices."""
    return () if isinstance(node, Load) else children(node)


def _limited(node: Expr) -> bool:
    """Whether a Min or Max is in an index."""
    return isinstance(node, Load) and any(
        isinstance(atom.value, Binary) and atom.value.op in ("min", "max")
        for atom in computed_in(node.indices)
    )


def _width(domain: Domain) -> int | None:
    """The most points that a piece of a set has across, along its shortest dimension; None: as sizes say."""
    widest = 0
    for piece in domain.pieces():
        sides = [found for dim in piece.dims if (found := piece.sides(dim)) is not None]
        pairs = [high - low for lows, highs in sides for low in lows for high in highs]
        known = [size.const + 1 for size in pairs if size.is_constant]
        if not known:
            return None
        widest = max(widest, min(known))
    return widest


def _is_between_forms(domain: Domain) -> bool:
    """Whether every piece of a set lies between forms of sizes along every dimension, one or several."""
    return all(piece.sides(dim) is not None for piece in domain.pieces() for dim in piece.dims)
