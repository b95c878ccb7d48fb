"""Why a product is no library call, in words: what is named is what has to change for a routine to match."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as pairs_of

from polymat.graph.product import Product
from polymat.graph.term import Term, is_box
from polymat.idiom.diagonal import with_diagonal
from polymat.idiom.layout import Extents, merged, view
from polymat.idiom.lineup import lined_up
from polymat.idiom.operands import Sharing, columns_last, result_view, sharing
from polymat.idiom.triangulardomain import Half, half_of
from polymat.idiom.unlike import shortened
from polymat.idiom.unsolved import reason_against_system


def reason_against(product: Product, extents: Extents) -> str:
    """The reason why a product, for which nothing was found, is no library call."""
    if product.is_recurrence:
        return reason_against_system(lined_up(product), extents)
    if product.dtype.kind not in "fc":
        return f"libraries do not multiply {product.dtype}"
    form = with_diagonal(lined_up(product))
    if not any(term.reduced for term in form.terms):
        return f"nothing is summed, and no routine has this update: {' + '.join(map(_product, form.terms))}"
    found = next((reason for term in form.terms if (reason := _against(term, form, extents))), "")
    if found or len(form.terms) != 1:
        return found or "no routine adds these terms"
    return f"no routine has these strides: {_factors(form.terms[0])}"


def _against(term: Term, product: Product, extents: Extents) -> str:
    """What keeps one term from being a call; empty where nothing is known to."""
    found = reason_against_factors(term, product)
    if found or not term.reduced:
        return found
    shared = sharing(term, product)
    if shared is None:
        return next(_unshared(term))
    if not is_box(term, product.context):
        return _against_domain(term, product, extents)
    reasons = (
        _against_indices(term, shared),
        _against_conjugates(term, product, shared),
        _against_layout(columns_last(term, product), product, shared, extents),
    )
    return next((reason for reason in reasons if reason), "")


def reason_against_factors(term: Term, product: Product) -> str:
    """The reason why a term is no scale times two elements of the result's type; empty where it is one."""
    if term.divisors:
        return f"it is divided by {term.divisors[0]}"
    if term.weights:
        return f"its factor {shortened(term.weights[0])} is computed of indices, no array element"
    if len(term.factors) > 2:
        return f"{len(term.factors)} array elements are multiplied: {', '.join(map(str, term.factors))}"
    if not all(factor.dtype == product.dtype for factor in term.factors):
        types = ", ".join(f"{factor} is {factor.dtype}" for factor in term.factors)
        return f"real and complex values are multiplied: {types}"
    if len(term.factors) < 2 and term.reduced:
        return f"{_factors(term)} is summed alone, without an array that it is multiplied with"
    return ""


def _unshared(term: Term) -> Iterator[str]:
    """Indices that are in neither factor, and summed ones that are in one alone."""
    one, other = term.factors
    for dim in term.dims:
        if dim not in one.names() | other.names():
            yield f"neither {one} nor {other} depends on {dim}"
        elif dim in term.reduced and dim not in one.names() & other.names():
            yield f"{dim} is summed over and {other if dim in one.names() else one} does not depend on it"


def _against_domain(term: Term, product: Product, extents: Extents) -> str:
    """Of a sum over no rectangle: which triangle it is, and what no routine has of it."""
    for row, column in pairs_of(product.dims, (*product.dims, *term.reduced)):
        half = half_of(term, row, column, product.context) if row != column else None
        if half is not None and column in term.reduced:
            return _against_sums(half, row, column, term, product, extents)
        if half is not None:
            return _against_results(half, term)
    shape = "no rectangle with affine bounds and no triangle up to a diagonal"
    return f"its indices run over {shape}: {term.domain}"


def _against_results(half: Half, term: Term) -> str:
    """What no routine has of a product of which a triangle is computed."""
    if half.strict:
        return f"a triangle of the result is without its diagonal, which routines have: {term.domain}"
    known = "an array times its own transpose (syrk), or two products of which one is the other's (syr2k)"
    return f"a triangle of the result is computed, which libraries do for {known} alone"


def _against_sums(half: Half, row: str, column: str, term: Term, product: Product, extents: Extents) -> str:
    """What no routine has of a sum up to a diagonal, or from one on."""
    found = _against_square(row, column, term, product, extents)
    if found:
        return found
    halves = [half_of(each, row, each.reduced[0], product.context) for each in product.terms if each.reduced]
    triangles = [each.triangle for each in halves if each is not None]
    if len(product.terms) == 2 and sorted(triangles) == ["lower", "upper"]:
        both = " and ".join(map(_product, product.terms))
        return f"its sums on both sides of the diagonal, {both}, are not of one triangle of a symmetric array"
    where = "a triangle of the sum"
    if half.strict:
        return f"{where} is without its diagonal, which routines have: {term.domain}"
    if product.addends or len(product.terms) > 1:
        return f"{where} is added to something, and a library's triangular product overwrites its result"
    if (half.low, half.high) != product.box[product.dims.index(row)]:
        return f"{where} goes from {half.low} to {half.high}, and {row} over another range"
    return f"no routine has {where} with these strides: {_factors(term)}"


def _against_square(row: str, column: str, term: Term, product: Product, extents: Extents) -> str:
    """What keeps the factors of a triangular sum from being a square array and a matrix or a vector."""
    squares = [factor for factor in term.factors if {row, column} <= factor.names()]
    if len(squares) != 1:
        return f"{row} and {column}, of the triangle, are not both in one alone of {_factors(term)}"
    (square,) = squares
    (other,) = (factor for factor in term.factors if factor is not square)
    for factor in term.factors:
        if factor.conjugated:
            return f"no routine conjugates beside a triangle: {factor}"
    own = [dim for dim in product.dims if dim in square.names() and dim not in other.names()]
    if len(own) > 1:
        return f"{' and '.join(own)} are in {square} alone, which is no matrix then"
    shared = sharing(term, product)
    crossed = "" if shared is None else _against_indices(term, shared)
    free = [dim for dim in product.dims if dim in other.names() and dim not in square.names()]
    if (
        not crossed
        and free
        and merged(free, (view(other, extents), result_view(product, extents)), term) is None
    ):
        return (
            f"{' and '.join(free)} do not run over the elements of {other} and the result as one index would"
        )
    return crossed


def _against_indices(term: Term, shared: Sharing) -> str:
    """An index that moves an operand by no constant, forward distance along one dimension of its own."""
    inside = {*shared.left, *shared.right, *shared.summed}
    for factor in term.factors:
        for dim in term.dims:
            forms = [form for form in factor.indices if dim in form.names()]
            if len(forms) > 1:
                return f"{dim} is in {len(forms)} indices of {factor}"
            if forms and not forms[0].is_linear_in([dim]):
                return f"{dim} does not move {factor} by a constant distance"
            if forms and forms[0].coefficient(dim) < 0:
                return f"{dim} runs backwards in {factor}, and not in every array that it is an index of"
        for form in factor.indices:
            here = [dim for dim in term.dims if dim in form.names() and dim in inside]
            if len(here) > 1 and not set(here).isdisjoint(shared.summed):
                return f"{' and '.join(here)} are in one index of {factor}"
    return ""


def _against_conjugates(term: Term, product: Product, shared: Sharing) -> str:
    """Which conjugate no routine takes."""
    conjugated = [factor for factor in columns_last(term, product).factors if factor.conjugated]
    if not conjugated:
        return ""
    if not shared.left and not shared.right:
        return f"both factors are conjugated: {_factors(term)}" if len(conjugated) > 1 else ""
    for factor in conjugated:
        if not factor.names() & {*shared.left, *shared.right}:
            return f"no routine conjugates the vector: {factor}"
    return f"libraries conjugate what is transposed alone, and not {conjugated[0]}"


def _against_layout(term: Term, product: Product, shared: Sharing, extents: Extents) -> str:
    """What keeps operands from being matrices, and the result from having rows."""
    last = product.dims[-1] if product.dims else ""
    for factor in term.factors:
        own = [dim for dim in (*shared.left, *shared.right, *shared.summed) if dim in factor.names()]
        if shared.left and last in own:  # columns of the result are rows of its array
            own = [last, *shared.summed]
        strides = [view(factor, extents).stride(dim) for dim in own]
        if len(own) > len(shared.summed) and not any(s is not None and s.is_unit for s in strides):
            return f"none of {', '.join(own)} moves {factor} from one element to the next"
    if merged(shared.summed, [view(factor, extents) for factor in term.factors], term) is None:
        summed = " and ".join(shared.summed)
        return f"{summed} do not run over the elements of {_factors(term)} as one index would"
    if shared.left and shared.right and last in shared.both:
        return f"{last}, along which results are neighbours, is an index of both arrays: {_factors(term)}"
    return ""


def _factors(term: Term) -> str:
    return " and ".join(map(str, term.factors)) or "a number"


def _product(term: Term) -> str:
    return " * ".join(map(str, term.factors)) or "a number"
