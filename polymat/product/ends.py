"""Readers of a contraction that register blocks compute on results that are still in registers.

That is a point-wise expression of sums, products, minima and maxima of the result and of arrays that are read
where a vector of the result is: at its point, along its last dimension, or at one place for a whole row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Binary, Const, Expr, Load, Parameter, Unary
from polymat.lang.traverse import has_loads, loads_in, walk
from polymat.lang.types import ScalarType

Kind = Literal["full", "column", "row"]
MOST_ARRAYS = 4  # beside the result, with their addresses in registers
MOST_NODES = 24  # of an expression that each register block has a copy of


def operand_kind(load: Load, stage: Stage, extents: Mapping[str, tuple[Affine, ...]]) -> Kind | None:
    """How an array is read by a vector along the last dimension of a stage; None where in no such way.

    "full": like the result; "column": along its last dimension alone; "row": at a place for each of its rows.
    """
    own, shape, of = tuple(map(Affine.name, stage.dims)), stage.extents, extents[load.source.name]
    if load.indices == own and of == shape:
        return "full"
    if load.indices == own[:-1] and of == shape[:-1]:
        return "row"
    if len(load.indices) == 1 and (load.indices[0] - own[-1]).is_constant:
        return "column"
    return None


def fits_registers(product: Stage, reader: Stage, extents: Mapping[str, tuple[Affine, ...]]) -> bool:
    """Whether a reader that replaces a product point by point can be computed by its register blocks."""
    if len(reader.parts) != 1 or reader.dtype != product.dtype or reader.dtype.kind != "f":
        return False
    expr = reader.parts[0].expr
    loads = {n for n in loads_in(expr) if n.source.name != product.name}
    if len(loads) > MOST_ARRAYS or sum(1 for _ in walk(expr)) > MOST_NODES:
        return False
    known = all(operand_kind(load, reader, extents) is not None for load in loads)
    return known and has_loads(expr) and _is_arithmetic(expr, reader.dtype)


def _is_arithmetic(expr: Expr, dtype: ScalarType) -> bool:
    match expr:
        case Const():
            return expr.dtype.kind in "if" and (expr.dtype.weak or expr.dtype == dtype)
        case Parameter():
            return expr.dtype == dtype
        case Load():
            return bool(expr.source.dtype == dtype)
        case Unary("-", operand):
            return expr.dtype == dtype and _is_arithmetic(operand, dtype)
        case Binary("+" | "-" | "*", left, right):
            return expr.dtype == dtype and _is_arithmetic(left, dtype) and _is_arithmetic(right, dtype)
        case Binary("min" | "max", left, right):
            several = has_loads(left) or has_loads(right)
            sides = _is_arithmetic(left, dtype) and _is_arithmetic(right, dtype)
            return expr.dtype == dtype and several and sides
        case _:
            return False
