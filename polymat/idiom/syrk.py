"""syrk: one triangle of result(m, n) += alpha A(m, k) A(n, k); herk for A(m, k) conj(A(n, k))."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polymat.graph.product import Product
from polymat.graph.term import Term, is_box
from polymat.idiom.call import Axis, Cut, Idiom, LibraryCall, Operand
from polymat.idiom.layout import Extents, axis, matrix, merged, view
from polymat.idiom.operands import columns_last, is_pair, result_view, sharing
from polymat.idiom.triangulardomain import Half, half_of
from polymat.lang.affine import Affine
from polymat.poly.domain import Domain


def match_syrk(term: Term, product: Product, extents: Extents) -> LibraryCall | None:
    """A product of an array with its own transpose, in a triangle with its diagonal."""
    update = rank_update(term, product, extents)
    return None if update is None else _with_itself(update, term, product)


def as_half(idiom: Idiom, extents: Extents) -> Idiom | None:
    """A full product of an array with its own transpose as syrk, whose other triangle is a copy.

    before:  C(i, j) = sum over k of A(i, k) A(j, k), by gemm
    after:   C(i, j) for j <= i by syrk, then C(j, i) = C(i, j)
    """
    product = idiom.product
    if len(idiom.calls) != 1 or idiom.calls[0].routine != "gemm" or idiom.start or product.others:
        return None
    (term,) = product.terms
    update = _update(columns_last(term, product), product, extents, _whole_square)
    call = None if update is None else _with_itself(update, term, product)
    if call is None or call.routine != "syrk":
        return None
    return Idiom(product, (replace(call, mirrored=True),))


def _with_itself(
    update: tuple[LibraryCall, Operand, Operand], term: Term, product: Product
) -> LibraryCall | None:
    """The call of syrk or herk, when both arrays are the same."""
    call, A, B = update
    row, column = call.axis("m").dims[0], call.axis("n").dims[0]
    one, other = columns_last(term, product).factors
    if one.source != other.source or one.at({row: Affine.name(column)}).indices != other.indices:
        return None
    routine = _routine(A, B, product, term)
    if routine is None:
        return None
    return LibraryCall(
        routine, call.dtype, call.result, (A,), call.axes, term.scale, call.batch, None, call.triangle,
        cuts=call.cuts,
    )  # fmt: skip


def _routine(A: Operand, B: Operand, product: Product, term: Term) -> str | None:
    """syrk without conjugates; herk where BLAS has it: A A^H, and A^H A for a transposed A, alpha real.

    herk sets the imaginary part of the diagonal to 0, so nothing else may be in the result.
    """
    if not A.conjugated and not B.conjugated:
        return "syrk"
    hermitian = (A.conjugated, B.conjugated) == ((True, False) if A.transposed else (False, True))
    real = term.scale is None or term.scale.dtype.kind != "c"
    alone = len(product.terms) == 1 and not product.addends
    return "herk" if hermitian and real and alone and product.dtype.kind == "c" else None


def rank_update(
    term: Term, product: Product, extents: Extents
) -> tuple[LibraryCall, Operand, Operand] | None:
    """result(m, n) += A(m, k) B(n, k) in a triangle of the result, as a gemm with a triangle, and A and B.

    B's operand is written with the row's role, as the routines want it.
    """
    if not is_pair(term, product) or not term.reduced:
        return None
    return _update(columns_last(term, product), product, extents, half_of)


def _whole_square(term: Term, row: str, column: str, context: Domain) -> Half | None:
    """The lower half of a domain that is all of a square in two of its indices."""
    low, high = term.range_of(row)
    if term.range_of(column) != (low, high) or not is_box(term, context):
        return None
    return Half("lower", False, low, high)


def _update(
    term: Term,
    product: Product,
    extents: Extents,
    find_half: Callable[[Term, str, str, Domain], Half | None],
) -> tuple[LibraryCall, Operand, Operand] | None:
    """The update of the half of the result that is found."""
    shared = sharing(term, product)
    if shared is None or len(shared.left) != 1 or shared.right != product.dims[-1:]:
        return None
    (row,), (column,) = shared.left, shared.right
    half = find_half(term, row, column, product.context)
    views = tuple(view(factor, extents) for factor in term.factors)
    k = merged(shared.summed, views, term)
    if half is None or half.strict or k is None:
        return None
    operands = [matrix(v, ("m", (d,)), ("k", k)) for v, d in zip(views, (row, column), strict=True)]
    result = matrix(result_view(product, extents), ("m", (row,)), ("n", (column,)))
    A, B = operands
    if A is None or B is None or result is None or result.transposed:
        return None
    side = [Axis((d,), (half.low,), (half.high - half.low + 1,)) for d in (row, column)]
    call = LibraryCall(
        "gemm",
        product.dtype,
        result,
        (A, B),
        (("m", side[0]), ("n", side[1]), ("k", axis(k, term))),
        term.scale,
        tuple(axis((d,), term) for d in shared.both),
        triangle=half.triangle,
        cuts=(Cut("m", "triangle"),),
    )
    return call, A, B
