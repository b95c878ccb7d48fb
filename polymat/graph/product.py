"""The normal form of products: a stage, or a small group of stages, as a sum of products of array elements.

Written from the polyhedral form, so that matrix algebra and reductions, any order and naming of the indices,
transposed and strided accesses, factors inside or outside the sum all come out the same (Bondhugula's
library mapping in PolyMage's matrix thesis asks for one form of an expression; this is a general one).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

from polymat.graph.monomials import MOST, Factor, Monomial, expand
from polymat.graph.stage import Accumulation, Bounds, Part, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Const, Expr, Load, binary
from polymat.lang.indices import affine_names
from polymat.lang.reduction import Op
from polymat.lang.traverse import walk
from polymat.lang.types import WEAK_INT, ScalarType
from polymat.memo import remembered
from polymat.poly.access import Access
from polymat.poly.domain import Domain


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """The sum over the reduced dimensions of one product.

    reduced: the dimensions summed over; none for a term that is added once.
    domain: the exact points (dims of the result, then the reduced ones) at which the product is added.
    box: smallest and largest index per dimension of the domain, as forms over the sizes; it encloses it.
    scale: of constants, parameters and elements at fixed indices; None is 1.  Where the domain is empty
    such an element may not exist.
    factors, divisors: the array elements multiplied and divided by.
    weights: further factors, expressions of indices without array elements.
    """

    reduced: tuple[str, ...]
    domain: Domain
    box: Bounds
    scale: Expr | None
    factors: tuple[Factor, ...]
    divisors: tuple[Factor, ...] = ()
    weights: tuple[Expr, ...] = ()

    @property
    def dims(self) -> tuple[str, ...]:
        """The result's dimensions and the reduced ones."""
        return self.domain.dims

    @property
    def is_plain(self) -> bool:
        """Whether it is a product of array elements and a scale alone."""
        return not self.divisors and not self.weights

    @property
    def expr(self) -> Expr:
        """The expression that a term adds at one point of its domain."""
        values = [] if self.scale is None else [self.scale]
        values += [*self.weights, *(factor.expr for factor in self.factors)]
        value = reduce(partial(binary, "*"), values or [Const(1, WEAK_INT)])
        return reduce(partial(binary, "/"), [factor.expr for factor in self.divisors], value)

    def range_of(self, dim: str) -> tuple[Affine, Affine]:
        """Smallest and largest index of one dimension."""
        return self.box[self.dims.index(dim)]


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """`stage(dims) = addends + sum of the terms`, on `domain`.

    dims: those of the stage; every term is written over them, whatever the target of its reduction was.
    terms: with the reduction, in the order written.  addends: what is added once to each element (beta * C),
    as terms without reduced dimensions; () is zero.
    others: the parts of the stage elsewhere, in which no term occurs (above the diagonal of a triangle).
    stages: all stages that it stands for, producers first, the result last.
    context: what is known of the sizes.
    """

    name: str
    dtype: ScalarType
    dims: tuple[str, ...]
    domain: Domain
    box: Bounds
    terms: tuple[Term, ...]
    addends: tuple[Term, ...]
    others: tuple[Part, ...]
    stages: tuple[str, ...]
    context: Domain

    @property
    def is_recurrence(self) -> bool:
        """Whether a term reads the result."""
        return any(
            factor.source == self.name
            for term in (*self.terms, *self.addends)
            for factor in (*term.factors, *term.divisors)
        )


@remembered
def is_box(term: Term, context: Domain) -> bool:
    """Whether a term is added at every point of its box."""
    whole = Domain.box(term.domain.params, term.dims, term.box).assume(context)
    return whole.is_subset(term.domain)


def product_of(stage: Stage, context: Domain) -> Product | None:
    """One stage as a sum of products; None when it is anything else.

    before:  C.defn = [Reduce(C(j, i), 2 * B(k, i) * A(j, k), Op.Sum)]
    after:   C(i, j) = sum over k of 2 * B(k, j) * A(i, k)
    """
    return product_of_group((stage,), context)


def product_of_group(stages: Sequence[Stage], context: Domain) -> Product | None:
    """The last of some stages with the others, which nobody else need see, put into it.

    before:  P(i, j) = sum over k of A(i, k) * B(k, j);  C(i, j) = alpha * P(i, j) + beta * D(i, j)
    after:   C(i, j) = beta * D(i, j) + sum over k of alpha * A(i, k) * B(k, j)
    """
    return _product_of(context, tuple(stages))


@remembered
def _product_of(context: Domain, stages: tuple[Stage, ...]) -> Product | None:
    result = stages[-1]
    inside = {stage.name: stage for stage in stages[:-1]}
    own = _own_terms(result, inside, context)
    if own is None:
        return None
    part, terms, others = own
    for producer in reversed(stages[:-1]):
        if not any(factor.source == producer.name for term in terms for factor in term.factors):
            return None
        substituted = _without(producer, terms, inside, context)
        if substituted is None:
            return None
        terms = substituted
    if len(terms) > MOST:
        return None
    summed = tuple(t for t in terms if t.reduced) if any(t.reduced for t in terms) else terms
    return Product(
        name=result.name,
        dtype=result.dtype,
        dims=result.dims,
        domain=part,
        box=result.box,
        terms=summed,
        addends=tuple(t for t in terms if t not in summed),
        others=others,
        stages=tuple(stage.name for stage in stages),
        context=context,
    )


_Own = tuple[Domain, tuple[Term, ...], tuple[Part, ...]]


def _own_terms(stage: Stage, inside: Mapping[str, Stage], context: Domain) -> _Own | None:
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
    return _terms(monomials, (), part.domain, stage.box, context)


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
    return _terms(moved, tuple(reduced.values()), domain, box, context)


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
    reduced = _renamed(
        [d for d in accumulation.dims if d not in chosen], (*dims, *accumulation.domain.params)
    )
    values = {old: Affine.name(new) for old, new in reduced.items()}
    solved = dict(values)
    for old, (dim, form) in chosen.items():
        sign = form.coefficient(old)
        rest = (form - Affine.name(old).scale(sign)).substitute(values)
        solved[old] = (Affine.name(dim) - rest).scale(sign)
    return solved, reduced


def _renamed(names: Sequence[str], taken: Sequence[str]) -> dict[str, str]:
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


def _terms(
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


def _without(
    producer: Stage, terms: tuple[Term, ...], inside: Mapping[str, Stage], context: Domain
) -> tuple[Term, ...] | None:
    """Terms with the producer's own put in for its elements; None where that makes no sum of products."""
    found: list[Term] = []
    for term in terms:
        if any(factor.source == producer.name for factor in term.divisors):
            return None
        position = next((n for n, f in enumerate(term.factors) if f.source == producer.name), None)
        if position is None:
            found.append(term)
            continue
        opened = _opened(term, position, producer, inside, context)
        again = None if opened is None else _without(producer, opened, inside, context)
        if again is None or len(found) + len(again) > MOST:
            return None
        found += again
    return tuple(found)


def _opened(
    term: Term, position: int, producer: Stage, inside: Mapping[str, Stage], context: Domain
) -> tuple[Term, ...] | None:
    """One factor of a term replaced by what defines it, once for each of the producer's terms."""
    factor = term.factors[position]
    others = term.factors[:position] + term.factors[position + 1 :]
    if producer.reads_itself or (producer.is_reduction and (term.reduced or others or term.weights)):
        return None
    earlier = {name: stage for name, stage in inside.items() if name != producer.name}
    pieces = _all_terms(producer, earlier, context)
    if pieces is None:
        return None
    rest = Monomial(term.scale, others, term.divisors, term.weights)
    found: list[Term] = []
    for piece in pieces:
        if factor.conjugated and piece.reduced:
            return None
        found += _placed(term, rest, factor, piece, producer, context)
    return tuple(found)


def _all_terms(producer: Stage, inside: Mapping[str, Stage], context: Domain) -> tuple[Term, ...] | None:
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


def _placed(
    term: Term, rest: Monomial, factor: Factor, piece: Term, producer: Stage, context: Domain
) -> tuple[Term, ...]:
    """`rest` times a term of the producer at the factor's indices."""
    fresh = _renamed(piece.reduced, (*term.dims, *term.domain.params))
    values = dict(zip(producer.dims, factor.indices, strict=True))
    values |= {old: Affine.name(new) for old, new in fresh.items()}
    value = Monomial(piece.scale, piece.factors, piece.divisors, piece.weights).at(values)
    product = rest * (value.conjugate() if factor.conjugated else value)
    box = (*term.box, *(piece.range_of(old) for old in fresh))
    wide = term.domain.extended(tuple(fresh.values()))
    domain = Access.of(wide, [*factor.indices, *map(Affine.name, fresh.values())]).inside(piece.domain)
    return _terms((replace(product, guards=()),), (*term.reduced, *fresh.values()), domain, box, context)
