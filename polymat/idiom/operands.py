"""What matchers ask of a term: which index names its factors share, and whether its domain is a rectangle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.graph.monomials import Factor
from polymat.graph.product import Product
from polymat.graph.stage import Ref
from polymat.graph.term import Term
from polymat.idiom.layout import Extents, View, view
from polymat.lang.affine import Affine
from polymat.lang.expressiontext import structure
from polymat.poly.domain import Domain


def holds_where(term: Term, forms: Sequence[Affine], context: Domain) -> bool:
    """Whether a term's domain is the part of its box in which every form is >= 0."""
    box = Domain.box(term.domain.params, term.dims, term.box).at_least_zero(forms)
    return term.domain.assume(context).equals(box.assume(context))


def result_view(product: Product, extents: Extents) -> View:
    """The result as an operand: its element at its own indices."""
    ref = Ref(product.name, product.dtype, is_input=False)
    return view(Factor(ref, tuple(map(Affine.name, product.dims))), extents)


@dataclass(frozen=True, slots=True)
class Sharing:
    """The index names of a term of two factors, in the result's order, then the reduced ones.

    left, right: of the result, in one factor only.  both: of the result, in both (a batch).
    summed: reduced, in both.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    both: tuple[str, ...]
    summed: tuple[str, ...]


def sharing(term: Term, product: Product) -> Sharing | None:
    """How two factors share the index names; None when a name is in neither or a reduced one in one only."""
    one, other = (factor.names() for factor in term.factors)
    if any(dim not in one | other for dim in term.dims) or any(d not in one & other for d in term.reduced):
        return None
    return Sharing(
        tuple(d for d in product.dims if d not in other),
        tuple(d for d in product.dims if d not in one),
        tuple(d for d in product.dims if d in one and d in other),
        term.reduced,
    )


def columns_last(term: Term, product: Product) -> Term:
    """The two factors so that the second has the result's last index, whose elements are neighbours."""
    first, second = term.factors
    last = product.dims[-1:]
    return replace(term, factors=(second, first)) if set(last) <= first.names() else term


def same_scale(one: Term, other: Term) -> bool:
    """Whether two terms are scaled by the same expression."""
    scales = [None if term.scale is None else structure(term.scale) for term in (one, other)]
    return scales[0] == scales[1]


def same_names(term: Term, model: Term) -> Term | None:
    """A term with the reduced names of another, paired in order; None when there are more or fewer.

    Its domain keeps its own names: sets are compared by position.
    """
    if len(term.reduced) != len(model.reduced):
        return None
    names = {old: Affine.name(new) for old, new in zip(term.reduced, model.reduced, strict=True)}
    return replace(term, reduced=model.reduced, factors=tuple(factor.at(names) for factor in term.factors))


def is_real_or_complex(term: Term, product: Product) -> bool:
    """Whether every factor has the result's type and libraries know it."""
    known = product.dtype.kind in "fc"
    return known and all(factor.dtype == product.dtype for factor in term.factors)


def is_strided(factor: Factor, term: Term) -> bool:
    """Whether each index name of a term moves an array element by a constant number of elements.

    A library is told a stride; b(j // 8, j % 8) has none.
    """
    return all(form.is_linear_in(term.dims) for form in factor.indices)


def is_pair(term: Term, product: Product) -> bool:
    """Whether it is a scale times two array elements of the result's type, one that libraries know."""
    return len(term.factors) == 2 and term.is_plain and is_real_or_complex(term, product)


def fills_box(product: Product) -> bool:
    """Whether the product is given at every index within the result's bounds."""
    box = Domain.box(product.domain.params, product.dims, product.box)
    return product.domain.assume(product.context).equals(box.assume(product.context))
