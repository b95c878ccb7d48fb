"""Which stages find the first places of extremes: they can be computed along with these."""

from __future__ import annotations

from dataclasses import replace

from polymat.graph.pipeline import Pipeline
from polymat.graph.positionpair import PositionPair
from polymat.graph.stage import Accumulation, Stage
from polymat.lang.affine import Affine
from polymat.lang.condition import Condition
from polymat.lang.expr import Binary, CastExpr, Const, Expr, Load, SelectExpr, Variable
from polymat.lang.indices import affine_form
from polymat.lang.neutral import neutral
from polymat.lang.reduction import EXTREMES, Op
from polymat.poly.domain import Domain


def find_positions(pipeline: Pipeline) -> Pipeline:
    """Note which reductions give the first index that has the extreme that another one gives.

    before:  m(i) = max of A(i, k);  f(i) = min of Select(A(i, k) == m(i), k, largest)
    after:   and the pipeline says that f is the place of m
    """
    found = (_pair(pipeline, stage) for stage in pipeline.stages)
    positions = tuple(each for each in found if each is not None)
    return replace(pipeline, positions=positions) if positions else pipeline


def _pair(pipeline: Pipeline, place: Stage) -> PositionPair | None:
    """The pair of a stage and the extreme that it looks for; None of any other stage."""
    if place.op is not Op.Min or place.dtype.kind not in "iu" or not _starts_empty(place):
        return None
    item, otherwise = _only(place), neutral(Op.Min, place.dtype)
    match item and item.expr:
        case SelectExpr(condition, then, Const(last)) if last == otherwise.value:
            compared = _compared(condition)
        case _:
            return None
    if item is None or compared is None:
        return None
    value, load = compared
    extreme = next((each for each in pipeline.stages if each.name == load.source.name), None)
    if extreme is None or extreme.op not in EXTREMES or not _starts_empty(extreme):
        return None
    other = _only(extreme)
    if other is None or other.expr != value or value.dtype != extreme.dtype:
        return None
    same = (item.dims, item.target, load.indices) == (other.dims, other.target, other.target)
    same = same and (place.dims, place.box) == (extreme.dims, extreme.box)
    same = same and item.domain.equals(other.domain)
    if not same or not _is_whole(item, place) or not _counts(then, item):
        return None
    return PositionPair(extreme.name, place.name)


def _only(stage: Stage) -> Accumulation | None:
    """The one accumulation of a stage, whose indices say the elements that it goes to."""
    if len(stage.accumulations) != 1 or stage.segments is not None or stage.reads_itself:
        return None
    (item,) = stage.accumulations
    return item if item.is_aligned else None


def _starts_empty(stage: Stage) -> bool:
    """Whether nothing but what is reduced makes the results."""
    starts = [part.expr for part in stage.parts]
    return len(starts) == 1 and starts == [neutral(stage.operation, stage.dtype)]


def _is_whole(item: Accumulation, stage: Stage) -> bool:
    """Whether what is reduced are all points of the intervals, and goes to all results.

    Where a Case leaves some out, or the intervals hold fewer results, loops over the intervals would look at
    other elements.
    """
    box = dict(zip(item.dims, item.box, strict=True))
    results = tuple(box[dim] for form in item.target for dim in form.names())
    return results == stage.box and item.domain.equals(Domain.box(item.domain.params, item.dims, item.box))


def _compared(condition: Condition) -> tuple[Expr, Load] | None:
    """The element and the extreme that it is to be equal to, or be NaN; None of any other condition."""
    equal, unordered = (condition.left, condition.right) if condition.op == "|" else (condition, None)
    if equal.op != "==" or not isinstance(equal.right, Load):
        return None
    value: Expr = equal.left
    is_number = value.dtype.kind in "iu"
    wanted = None if is_number else Condition(value, "!=", value)
    return (value, equal.right) if unordered == wanted else None


def _counts(number: Expr, item: Accumulation) -> bool:
    """Whether a number rises from each point to the next one, the last dimension being the quickest.

    That is of one dimension its index, and of several the number of the point.
    """
    rest, box = _uncast(number), dict(zip(item.dims, item.box, strict=True))
    *outer, first = reversed(item.reduced_dims)
    for dim in outer:
        match rest:
            case Binary("+", Binary("*", before, length), Variable(name=name)) if name == dim:
                low, high = box[dim]
                if low != Affine() or affine_form(length) != high + 1:
                    return False
                rest = _uncast(before)
            case _:
                return False
    match rest:
        case Binary("+", Binary("*", Const(0), _), Variable(name=name)) | Variable(name=name):
            return name == first
        case _:
            return False


def _uncast(number: Expr) -> Expr:
    """A number before it was converted to another integer."""
    while isinstance(number, CastExpr) and number.operand.dtype.kind in "iu":
        number = number.operand
    return number
