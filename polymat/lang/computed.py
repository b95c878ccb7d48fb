"""Indices that are computed from data: forms with the value of an expression in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polymat.errors import Location, NotAffineError
from polymat.lang import later
from polymat.lang.affine import Affine, Computed, FloorDiv, Limits
from polymat.lang.expr import (
    Binary,
    CastExpr,
    Const,
    Expr,
    Load,
    SelectExpr,
    Unary,
    Variable,
    as_expr,
    binary,
)
from polymat.lang.expressiontext import expr_text, structure
from polymat.lang.exproperators import is_whole
from polymat.lang.indices import affine_form, as_affine, index_variable
from polymat.lang.table import Lookup
from polymat.lang.traverse import rebuild, walk
from polymat.lang.types import Long
from polymat.lang.valueranges import never_wraps, ranges_of

_DEEPEST = 50  # sums inside each other that are looked into for parts that are affine
_MOST_SHIFTED = 32  # bits: forms multiply and divide by what they mean
_CAST = "an index is an integer: Cast(Int, ...), and Clamp(..., 0, N - 1) where it may be outside"


def index_form(value: Any, place: int, at: Location | None) -> Affine:
    """An index: an affine form, or one with a computed value in it.

    place: the position of the index.  What is no integer, or not affine without any data, is refused as
    `as_affine` refuses it.
    """
    if isinstance(value, Affine):
        return value
    expr = as_expr(value, at)
    try:
        return as_affine(expr, at)
    except NotAffineError:
        if not any(map(_is_data, walk(expr))):
            raise
        if expr.dtype.kind not in "iu":
            raise NotAffineError(f"not affine: {expr_text(expr)}", at=at, hint=_CAST) from None
    return _parts(expr, place, _DEEPEST)


def _is_data(node: Expr) -> bool:
    """Whether an expression with that in it has a value that is looked at when it is there, or a range."""
    return isinstance(node, Load | Lookup | SelectExpr) or (
        isinstance(node, Binary) and node.op in ("min", "max")
    )


def _parts(expr: Expr, place: int, depth: int) -> Affine:
    """The affine parts of an expression, and the value of the rest."""
    form = affine_form(expr)
    if form is not None:
        return form
    found = _combined(expr, place, depth - 1) if depth and never_wraps(expr) else None
    if found is not None and _number(found) == 1:
        return found
    return Affine(((computed(expr, place, ranges_of(expr)), 1),))


def _combined(expr: Expr, place: int, depth: int) -> Affine | None:
    match expr:
        case Unary("-", operand):
            return -_parts(operand, place, depth)
        case CastExpr(operand) if operand.dtype.kind in "iu":
            return _parts(operand, place, depth)
        case Binary("+", left, right):
            return _parts(left, place, depth) + _parts(right, place, depth)
        case Binary("-", left, right):
            return _parts(left, place, depth) - _parts(right, place, depth)
        case Binary("*", left, Const(value)) | Binary("*", Const(value), left):
            return _parts(left, place, depth).scale(int(value.real))
        case Binary("//", left, Const(value)) if value.real > 0:
            return _parts(left, place, depth).floordiv(int(value.real))
        case Binary("<<", left, Const(value)) if 0 <= value.real < _MOST_SHIFTED:
            return _parts(left, place, depth).scale(1 << int(value.real))
        case Binary(">>", left, Const(value)) if 0 <= value.real < _MOST_SHIFTED:
            return _parts(left, place, depth).floordiv(1 << int(value.real))
    return None


def _number(form: Affine) -> int:
    """How often a form has a computed value in it."""
    inner = (_number(atom.numerator) if isinstance(atom, FloorDiv) else 0 for atom, _ in form.terms)
    return sum(inner) + sum(isinstance(atom, Computed) for atom, _ in form.terms)


@later.computed.given
def computed(value: Expr, place: int, ranges: tuple[Limits, ...]) -> Computed:
    """The value of an expression as an atom of an index."""
    nodes = list(walk(value))
    names: dict[str, None] = {}
    sources = []
    for node in nodes:
        if isinstance(node, Variable):
            names[node.name] = None
        elif isinstance(node, Load):
            names |= dict.fromkeys(name for form in node.indices for name in form.names())
            sources += [id(node.source)] if is_whole(node.source) else []
    limits = (form for each in ranges for form in (*each.lows, *each.highs))
    names |= dict.fromkeys(name for form in limits for name in form.names())
    return Computed(value, (structure(value), *sources), place, ranges, tuple(names))


@later.substituted.given
def substituted(expr: Expr, values: Mapping[str, Affine]) -> Expr:
    """An expression with forms put in for index names."""

    def leaf(node: Expr) -> Expr:
        match node:
            case Load(source, indices, dtype, at, sizes):
                return Load(source, tuple(form.substitute(values) for form in indices), dtype, at, sizes)
            case Variable() if node.name in values:
                value = affine_value(values[node.name])
                return value if value.dtype == node.dtype else CastExpr(value, node.dtype)
            case _:
                return node

    return rebuild(expr, leaf)


@later.value_text.given
def value_text(expr: Expr) -> str:
    """A computed value in the text of an index."""
    text = expr_text(expr)
    return f"({text})" if isinstance(expr, Binary) and expr.op not in ("min", "max") else text


def affine_value(form: Affine) -> Expr:
    """An affine form as an expression of type Long."""
    total: Expr | None = None
    for atom, coefficient in form.terms:
        match atom:
            case FloorDiv(numerator, divisor):
                value = binary("//", affine_value(numerator), Const(divisor, Long))
            case Computed():
                value = CastExpr(atom.value, Long)
            case _:
                value = index_variable(atom, Long)
        term = value if coefficient == 1 else binary("*", Const(coefficient, Long), value)
        total = term if total is None else binary("+", total, term)
    if total is None or form.const == 0:
        return Const(form.const, Long) if total is None else total
    return binary("+", total, Const(form.const, Long))
