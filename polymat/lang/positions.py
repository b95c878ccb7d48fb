"""Where the smallest or largest elements are: a reduction to them, and one to the first index that has them.

before:  Reduce(f(i), A(i, k), Op.ArgMin)
after:   Reduce(m(i), A(i, k), Op.Min);  Reduce(f(i), Select(A(i, k) == m(i), k, largest), Op.Min)
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from polymat.errors import DtypeError, LangError
from polymat.lang import later
from polymat.lang.affine import Affine
from polymat.lang.condition import Condition
from polymat.lang.constructs import Cast, Select
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
    binary,
)
from polymat.lang.function import CaseEntry, Function
from polymat.lang.interval import Interval
from polymat.lang.makers import index_expression
from polymat.lang.reduction import Op, Reduce, ReduceEntry, Reduction
from polymat.lang.traverse import walk
from polymat.lang.types import Long, promote, strong

_EXTREME = {Op.ArgMin: Op.Min, Op.ArgMax: Op.Max}
_EXACT = frozenset({"abs", "floor", "ceil", "sign", "real", "imag"})


@later.positions.given
def positions(stage: Reduction, entries: tuple[Any, ...]) -> tuple[Any, ...]:
    """The definition of a reduction by Op.ArgMin or Op.ArgMax in terms of those by Op.Min and Op.Max."""
    reduces = [entry.value if isinstance(entry, CaseEntry) else entry for entry in entries]
    op = stage.one_op(entries, reduces[0].at)
    if stage.dtype.kind not in "iu":
        raise DtypeError(
            f"{stage.label} is {stage.dtype}, but Op.{op.name} gives an index, an integer",
            at=stage.at,
            hint="Long, as NumPy; Int where the indices fit it",
        )
    if stage.init is not None:
        raise LangError(f"{stage.label}: Op.{op.name} has no init=", at=stage.at)
    values = [_kept(stage, entry, each.value) for entry, each in zip(entries, reduces, strict=True)]
    domains = (stage.variables, stage.intervals), (stage.reduction_variables, stage.reduction_intervals)
    dtype = strong(reduce(promote, (value.dtype for value in values)))
    extreme = Reduction(*domains, dtype, None, what=f"extreme of {stage.label}")
    stage._extreme = extreme
    there = [_at(extreme, entry.target) for entry in reduces]
    extreme.defn = [
        _as(entry, Reduce(target, value, _EXTREME[op]))
        for entry, target, value in zip(entries, there, values, strict=True)
    ]
    return tuple(
        _as(entry, ReduceEntry(each.target, _first(stage, each, value, target), Op.Min, each.at))
        for entry, each, value, target in zip(entries, reduces, values, there, strict=True)
    )


def _as(entry: Any, reduced: Any) -> Any:
    """A Reduce under the case that another one is under."""
    return CaseEntry(entry.condition, reduced, entry.at) if isinstance(entry, CaseEntry) else reduced


def _at(extreme: Reduction, target: Load) -> Load:
    return Load(extreme, target.indices, extreme.dtype, target.at, target.sizes)


def _first(stage: Reduction, entry: ReduceEntry, value: Expr, extreme: Load) -> Expr:
    """The index where the element is the extreme one; elsewhere what no index is larger than."""
    hit = Condition(value, "==", extreme)
    if value.dtype.kind == "f":  # where there is a NaN, the extreme is NaN, which nothing is equal to
        hit = hit | Condition(value, "!=", value)
    largest = Const(int(np.iinfo(stage.dtype.dtype).max), stage.dtype)
    return stage.within(Select(hit, Cast(stage.dtype, _index(stage, entry)), largest), largest)


def _index(stage: Reduction, entry: ReduceEntry) -> Expr:
    """The number of a point among those that are reduced to one."""
    kept = {name for form in entry.target.indices for name in form.names()}
    pairs = zip(stage.reduction_variables, stage.reduction_intervals, strict=True)
    reduced = [(variable, interval) for variable, interval in pairs if variable.name not in kept]
    if len(reduced) == 1:
        return reduced[0][0]
    number: Expr = Const(0, Long)
    for variable, interval in reduced:
        number = binary("+", binary("*", number, _length(stage, entry, variable, interval)), variable)
    return number


def _length(stage: Reduction, entry: ReduceEntry, variable: Variable, interval: Interval) -> Expr:
    sizes = {parameter.name: parameter for parameter in interval.sizes}
    if interval.lo != Affine() or not sizes.keys() >= set(interval.hi.names()):
        raise LangError(
            f"Op.{entry.op.name} of {stage.label} counts points of several variables, "
            f"but {variable.name} goes from {interval.lo} to {interval.hi}",
            at=entry.at,
            hint="each interval must start at 0 and end at a size; or reduce over one variable",
        )
    return index_expression(interval.hi + 1, dict(sizes))


def _kept(stage: Reduction, entry: Any, value: Expr) -> Expr:
    """A value that is compared with itself later: where it is rounded, it is computed once and kept.

    The compiler may round a product and the sum that takes it once or twice, as it likes, in either loop.
    Where a Case, or a bound from data, leaves a point out, what it reads may not exist: there 0 is kept.
    """
    if all(map(_is_exact, walk(value))):
        return value
    intervals = [interval.whole() for interval in stage.reduction_intervals]
    nothing = later.neutral(Op.Sum, strong(value.dtype))
    kept = Function(
        (stage.reduction_variables, intervals),
        nothing.dtype,
        None,
        nothing if isinstance(entry, CaseEntry) else None,
        what=f"element of {stage.label}",
    )
    kept.defn = [_as(entry, stage.within(value, nothing))]
    found: Expr = kept(*stage.reduction_variables)
    return found


def _is_exact(node: Expr) -> bool:
    """Whether an operation gives the same bits wherever it is compiled."""
    match node:
        case Binary(op):
            rounded_once = op in ("+", "-", "min", "max") or (op == "/" and node.dtype.kind != "c")
            return op != "**" and (rounded_once or node.dtype.kind in "iu")
        case Call(function):
            return function in _EXACT
        case Load() | Const() | Variable() | Parameter() | Unary() | SelectExpr() | CastExpr():
            return True
        case _:
            return False
