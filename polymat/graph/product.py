"""The normal form of products: a stage, or a small group of stages, as a sum of products of array elements.

Written from the polyhedral form, so that matrix algebra and reductions, any order and naming of the indices,
transposed and strided accesses, factors inside or outside the sum all come out the same (Bondhugula's
library mapping in PolyMage's matrix thesis asks for one form of an expression; this is a general one).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.graph.expansion import MOST
from polymat.graph.monomials import Factor, Monomial
from polymat.graph.stage import Bounds, Part, Stage
from polymat.graph.stageterms import all_terms, fresh_names, own_terms, terms_of
from polymat.graph.term import Term
from polymat.lang.affine import Affine
from polymat.lang.types import ScalarType
from polymat.memo import remembered
from polymat.poly.access import Access
from polymat.poly.domain import Domain


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
    own = own_terms(result, inside, context)
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
    pieces = all_terms(producer, earlier, context)
    if pieces is None:
        return None
    rest = Monomial(term.scale, others, term.divisors, term.weights)
    found: list[Term] = []
    for piece in pieces:
        if factor.conjugated and piece.reduced:
            return None
        found += _placed(term, rest, factor, piece, producer, context)
    return tuple(found)


def _placed(
    term: Term, rest: Monomial, factor: Factor, piece: Term, producer: Stage, context: Domain
) -> tuple[Term, ...]:
    """`rest` times a term of the producer at the factor's indices."""
    fresh = fresh_names(piece.reduced, (*term.dims, *term.domain.params))
    values = dict(zip(producer.dims, factor.indices, strict=True))
    values |= {old: Affine.name(new) for old, new in fresh.items()}
    value = Monomial(piece.scale, piece.factors, piece.divisors, piece.weights).at(values)
    product = rest * (value.conjugate() if factor.conjugated else value)
    box = (*term.box, *(piece.range_of(old) for old in fresh))
    wide = term.domain.extended(tuple(fresh.values()))
    domain = Access.of(wide, [*factor.indices, *map(Affine.name, fresh.values())]).inside(piece.domain)
    return terms_of((replace(product, guards=()),), (*term.reduced, *fresh.values()), domain, box, context)
