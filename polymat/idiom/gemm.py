"""gemm: result(m, n) += alpha A(m, k) B(k, n), with batches and with several index names as one axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polymat.graph.product import Product
from polymat.graph.term import Term, is_box
from polymat.idiom.call import Cut, LibraryCall
from polymat.idiom.layout import Extents, View, axis, matrix, merged, view
from polymat.idiom.operands import (
    Sharing,
    columns_last,
    is_pair,
    result_view,
    sharing,
)


def match_gemm(term: Term, product: Product, extents: Extents) -> LibraryCall | None:
    """A contraction of two arrays as a matrix product, one for each point of a batch.

    Names that two operands run over as over one are one axis, so that A(r, q, s) C(s, p) is one product with
    r*q rows; what is left over is the batch.
    """
    if not is_pair(term, product) or not term.reduced:
        return None
    term = columns_last(term, product)
    shared = sharing(term, product)
    if shared is None or not shared.left or product.dims[-1] not in shared.right:
        return None
    if not is_box(term, product.context):
        return None
    return _call(term, product, shared, extents)


def _call(term: Term, product: Product, shared: Sharing, extents: Extents) -> LibraryCall | None:
    A, B = (view(factor, extents) for factor in term.factors)
    result = result_view(product, extents)
    k = merged(shared.summed, (A, B), term)
    if k is None:
        return None
    for n in runs(shared.right, (result, B), term, suffix=True):
        for m in runs(shared.left, (result, A), term, suffix=False):
            operands = (matrix(A, ("m", m), ("k", k)), matrix(B, ("k", k), ("n", n)))
            to = matrix(result, ("m", m), ("n", n))
            if operands[0] is None or operands[1] is None or to is None or to.transposed:
                continue
            if operands[0].is_conjugate_alone or operands[1].is_conjugate_alone:
                continue
            batch = tuple(axis((d,), term) for d in product.dims if d not in (*m, *n))
            return LibraryCall(
                "gemm",
                product.dtype,
                to,
                (operands[0], operands[1]),
                (("m", axis(m, term)), ("n", axis(n, term)), ("k", axis(k, term))),
                term.scale,
                batch,
                cuts=(Cut("m"), Cut("n")),
            )
    return None


def runs(
    dims: Sequence[str], views: tuple[View, ...], term: Term, *, suffix: bool
) -> Iterator[tuple[str, ...]]:
    """Choices of names for one axis, longest first: runs of neighbours, or those that end the list."""
    for length in range(len(dims), 0, -1):
        starts = [len(dims) - length] if suffix else range(len(dims) - length, -1, -1)
        for start in starts:
            found = merged(dims[start : start + length], views, term)
            if found is not None:
                yield found
