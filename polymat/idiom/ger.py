"""ger: result(m, n) += alpha x(m) y(n); gerc with y's conjugate; syr with x twice, in a triangle."""

from __future__ import annotations

from polymat.graph.product import Product
from polymat.graph.term import Term, is_box
from polymat.idiom.call import Axis, Cut, LibraryCall
from polymat.idiom.layout import Extents, axis, matrix, merged, vector, view
from polymat.idiom.operands import columns_last, is_pair, result_view, sharing
from polymat.idiom.triangulardomain import half_of
from polymat.lang.affine import Affine


def match_ger(term: Term, product: Product, extents: Extents) -> LibraryCall | None:
    """A product of two vectors with different indices, added once."""
    if not is_pair(term, product) or term.reduced:
        return None
    term = columns_last(term, product)
    if not is_box(term, product.context):
        return _match_syr(term, product, extents)
    shared = sharing(term, product)
    if shared is None or shared.both or not shared.left or product.dims[-1] not in shared.right:
        return None
    result = result_view(product, extents)
    x, y = (view(factor, extents) for factor in term.factors)
    m, n = merged(shared.left, (result, x), term), merged(shared.right, (result, y), term)
    if m is None or n is None or x.factor.conjugated:
        return None
    operands = (vector(x, "m", m), vector(y, "n", n))
    to = matrix(result, ("m", m), ("n", n))
    if operands[0] is None or operands[1] is None or to is None or to.transposed:
        return None
    return LibraryCall(
        "gerc" if y.factor.conjugated else "ger",
        product.dtype,
        to,
        (operands[0], operands[1]),
        (("m", axis(m, term)), ("n", axis(n, term))),
        term.scale,
        cuts=(Cut("m"), Cut("n")),
    )


def _match_syr(term: Term, product: Product, extents: Extents) -> LibraryCall | None:
    """A vector times itself in a triangle of a matrix, with its diagonal."""
    if len(product.dims) != 2 or any(factor.conjugated for factor in term.factors):
        return None
    row, column = product.dims
    one, other = term.factors
    half = half_of(term, row, column, product.context)
    same = one.source == other.source and one.at({row: Affine.name(column)}).indices == other.indices
    if half is None or half.strict or not same or one.names() != {row}:
        return None
    x, to = view(one, extents), matrix(result_view(product, extents), ("m", (row,)), ("n", (column,)))
    operand = vector(x, "m", (row,))
    if operand is None or to is None or to.transposed:
        return None
    length = half.high - half.low + 1
    rows, columns = (Axis((dim,), (half.low,), (length,)) for dim in (row, column))
    return LibraryCall(
        "syr", product.dtype, to, (operand,), (("m", rows), ("n", columns)), term.scale,
        triangle=half.triangle,
    )  # fmt: skip
