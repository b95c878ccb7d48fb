"""A stage over two dimensions as one over a single longer dimension, where all that it reads allows it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.graph.stage import Accumulation, Bounds, Part, Stage
from polymat.lang.affine import Affine
from polymat.lang.computed import affine_value
from polymat.lang.condition import Condition
from polymat.lang.expr import Expr, Load, SelectExpr, Variable
from polymat.lang.indices import affine_form
from polymat.lang.traverse import children, comparisons, rebuild, rebuild_condition, walk
from polymat.poly.domain import Domain
from polymat.poly.joineddims import joined

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


@dataclass(frozen=True, slots=True)
class Pair:
    """`name` = extent * outer + inner, with an inner of 0 .. extent - 1."""

    outer: str
    inner: str
    extent: int
    name: str

    def dims(self, dims: tuple[str, ...]) -> tuple[str, ...]:
        """Dimensions with the longer one in the place of the outer."""
        return tuple(self.name if dim == self.outer else dim for dim in dims if dim != self.inner)

    def bounds(self, dims: tuple[str, ...], bounds: Bounds) -> Bounds | None:
        """The bounds of these dimensions; None where the inner is not whole, or others depend on the two."""
        found = dict(zip(dims, bounds, strict=True))
        if any(self.uses(forms) for forms in bounds):
            return None
        if found.pop(self.inner) != (Affine(), Affine((), self.extent - 1)):
            return None
        low, high = found[self.outer]
        found[self.outer] = (low.scale(self.extent), high.scale(self.extent) + (self.extent - 1))
        return tuple(found.values())

    def domain(self, domain: Domain, bounds: Bounds) -> Domain | None:
        """The points of two joined dimensions within bounds, as a domain; None if not linear."""
        box = Domain.box(domain.params, self.dims(domain.dims), bounds)
        return joined(domain, self.outer, self.inner, self.extent, box)

    def index(self, forms: tuple[Affine, ...]) -> tuple[Affine, ...] | None:
        """An element a(..., outer + g, inner) by one index less; None for any other."""
        if len(forms) < 2 or forms[-1] != Affine.name(self.inner):
            return None
        rest = forms[-2] - Affine.name(self.outer)
        if self.uses((*forms[:-2], rest)):
            return None
        return (*forms[:-2], Affine.name(self.name) + rest.scale(self.extent))

    def uses(self, forms: tuple[Affine, ...]) -> bool:
        """Whether one of the two occurs."""
        return any(name in (self.outer, self.inner) for form in forms for name in form.names())

    def condition(self, condition: Condition) -> Condition | None:
        """One comparison of the outer dimension with anything else; None for one that is not of this kind.

        before, with an extent of 3:  j >= g          j <= g              j == g
        after:                        j_c >= 3 * g    j_c <= 3 * g + 2    both
        """
        left, right = affine_form(condition.left), affine_form(condition.right)
        if left is None or right is None:
            return None
        form, op = left - right, condition.op
        step = form.coefficient(self.outer)
        rest = form - Affine.name(self.outer).scale(step)
        if abs(step) != 1 or self.uses((rest,)):
            return None
        op, rest = (op, -rest) if step > 0 else (_FLIPPED[op], rest)
        long = affine_value(Affine.name(self.name))
        first = affine_value(rest.scale(self.extent))
        last = affine_value(rest.scale(self.extent) + (self.extent - 1))
        match op:
            case ">=" | "<":
                return Condition(long, op, first)
            case "<=" | ">":
                return Condition(long, op, last)
            case "==":
                return Condition(long, ">=", first) & Condition(long, "<=", last)
            case _:
                return Condition(long, "<", first) | Condition(long, ">", last)


def joined_stage(stage: Stage, extent: int, name: str, arrays: Collection[str]) -> Stage | None:
    """The stage over its dimensions but the last two, and one called `name`; None where there is no such.

    arrays: those that may be read by one index less, their last two dimensions as one.

    before:  f(i, j, c) = a(i, j + 1, c) for c of 0 .. 2
    after:   f(i, j_c) = a(i, j_c + 3)
    """
    outer, inner = stage.dims[-2:]
    pair = Pair(outer, inner, extent, name)
    bounds = pair.bounds(stage.dims, stage.bounds)
    domain = None if bounds is None else pair.domain(stage.domain, bounds)
    if bounds is None or domain is None:
        return None
    parts = [_part(part, pair, bounds, stage, arrays) for part in stage.parts]
    sums = [_accumulation(item, pair, stage, arrays) for item in stage.accumulations]
    found = [part for part in parts if part is not None], [item for item in sums if item is not None]
    if len(found[0]) < len(parts) or len(found[1]) < len(sums):
        return None
    return replace(
        stage,
        dims=pair.dims(stage.dims),
        bounds=bounds,
        domain=domain,
        parts=tuple(found[0]),
        accumulations=tuple(found[1]),
    )


def _part(part: Part, pair: Pair, bounds: Bounds, stage: Stage, arrays: Collection[str]) -> Part | None:
    domain = pair.domain(part.domain, bounds)
    if domain is None or not _fits(part.expr, pair, stage, arrays):
        return None
    condition = part.condition
    if condition is not None:
        if any(_blocks(each, pair) for each in comparisons(condition)):
            return None
        condition = _condition(condition, pair)
    return replace(part, domain=domain, condition=condition, expr=_expr(part.expr, pair))


def _accumulation(
    item: Accumulation, whole: Pair, stage: Stage, arrays: Collection[str]
) -> Accumulation | None:
    if not item.is_aligned:
        return None
    *_, outer, inner = (next(form.names()) for form in item.target)
    pair = Pair(outer, inner, whole.extent, whole.name)
    bounds = pair.bounds(item.dims, item.bounds)
    domain = None if bounds is None else pair.domain(item.domain, bounds)
    if bounds is None or domain is None or not _fits(item.expr, pair, stage, arrays):
        return None
    condition = item.condition
    if condition is not None:
        if any(_blocks(each, pair) for each in comparisons(condition)):
            return None
        condition = _condition(condition, pair)
    return replace(
        item,
        dims=pair.dims(item.dims),
        bounds=bounds,
        domain=domain,
        condition=condition,
        target=(*item.target[:-2], Affine.name(pair.name)),
        expr=_expr(item.expr, pair),
    )


def _fits(expr: Expr, pair: Pair, stage: Stage, arrays: Collection[str]) -> bool:
    """Whether nothing depends on the two dimensions but by reading elements of arrays that lie alike."""
    return all(_fits_node(node, pair, stage, arrays) for node in walk(expr, lambda node: _kept(node, pair)))


def _fits_node(node: Expr, pair: Pair, stage: Stage, arrays: Collection[str]) -> bool:
    match node:
        case Variable(name=name):
            return name not in (pair.outer, pair.inner)
        case Load(source, indices) if pair.uses(indices):
            found = pair.index(indices)
            # A recurrence stays one along other dimensions: along this one its rows would not be vectors.
            aside = source.name == stage.name and (found is None or found[-1] != Affine.name(pair.name))
            return found is not None and source.name in arrays and not aside
        case _:
            return True


def _kept(node: Expr, pair: Pair) -> tuple[Expr, ...]:
    """The operands of a node, of conditions those alone that are not rewritten by `Pair.condition`."""
    if not isinstance(node, SelectExpr):
        return children(node)
    kept = [each for each in comparisons(node.condition) if pair.condition(each) is None]
    return (*(side for each in kept for side in (each.left, each.right)), node.then, node.otherwise)


def _blocks(condition: Condition, pair: Pair) -> bool:
    """Whether a comparison of indices depends on the two dimensions otherwise than by the outer's value."""
    forms = [affine_form(side) for side in (condition.left, condition.right)]
    known = tuple(form for form in forms if form is not None)
    return pair.uses(known) and pair.condition(condition) is None


def _expr(expr: Expr, pair: Pair) -> Expr:
    def leaf(node: Expr) -> Expr:
        if isinstance(node, Load) and pair.uses(node.indices):
            indices = pair.index(node.indices)
            assert indices is not None, "a load that was looked at"
            return Load(node.source, indices, node.dtype, node.at)
        return node

    return rebuild(expr, leaf, pair.condition)


def _condition(condition: Condition, pair: Pair) -> Condition:
    return rebuild_condition(condition, lambda node: node, pair.condition)
