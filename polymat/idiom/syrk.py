"""syrk: one triangle of result(m, n) += alpha A(m, k) A(n, k); herk for A(m, k) conj(A(n, k))."""

from __future__ import annotations

from polymat.graph.product import Product, Term
from polymat.idiom.call import Axis, Cut, LibraryCall, Operand, Routine
from polymat.idiom.layout import Extents, axis, matrix, merged, view
from polymat.idiom.operands import columns_last, is_pair, result_view, sharing
from polymat.idiom.triangle import half_of
from polymat.lang.affine import Affine


def match_syrk(term: Term, product: Product, extents: Extents) -> LibraryCall | None:
    """A product of an array with its own transpose, in a triangle with its diagonal."""
    update = rank_update(term, product, extents)
    if update is None:
        return None
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


def _routine(A: Operand, B: Operand, product: Product, term: Term) -> Routine | None:
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
    term = columns_last(term, product)
    shared = sharing(term, product)
    if shared is None or len(shared.left) != 1 or shared.right != product.dims[-1:]:
        return None
    (row,), (column,) = shared.left, shared.right
    half = half_of(term, row, column, product.context)
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
