"""trsm and trsv: forward and backward substitution, written as a recurrence."""

from __future__ import annotations

from dataclasses import replace

from polymat.graph.monomials import Factor
from polymat.graph.product import Product
from polymat.graph.term import Term
from polymat.idiom.call import Idiom
from polymat.idiom.layout import Extents
from polymat.idiom.sided import Sided, sided
from polymat.idiom.triangulardomain import half_of
from polymat.idiom.trmm import triangular_call
from polymat.lang.affine import Affine
from polymat.lang.expr import Const, Expr, Unary


def match_trsm(product: Product, extents: Extents) -> Idiom | None:
    """x(i) = (alpha b(i) - sum over k < i of L(i, k) x(k)) / L(i, i), or from the end with k > i.

    Without the division the diagonal is ones.  Of several columns it is trsm, on either side.
    """
    if len(product.terms) != 1 or len(product.addends) != 1:
        return None
    (term,), (start,) = product.terms, product.addends
    if term.weights or start.weights or len(start.factors) != 1 or not is_minus_one(term.scale):
        return None
    if term.divisors != start.divisors:
        return None
    square = next((n for n, factor in enumerate(term.factors) if factor.source != product.name), 0)
    found = sided(term, product, square, extents)
    if found is None or found.other.source != product.name or not reads_solution(found, product):
        return None
    half = half_of(term, found.index, found.summed, product.context)
    if half is None or not half.strict or not divides_by_diagonal(term, found):
        return None
    if not covers(start, product):
        return None
    right = _right_hand_side(start, found)
    unit = replace(half, strict=not term.divisors)
    solved = replace(term, scale=start.scale, divisors=())
    call = triangular_call("trsm", replace(found, other=right), unit, solved, product, extents)
    return None if call is None else Idiom(product, (call,))


def is_minus_one(scale: Expr | None) -> bool:
    """Whether a scale is the number -1."""
    match scale:
        case Const(value):
            return value == -1
        case Unary("-", Const(value)):
            return value == 1
        case _:
            return False


def reads_solution(found: Sided, product: Product) -> bool:
    """Whether the solution is read at its own indices, the summed one for the square's."""
    own = {found.index: Affine.name(found.summed)}
    return found.other.indices == tuple(Affine.name(d).substitute(own) for d in product.dims)


def divides_by_diagonal(term: Term, found: Sided) -> bool:
    """Whether it is divided by the triangle's diagonal, or by nothing."""
    diagonal = found.square.at({found.summed: Affine.name(found.index)})
    return term.divisors in ((), (diagonal,))


def covers(start: Term, product: Product) -> bool:
    """Whether there is a right-hand side everywhere."""
    return start.domain.assume(product.context).equals(product.domain.assume(product.context))


def _right_hand_side(start: Term, found: Sided) -> Factor:
    """The array solved for, read at the summed index, as the routine's formula has it."""
    return start.factors[0].at({found.index: Affine.name(found.summed)})
