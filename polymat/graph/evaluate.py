"""Values of expressions at many points at once, in plain NumPy."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from polymat.errors import unreachable
from polymat.lang.affine import Affine, computed_in
from polymat.lang.condition import Condition
from polymat.lang.expr import (
    Binary,
    Call,
    CastExpr,
    Const,
    Expr,
    Load,
    Parameter,
    SelectExpr,
    Unary,
    Variable,
)
from polymat.lang.sharing import evaluated
from polymat.lang.table import Lookup
from polymat.lang.traverse import Node, condition_operands, fold
from polymat.lang.types import BFloat16, ScalarType, from_bfloat16, promote, to_bfloat16

Points = Mapping[str, Any]
Values = np.ndarray[Any, Any]

_ERF = np.vectorize(math.erf, otypes=[np.float64])


def _sigmoid(x: Values) -> Values:
    """1 / (1 + e**-x) with the exponential that cannot overflow."""
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(np.signbit(x), small, 1) / (1 + small))


_CALLS: dict[str, Any] = {
    "abs": np.abs,
    "floor": np.floor,
    "ceil": np.ceil,
    "sign": np.sign,
    "conj": np.conjugate,
    "real": np.real,
    "imag": np.imag,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "round": np.rint,
    "erf": lambda x: _ERF(x),
    "sigmoid": lambda x: _sigmoid(x),
}
_BINARY: dict[str, Any] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": np.floor_divide,
    "%": np.remainder,
    "**": np.power,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
    "<<": np.left_shift,
    ">>": np.right_shift,
    "min": np.minimum,
    "max": np.maximum,
    "atan2": np.arctan2,
    "hypot": np.hypot,
}
_COMPARE: dict[str, Any] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


class Evaluator:
    """Evaluates expressions over arrays of points; `arrays` and `origins` say where stages are stored."""

    def __init__(
        self, arrays: Mapping[str, Values], origins: Mapping[str, tuple[int, ...]], params: Mapping[str, Any]
    ) -> None:
        self.arrays = arrays
        self.origins = origins
        self.params = params

    def value(self, expr: Expr, points: Points, count: int) -> Values:
        """The values at `count` points, in the expression's type."""
        return fold(expr, partial(self._node, points, count), evaluated)

    def _node(self, points: Points, count: int, expr: Node, parts: tuple[Values, ...]) -> Values:
        match expr:
            case Const(value):
                value = to_bfloat16(value.real) if expr.dtype == BFloat16 else value
                return np.full(count, value, dtype=expr.dtype.dtype)
            case Parameter():
                return np.full(count, self.params[expr.name], dtype=expr.dtype.dtype)
            case Variable():
                known = points[expr.name] if expr.name in points else np.full(count, self.params[expr.name])
                return np.asarray(known).astype(expr.dtype.dtype)
            case Load(source, indices):
                known = dict(
                    zip(computed_in(indices), (part.astype(np.int64) for part in parts), strict=True)
                )
                return self._load(source.name, indices, {**points, **known}, count)
            case Unary():
                return np.asarray(np.negative(parts[0]))
            case Binary("**", _, Const(0.5)) if expr.dtype.kind == "f":
                return np.asarray(np.sqrt(parts[0].astype(expr.dtype.dtype, copy=False)))
            case Binary(op):
                return _binary(op, expr.dtype, *parts)
            case Call(function):
                return _call(function, expr.dtype, parts[0])
            case CastExpr(operand, dtype):
                return _cast(parts[0], operand.dtype, dtype)
            case Lookup(table):
                return np.asarray(table.array[parts[0]])
            case SelectExpr():
                values = iter(parts)
                mask = _mask(expr.condition, values)
                branches = [value.astype(expr.dtype.dtype, copy=False) for value in values]
                return np.where(mask, *branches) if branches else self._select(expr, mask, points, count)
            case _:
                unreachable(expr)

    def indices(self, forms: Sequence[Affine], points: Points, count: int) -> list[Any]:
        """The values of indices; points: of what is computed in them, too, as far as it is known."""
        known: dict[Any, Any] = {**self.params, **points}
        for atom in (each for each in computed_in(forms) if each not in known):
            known[atom] = self.value(atom.value, points, count).astype(np.int64)
        return [form.evaluate(known) for form in forms]

    def _load(self, name: str, indices: Any, points: Mapping[Any, Any], count: int) -> Values:
        """Elements of an array; points: of computed values, too."""
        array = self.arrays[name]
        known = {**self.params, **points}
        if not count:  # an index of its own for all points may lie outside then
            return np.zeros(0, array.dtype)
        if not indices:
            return np.full(count, array[()])
        origins = self.origins.get(name, (0,) * array.ndim)
        first, *rest = (form.evaluate(known) - origin for form, origin in zip(indices, origins, strict=True))
        values: Values = array[(np.broadcast_to(first, (count,)), *rest)]
        return values

    def _select(self, expr: SelectExpr, mask: Values, points: Points, count: int) -> Values:
        """Each branch at its own points alone: elsewhere it may read outside an array."""
        result = np.empty(count, dtype=expr.dtype.dtype)
        for chosen, branch in ((mask, expr.then), (~mask, expr.otherwise)):
            some = int(chosen.sum())
            if some:
                inside = {name: values[chosen] for name, values in points.items()}
                result[chosen] = self.value(branch, inside, some)
        return result

    def holds(self, condition: Condition, points: Points, count: int) -> Values:
        """A mask: where the condition is true."""
        operands = condition_operands(condition)
        return _mask(condition, (self.value(operand, points, count) for operand in operands))


def _cast(value: Values, source: ScalarType, target: ScalarType) -> Values:
    if BFloat16 in (source, target) and source != target:
        return np.asarray(from_bfloat16(value) if source == BFloat16 else to_bfloat16(value))
    return value.astype(target.dtype)


def _binary(op: str, dtype: ScalarType, left: Values, right: Values) -> Values:
    first, second = (side.astype(dtype.dtype, copy=False) for side in (left, right))
    with np.errstate(all="ignore"):
        if op == "**" and dtype.kind == "i":  # negative exponents: quotients towards zero, as in C
            gone = (second < 0) & (first != 1) & (first != -1)
            return np.asarray(np.where(gone, 0, first ** np.where(second < 0, second & 1, second)))
        return np.asarray(_BINARY[op](first, second)).astype(dtype.dtype, copy=False)


def _call(function: str, dtype: ScalarType, value: Values) -> Values:
    if function not in ("abs", "real", "imag"):
        value = value.astype(dtype.dtype, copy=False)
    if function in ("floor", "ceil", "round") and dtype.kind in "iu":
        return value
    with np.errstate(all="ignore"):
        result = (_CALLS.get(function) or getattr(np, function))(value)
    return np.asarray(result).astype(dtype.dtype, copy=False)


def _mask(condition: Condition, operands: Iterator[Values]) -> Values:
    """Consume the values of a condition's operands, in the order of `condition_operands`."""
    if condition.combines:
        left, right = _mask(condition.left, operands), _mask(condition.right, operands)
        return left & right if condition.op == "&" else left | right
    left, right = next(operands), next(operands)
    common = promote(condition.left.dtype, condition.right.dtype)
    integers = all(side.dtype.kind in "iu" for side in (condition.left, condition.right))
    if common.kind in "fc" and not integers:  # integers are compared as they are, also of 64 bits
        left, right = left.astype(common.dtype, copy=False), right.astype(common.dtype, copy=False)
    return np.asarray(_COMPARE[condition.op](left, right))
