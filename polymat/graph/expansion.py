"""Right-hand sides multiplied out into sums of monomials, of which `product` makes terms for all matchers."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from polymat.dataclass import dataclass
from polymat.graph.monomials import Factor, Monomial, unless_one
from polymat.lang.affine import computed_in
from polymat.lang.expr import (
    Binary,
    Call,
    CastExpr,
    Const,
    Expr,
    Load,
    SelectExpr,
    Unary,
    Variable,
    binary,
)
from polymat.lang.indices import affine_names
from polymat.lang.traverse import Node, fold
from polymat.lang.types import WEAK_FLOAT, ScalarType, real_part

MOST = 16  # products that one right-hand side is multiplied out into
_MOST_FACTORS = 64  # parts of one of them: of shared nodes, squares of squares, it would have 2^n


@dataclass(frozen=True, slots=True)
class _Expanded:
    """The monomials of a node; free: without elements that move; fixed: nor indices."""

    monomials: tuple[Monomial, ...]
    free: bool
    fixed: bool


class _NoSum(Exception):  # noqa: N818 (no error: an answer that holds for all that a node is a part of)
    """A part of the expression is no sum of monomials, or one of too many."""


@dataclass(frozen=True, slots=True)
class _Where:
    """dims: names that move; dtype: of the result; inside: sources that are factors at fixed indices too."""

    dims: frozenset[str]
    dtype: ScalarType
    inside: frozenset[str]


def expand(
    expr: Expr, dims: Collection[str], dtype: ScalarType, inside: Collection[str] = ()
) -> tuple[Monomial, ...] | None:
    """An expression over `dims` as a sum of monomials; None when it is none, or one of too many.

    dtype: of the array it is stored in: a product computed in another precision is not the same product.
    inside: sources that are factors even where they are read at fixed indices.
    """
    where = _Where(frozenset(dims), dtype, frozenset(inside))
    try:
        return fold(expr, lambda node, parts: _value(node, parts, where)).monomials
    except _NoSum:
        return None


def _is_too_long(monomials: tuple[Monomial, ...]) -> bool:
    if len(monomials) > MOST:
        return True
    lists = ((m.factors, m.divisors, m.weights, m.guards) for m in monomials)
    return any(sum(map(len, parts)) > _MOST_FACTORS for parts in lists)


def _value(node: Node, parts: tuple[_Expanded, ...], where: _Where) -> _Expanded:
    if isinstance(node, Load):
        return _load(node, where)
    if all(part.free for part in parts):
        return _free(node, parts)
    monomials = _sum(node, parts) if _same_precision(node.dtype, where.dtype) else None
    if monomials is None or _is_too_long(monomials):
        raise _NoSum
    return _Expanded(monomials, free=False, fixed=False)


def _free(node: Node, parts: tuple[_Expanded, ...]) -> _Expanded:
    """A node without elements that move: a scale, a weight, or a product of both."""
    if not isinstance(node, Variable) and all(part.fixed for part in parts):
        return _Expanded((Monomial(scale=unless_one(node)),), free=True, fixed=True)
    scaled = isinstance(node, Binary) and node.dtype.kind in "fc" and any(part.fixed for part in parts)
    product = _sum(node, parts) if scaled and isinstance(node, Binary) and node.op in ("*", "/") else None
    return _Expanded(product or (Monomial(weights=(node,)),), free=True, fixed=False)


def _load(load: Load, where: _Where) -> _Expanded:
    if computed_in(load.indices):
        raise _NoSum
    factor = Factor(load.source, load.indices)
    if factor.source not in where.inside and not factor.names() & where.dims:
        return _Expanded((Monomial(scale=load),), free=True, fixed=True)
    if not _same_precision(load.dtype, where.dtype):
        raise _NoSum
    return _Expanded((Monomial(factors=(factor,)),), free=False, fixed=False)


def _same_precision(dtype: ScalarType, stored: ScalarType) -> bool:
    return dtype in (stored, real_part(stored))


def _sum(node: Node, parts: tuple[_Expanded, ...]) -> tuple[Monomial, ...] | None:
    """The monomials of a node with an element below it."""
    if isinstance(node, SelectExpr):
        return _select(node, parts)
    known = [part.monomials for part in parts]
    match node:
        case Unary("-"):
            return tuple(m.negated(node.dtype) for m in known[0])
        case CastExpr():
            return known[0]
        case Call("conj"):
            return tuple(m.conjugate() for m in known[0])
        case Binary("+"):
            return known[0] + known[1]
        case Binary("-"):
            return known[0] + tuple(m.negated(node.dtype) for m in known[1])
        case Binary("*"):
            return _times(known[0], known[1], node.dtype)
        case Binary("/"):
            return _over(known[0], known[1], node.dtype) if node.dtype.kind in "fc" else None
        case Binary("**", _, Const(2)):
            return _times(known[0], known[0], node.dtype)
        case _:
            return None


def _times(
    left: tuple[Monomial, ...], right: tuple[Monomial, ...], dtype: ScalarType
) -> tuple[Monomial, ...] | None:
    if len(left) * len(right) > MOST:
        return None
    products = tuple(one * other for one in left for other in right)
    return products if all(_is_usual(one.scale, dtype) for one in products) else None


def _over(
    left: tuple[Monomial, ...], right: tuple[Monomial, ...], dtype: ScalarType
) -> tuple[Monomial, ...] | None:
    """A quotient by one product without guards: a product with what one divided by that is."""
    if len(right) != 1 or right[0].guards:
        return None
    (one,) = right
    inverse = Monomial(
        None if one.scale is None else binary("/", Const(1.0, WEAK_FLOAT), one.scale),
        one.divisors,
        one.factors,
        tuple(binary("/", Const(1.0, WEAK_FLOAT), weight) for weight in one.weights),
    )
    return _times(left, (inverse,), dtype)


def _is_usual(scale: Expr | None, dtype: ScalarType) -> bool:
    """Whether the constants of a scale are together a number that has all of its digits."""
    if scale is None or dtype.kind not in "fc":
        return True
    limits = np.finfo(dtype.dtype)
    return float(limits.tiny) <= _size(scale) <= float(limits.max)


def _size(scale: Expr) -> float:
    """The absolute value of a scale where all that is no constant is one; one of zero, which stays zero."""
    match scale:
        case Const():
            return abs(scale.value) or 1.0
        case Unary("-") | CastExpr():
            return _size(scale.operand)
        case Binary("*"):
            return _size(scale.left) * _size(scale.right)
        case Binary("/"):
            return _size(scale.left) / (_size(scale.right) or math.nan)
        case _:
            return 1.0


def _select(node: SelectExpr, parts: tuple[_Expanded, ...]) -> tuple[Monomial, ...] | None:
    """The two branches, each where it is chosen, when the condition is between indices."""
    then, otherwise = parts[-2].monomials, parts[-1].monomials
    if affine_names(node.condition) is None:
        return None
    return tuple(
        replace(m, guards=((node.condition, truth), *m.guards))
        for branch, truth in ((then, True), (otherwise, False))
        for m in branch
    )
