"""The terms of a stage: its right-hand sides multiplied out, each product with its points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polymat.graph.expansion import expand
from polymat.graph.monomials import Monomial
from polymat.graph.stage import Accumulation, Bounds, Part, Stage
from polymat.graph.term import Term
from polymat.lang.affine import Affine
from polymat.lang.expr import Const, Expr, Load
from polymat.lang.indices import affine_names
from polymat.lang.reduction import Op
from polymat.lang.traverse import walk
from polymat.poly.access import Access
from polymat.poly.domain import Domain

_Own = tuple[Domain, tuple[Term, ...], tuple[Part, ...]]


def own_terms(stage: Stage, inside: Mapping[str, Stage], context: Domain) -> _Own | None:
    """Where a stage is a sum of products, the terms, and its parts elsewhere."""
    if stage.is_reduction:
        terms = _reduction_terms(stage, inside, context)
        return None if terms is None else (stage.domain, terms, ())
    parts = [part for part in stage.parts if not part.domain.assume(context).is_empty()]
    main = [part for part in parts if _reads(part, inside)] if len(parts) > 1 else parts
    if len(main) != 1:
        return None
    terms = _part_terms(stage, main[0], inside, context)
    return None if terms is None else (main[0].domain, terms, tuple(p for p in parts if p is not main[0]))


def _reads(part: Part, inside: Mapping[str, Stage]) -> bool:
    return any(isinstance(node, Load) and node.source.name in inside for node in walk(part.expr))


def _reduction_terms(stage: Stage, inside: Mapping[str, Stage], context: Domain) -> tuple[Term, ...] | None:
    if stage.operation is not Op.Sum:
        return None
    found: list[Term] = []
    for part in stage.parts:
        if part.fills and part.domain.is_empty():
            continue
        start = () if _is_zero(part.expr) else _part_terms(stage, part, inside, context)
        if start is None:
            return None
        found += start
    for accumulation in stage.accumulations:
        summed = _accumulated(stage, accumulation, inside, context)
        if summed is None:
            return None
        found += summed
    return tuple(found)


def _is_zero(expr: Expr) -> bool:
    return isinstance(expr, Const) and expr.value == 0


def _part_terms(
    stage: Stage, part: Part, inside: Mapping[str, Stage], context: Domain
) -> tuple[Term, ...] | None:
    if _is_zero(part.expr):
        return ()
    monomials = expand(part.expr, stage.dims, stage.dtype, inside)
    if monomials is None or not _are_between(monomials, (*stage.dims, *part.domain.params)):
        return None
    return terms_of(monomials, (), part.domain, stage.box, context)


def _are_between(monomials: Sequence[Monomial], names: Sequence[str]) -> bool:
    """Whether all guards are conditions between indices and sizes: a number may be a parameter as well."""
    conditions = (condition for monomial in monomials for condition, _ in monomial.guards)
    return all((affine_names(condition) or set()) <= {*names} for condition in conditions)


def _accumulated(
    stage: Stage, accumulation: Accumulation, inside: Mapping[str, Stage], context: Domain
) -> tuple[Term, ...] | None:
    """The terms of one accumulation, over the stage's dimensions and the reduced ones."""
    solved = _solve(stage.dims, accumulation)
    if solved is None:
        return None
    values, reduced = solved
    monomials = expand(accumulation.expr, accumulation.dims, stage.dtype, inside)
    names = (*accumulation.dims, *accumulation.domain.params)
    if monomials is None or not _are_between(monomials, names):
        return None
    order = [*accumulation.target, *(Affine.name(old) for old in reduced)]
    dims = (*stage.dims, *reduced.values())
    if order == [Affine.name(dim) for dim in accumulation.dims]:
        domain = accumulation.domain.renamed(dims)
    else:
        domain = Access.of(accumulation.domain, order).elements(dims)
    ranges = dict(zip(accumulation.dims, accumulation.box, strict=True))
    box = (*stage.box, *(ranges[old] for old in reduced))
    moved = tuple(monomial.at(values) for monomial in monomials)
    return terms_of(moved, tuple(reduced.values()), domain, box, context)


def _solve(
    dims: tuple[str, ...], accumulation: Accumulation
) -> tuple[dict[str, Affine], dict[str, str]] | None:
    """The accumulation's dimensions as forms over the result's and the reduced ones, with their new names.

    before:  target (n + k), dims n, k, result d
    after:   n = d - k;  k is reduced
    """
    chosen: dict[str, tuple[str, Affine]] = {}
    for dim, form in zip(dims, accumulation.target, strict=True):
        others = {n for other in accumulation.target if other is not form for n in other.names()}
        found = [
            old
            for old in accumulation.dims
            if abs(form.coefficient(old)) == 1 and old not in others and list(form.names()).count(old) == 1
        ]
        if not found:
            return None
        chosen[found[0]] = (dim, form)
    reduced = fresh_names(
        [d for d in accumulation.dims if d not in chosen], (*dims, *accumulation.domain.params)
    )
    values = {old: Affine.name(new) for old, new in reduced.items()}
    solved = dict(values)
    for old, (dim, form) in chosen.items():
        sign = form.coefficient(old)
        rest = (form - Affine.name(old).scale(sign)).substitute(values)
        solved[old] = (Affine.name(dim) - rest).scale(sign)
    return solved, reduced


def fresh_names(names: Sequence[str], taken: Sequence[str]) -> dict[str, str]:
    """Names for the reduced dimensions that the result's do not have."""
    used = {*taken}
    renamed: dict[str, str] = {}
    for name in names:
        new = name
        while new in used:
            new = f"{new}_sum"
        used.add(new)
        renamed[name] = new
    return renamed


def terms_of(
    monomials: Sequence[Monomial], reduced: tuple[str, ...], domain: Domain, box: Bounds, context: Domain
) -> tuple[Term, ...]:
    """A term for each monomial, where its guards hold; those that are nowhere are left out."""
    found = []
    for monomial in monomials:
        where = domain
        for condition, truth in monomial.guards:
            yes = where.where(condition)
            where = yes if truth else where.subtract(yes)
        if not where.assume(context).is_empty():
            parts = (monomial.scale, monomial.factors, monomial.divisors, monomial.weights)
            found.append(Term(reduced, where, box, *parts))
    return tuple(found)


def all_terms(producer: Stage, inside: Mapping[str, Stage], context: Domain) -> tuple[Term, ...] | None:
    """The terms of all parts of a stage, each on its own domain."""
    if producer.is_reduction:
        return _reduction_terms(producer, inside, context)
    found: list[Term] = []
    for part in producer.parts:
        terms = _part_terms(producer, part, inside, context)
        if terms is None:
            return None
        found += terms
    return tuple(found)
