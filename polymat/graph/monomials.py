"""Products of array elements with a scale, weights and guards: what `expansion` makes of right-hand sides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from polymat.dataclass import dataclass
from polymat.graph.stage import Ref
from polymat.lang.affine import Affine
from polymat.lang.computed import affine_value
from polymat.lang.condition import Condition
from polymat.lang.expr import (
    CastExpr,
    Const,
    Expr,
    Load,
    Unary,
    Variable,
    binary,
    call,
)
from polymat.lang.indices import index_variable
from polymat.lang.traverse import rebuild, rebuild_condition
from polymat.lang.types import WEAK_INT, ScalarType

_MINUS_ONE = Const(-1, WEAK_INT)

Guards: TypeAlias = "tuple[tuple[Condition, bool], ...]"


@dataclass(frozen=True, slots=True)
class Factor:
    """One array element in a product: `ref(indices)`, or its complex conjugate."""

    ref: Ref
    indices: tuple[Affine, ...]
    conjugated: bool = False

    @property
    def source(self) -> str:
        """Name of the array."""
        return self.ref.name

    @property
    def dtype(self) -> ScalarType:
        """Type of its elements."""
        return self.ref.dtype

    @property
    def expr(self) -> Expr:
        """The element as an expression."""
        load = Load(self.ref, self.indices, self.ref.dtype)
        return call("conj", load) if self.conjugated else load

    def names(self) -> frozenset[str]:
        """The names in its indices."""
        return frozenset(n for form in self.indices for n in form.names())

    def is_contiguous(self, dim: str) -> bool:
        """Whether neighbours along a dimension are neighbours in memory, in its order."""
        steps = [form.coefficient(dim) for form in self.indices]
        return steps[-1:] == [1] and not any(steps[:-1])

    def at(self, values: Mapping[str, Affine]) -> Factor:
        """The factor with forms put in for names."""
        return replace(self, indices=tuple(form.substitute(values) for form in self.indices))

    def __str__(self) -> str:
        text = f"{self.source}({', '.join(map(str, self.indices))})"
        return f"conj({text})" if self.conjugated else text


@dataclass(frozen=True, slots=True, eq=False)
class Monomial:
    """scale * product of factors and weights / product of divisors, where the guards hold.

    scale: of constants, parameters and elements at fixed indices; None is 1.
    weights: expressions of indices without any array element, such as the exponential of a transform.
    guards: affine conditions with the truth value they must have.
    """

    scale: Expr | None = None
    factors: tuple[Factor, ...] = ()
    divisors: tuple[Factor, ...] = ()
    weights: tuple[Expr, ...] = ()
    guards: Guards = ()

    def at(self, values: Mapping[str, Affine]) -> Monomial:
        """The monomial with forms put in for index names."""
        leaf = _substitution(values)
        return Monomial(
            self.scale,
            tuple(factor.at(values) for factor in self.factors),
            tuple(factor.at(values) for factor in self.divisors),
            tuple(rebuild(weight, leaf) for weight in self.weights),
            tuple((rebuild_condition(condition, leaf), truth) for condition, truth in self.guards),
        )

    def __mul__(self, other: Monomial) -> Monomial:
        return Monomial(
            _product(self.scale, other.scale),
            self.factors + other.factors,
            self.divisors + other.divisors,
            self.weights + other.weights,
            self.guards + other.guards,
        )

    def negated(self, dtype: ScalarType) -> Monomial:
        """The negative of a monomial that is computed in a type."""
        return replace(self, scale=_negative(self.scale, dtype))

    def conjugate(self) -> Monomial:
        """The complex conjugate of a monomial."""
        return replace(
            self,
            scale=None if self.scale is None else _conjugate(self.scale),
            factors=tuple(_conjugate_factor(factor) for factor in self.factors),
            divisors=tuple(_conjugate_factor(factor) for factor in self.divisors),
            weights=tuple(_conjugate(weight) for weight in self.weights),
        )


def _substitution(values: Mapping[str, Affine]) -> Callable[[Expr], Expr]:
    def leaf(node: Expr) -> Expr:
        if not isinstance(node, Variable) or node.name not in values:
            return node
        form = values[node.name]
        names = list(form.names())
        if len(names) == 1 and form == Affine.name(names[0]):
            return index_variable(names[0], node.dtype)
        return CastExpr(affine_value(form), node.dtype)

    return leaf


def _product(left: Expr | None, right: Expr | None) -> Expr | None:
    if left is None or right is None:
        return right if left is None else left
    for one, other in ((left, right), (right, left)):
        if one == _MINUS_ONE:
            return _negative(other, other.dtype)
    return binary("*", left, right)


def _negative(scale: Expr | None, dtype: ScalarType) -> Expr:
    match scale:
        case None:
            return minus_one(dtype)
        case Const(value) if dtype.kind == "u":
            return _wrapped(-int(value.real), dtype)
        case Const(value, own):
            return Const(-value, own)
        case Unary("-", operand):
            return operand
        case _:
            return Unary("-", scale, scale.dtype)


def minus_one(dtype: ScalarType) -> Const:
    """The factor that negates products in a type: of unsigned integers their largest number."""
    return _wrapped(-1, dtype) if dtype.kind == "u" else _MINUS_ONE


def _wrapped(value: int, dtype: ScalarType) -> Const:
    """The number of an unsigned type that an integer is in its arithmetic."""
    return Const(value % (int(np.iinfo(dtype.dtype).max) + 1), dtype)


def unless_one(expr: Expr) -> Expr | None:
    return None if isinstance(expr, Const) and expr.value == 1 else expr


def _conjugate(expr: Expr) -> Expr:
    return call("conj", expr) if expr.dtype.kind == "c" else expr


def _conjugate_factor(factor: Factor) -> Factor:
    return replace(factor, conjugated=not factor.conjugated) if factor.dtype.kind == "c" else factor
