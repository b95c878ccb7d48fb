"""The terms that are left of the sums of a step where a block of steps has summed up others before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from polymat.graph.blockedsums import EarlySum
from polymat.graph.stage import Accumulation, Part, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Const, Expr, Load, binary
from polymat.lang.reduction import Op
from polymat.poly.domain import Domain

S = TypeVar("S", Part, Accumulation)
JOINS = {Op.Sum: "+", Op.Min: "min", Op.Max: "max"}


def over(domain: Domain, params: Sequence[str]) -> Domain:
    """A set that knows further sizes, in the order of these."""
    return domain.with_params(params).over(params)


def stage_over(stage: Stage, params: Sequence[str]) -> Stage:
    """A stage whose sets know further sizes."""

    def wide(item: S) -> S:
        return replace(item, domain=over(item.domain, params))

    return replace(
        stage,
        domain=over(stage.domain, params),
        parts=tuple(map(wide, stage.parts)),
        accumulations=tuple(map(wide, stage.accumulations)),
    )


def with_rest(stage: Stage, known: Sequence[tuple[EarlySum, Load]]) -> Stage:
    """A sum that begins with what is known of it, in one or several parts, and adds the other terms."""
    if not known:
        return stage
    number = known[0][0].stage.accumulations.index(known[0][0].item)
    item, parts = stage.accumulations[number], list(stage.parts)
    some = item.domain.onto(item.dims[:-1]).renamed(stage.dims)
    rest = [item]
    for each, early in known:
        rest = [piece for old in rest for piece in _rest(old, each)]
        parts = [part for old in parts for part in _begun(stage, old, some, early)]
    sums = (*stage.accumulations[:number], *rest, *stage.accumulations[number + 1 :])
    return replace(stage, parts=tuple(parts), accumulations=sums, op=stage.op if sums else None)


def _rest(item: Accumulation, each: EarlySum) -> Iterator[Accumulation]:
    """The terms in front of those that are known and behind them, each once."""
    sign, reduced = each.term.coefficient(each.reduced), Affine.name(each.reduced)
    others = each.term - reduced.scale(sign)
    low, high = item.bounds[-1]
    left = item.domain
    limits = [(form - 1, 1) for form in each.between[0]] + [(form + 1, -1) for form in each.between[1]]
    for limit, side in limits:  # terms up to a limit, or from it on
        here = left.at_least_zero([(limit - each.term).scale(side)])
        if here.is_empty():
            continue
        end = (limit - others).scale(sign)
        bounds = (low, end) if side * sign > 0 else (end, high)
        for piece in here.pieces():
            yield replace(item, domain=piece, bounds=(*item.bounds[:-1], bounds), condition=None)
        left = left.subtract(here)


def _begun(stage: Stage, part: Part, some: Domain, early: Load) -> Iterator[Part]:
    """A part of the start values, joined with early sums where there are some."""
    there = part.domain.intersect(some)
    if stage.operation is Op.Sum and isinstance(part.expr, Const) and part.expr.value == 0:
        value: Expr = early
    else:
        value = binary(JOINS[stage.operation], part.expr, early)
    if not there.is_empty():
        yield replace(part, domain=there, expr=value, condition=None)
    rest = part.domain.subtract(there)
    if not rest.is_empty():
        yield replace(part, domain=rest, condition=None)
