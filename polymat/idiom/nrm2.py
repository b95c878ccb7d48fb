"""nrm2: the square root of a sum of squares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.graph.product import product_of_group
from polymat.graph.stage import Stage
from polymat.idiom.call import Idiom, LibraryCall, Operand
from polymat.idiom.dot import match_dot
from polymat.idiom.layout import Extents
from polymat.lang.expr import Call, Expr, Load
from polymat.poly.domain import Domain


def match_nrm2(stages: Sequence[Stage], context: Domain, extents: Extents) -> Idiom | None:
    """Sqrt(sum over k of x(k) x(k)), or of Real(x(k) Conj(x(k))), the sum a stage that nobody else sees.

    A library computes it without overflow in between, so that it is finite where the definition's squares
    are not.
    """
    if len(stages) < 2 or stages[-1].is_reduction or len(stages[-1].parts) != 1:
        return None
    result, sum_stage = stages[-1], stages[-2]
    if result.dims != () or not _is_root(result.parts[0].expr, sum_stage):
        return None
    product = product_of_group(stages[:-1], context)
    if product is None or len(product.terms) != 1 or product.addends or product.terms[0].scale is not None:
        return None
    call = match_dot(product.terms[0], product, extents)
    if call is None or call.routine != ("dotc" if product.dtype.kind == "c" else "dot"):
        return None
    x, y = call.operands
    if (x.source, x.indices) != (y.source, y.indices):
        return None
    whole = replace(
        product, name=result.name, dtype=result.dtype, stages=tuple(stage.name for stage in stages)
    )
    to = Operand(result.name, (), (), ())
    root = LibraryCall("nrm2", product.dtype, to, (replace(x, conjugated=False),), call.axes)
    return Idiom(whole, (root,))


def _is_root(expr: Expr, of: Stage) -> bool:
    """Whether an expression is the root of a stage's only element, or of its real part."""
    match expr:
        case Call("sqrt", Call("real", Load(source, ()))) | Call("sqrt", Load(source, ())):
            return bool(source.name == of.name) and (of.dtype.kind == "f" or isinstance(expr.operand, Call))
        case _:
            return False
