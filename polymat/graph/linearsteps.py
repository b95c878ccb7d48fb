"""Steps that are linear in the slices behind them: what several of them do to a slice is one matrix.

    W(k, i, j) = W(k - 1, s(k, i), j) + c(k, i) * W(k - 1, p(k), j),   for each j behind the step

Each row goes on with one row of the step before (its own, or the one that it is exchanged with, or none), to
which multiples of one crossing row are added.  So all rows behind a block of steps are a row from before it,
or none, and multiples of those that were crossing rows, as many as there are steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from polymat.graph.linearreach import is_known_what_rows_hold
from polymat.graph.linearrows import LinearRows, LinearStep
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.graph.stepwise import HeldArray, StepSection
from polymat.graph.waits import behind_front, slices_of_step
from polymat.lang.affine import Affine
from polymat.lang.expr import (
    Binary,
    CastExpr,
    Expr,
    Load,
    Parameter,
    SelectExpr,
    Unary,
    Variable,
    binary,
    negative,
)
from polymat.lang.traverse import fold, walk
from polymat.poly.domain import Domain

Parted = tuple[Expr | None, Expr | None]

NOT_LINEAR = 2  # the degree of what is none of a number and a multiple of slices


def linear_step(section: StepSection[Any], held: Mapping[str, HeldArray]) -> LinearStep | None:
    """The step of a section as a linear one; None where it is none, or tells others more than one state."""
    slices, level = slices_of_step(section, held, staying=False), section.level
    if slices is None or section.steps is None or not isinstance(level, Pipeline):
        return None
    if len(level.outputs) != 1 or {*level.outputs} != level.states.keys():
        return None
    state = level.stage(level.outputs[0])
    before, places = level.states[state.name], dict(slices.stages)
    others = [s for s in level.stages if s.name in places and s is not state]
    plain = all(len(s.dims) == 1 and not s.is_reduction and s.dtype == state.dtype for s in others)
    if not plain or len(state.dims) != 2 or places.get(state.name) != 1 or state.is_reduction:
        return None
    if (
        state.dtype.kind not in "fc"
        or not _is_alone(section, level, before)
        or not _has_plain_ends(section, state)
    ):
        return None
    found = LinearStep(slices, state, before, tuple(others), (), (), Affine())
    parts, finished = _row_parts(found, level), _finished(found, level)
    if parts is None or finished is None or not _reads_one_front(found, level):
        return None
    crossing = {*_crossing_rows(found, parts)}
    if len(crossing) != 1 or None in crossing:
        return None
    (row,) = crossing
    assert row is not None
    found = replace(found, parts=parts, finished=finished, crossing=row)
    return found if is_known_what_rows_hold(found, level.context) else None


def _is_alone(section: StepSection[Any], level: Pipeline, before: str) -> bool:
    """Whether all that steps tell each other is the state."""
    assert section.steps is not None
    step, views = section.steps.name, zip(level.inputs, section.inputs, strict=True)
    return all(
        array.name == before or view.step is None or step not in view.step.names() for array, view in views
    )


def _has_plain_ends(section: StepSection[Any], state: Stage) -> bool:
    """Whether steps, rows and slices begin and end with one form each that no step changes."""
    assert section.steps is not None
    forms = {name for low, high in state.bounds for form in (low, high) for name in form.names()}
    single = len({*section.steps.first}) == len({*section.steps.last}) == 1
    return single and section.steps.every == 1 and not forms & {section.steps.name, *state.dims}


def _row_parts(found: LinearStep, level: Pipeline) -> tuple[LinearRows, ...] | None:
    """The parts of a slice behind the step, by rows that all slices have; None where one is not linear."""
    for each in found.helpers:
        whole = behind_front(each, found.slices).parts
        if len(whole) != 1 or _degree(found, whole[0].expr) != 1:
            return None
    parts = list[LinearRows]()
    for part in behind_front(found.state, found.slices).parts:
        here, last = part.domain.assume(level.context), found.state.bounds[1][1]
        rows = _rows(here, found, found.front + 1, last)
        if rows is None or not _is_linear(found, part.expr):
            return None
        parts.append(LinearRows(rows, part.expr, *_parted(found, part.expr)))
    return tuple(parts) if parts else None


def _rows(domain: Domain, found: LinearStep, low: Affine, high: Affine) -> Domain | None:
    """The rows of a part, if it has them of all slices between two."""
    row, column = found.dims
    rows, place = domain.onto([row]), Affine.name(column)
    whole = rows.extended([column]).at_least_zero([place - low, high - place])
    return rows if whole.is_subset(domain) else None


def _finished(found: LinearStep, level: Pipeline) -> tuple[LinearRows, ...] | None:
    """The parts of a slice in front of that which a step is about; None where one is more than a row."""
    row, column = found.dims
    (low, _), place = found.state.bounds[1], Affine.name(column)
    parts = []
    for part in found.state.parts:
        front = part.domain.assume(level.context).at_least_zero([found.front - 1 - place])
        if front.is_empty():
            continue
        rows = _rows(front, found, low, found.front - 1)
        own, rest = _parted(found, part.expr)
        if rows is None or own is None or rest is not None or not _is_linear(found, own):
            return None
        parts.append(LinearRows(rows, part.expr, own, None))
    here = (Affine.name(row), place)
    stay = all(isinstance(part.expr, Load) and part.expr.indices == here for part in parts)
    return () if stay else tuple(parts)


def _variables(expr: Expr) -> set[str]:
    return {node.name for node in walk(expr) if isinstance(node, Variable | Parameter)}


def _degree(found: LinearStep, expr: Expr) -> int:
    """1 of a sum of multiples of slices, 0 of what knows none; else, and of what knows where one is, more."""
    column = found.dims[1]

    def degree(node: Expr, parts: tuple[int, ...]) -> int:
        match node:
            case Load(_, indices):
                alone = not any(column in form.names() for form in indices)
                return NOT_LINEAR if any(parts) else 0 if alone else 1 if found.is_own(node) else NOT_LINEAR
            case Unary():
                return parts[0]
            case Binary("+" | "-"):
                return _alike(*parts)
            case Binary("*"):
                return min(sum(parts), NOT_LINEAR)
            case Binary("/"):
                return NOT_LINEAR if parts[1] else parts[0]
            case SelectExpr():
                *asked, one, other = parts
                return NOT_LINEAR if any(asked) else _alike(one, other)
            case CastExpr(operand, dtype):
                return parts[0] if operand.dtype == dtype else NOT_LINEAR * min(parts[0], 1)
            case Variable(name=name):
                return NOT_LINEAR if name == column else 0
            case _:
                return NOT_LINEAR if any(parts) else 0

    return fold(expr, degree)


def _alike(one: int, other: int) -> int:
    """The degree of what is added up or chosen between.

    None of a choice between nothing and a multiple, which would be 0 times an infinity where it is nothing.
    """
    return one if one == other else NOT_LINEAR


def _is_linear(found: LinearStep, expr: Expr) -> bool:
    """Whether an expression is a sum of multiples of a slice that are the same for every slice."""
    return _degree(found, expr) == 1 and found.dims[1] not in _variables(expr)


def _parted(found: LinearStep, expr: Expr) -> Parted:
    """The row of the step before that an expression goes on with, as it is, and what is added to that."""

    def parted(node: Expr, parts: tuple[Parted, ...]) -> Parted:
        match node:
            case Load(source) if source.name == found.before and found.is_own(node):
                return node, None
            case SelectExpr():
                chosen = all(own is not None and rest is None for own, rest in parts[-2:])
                return (node, None) if chosen else (None, node)
            case Binary("+" | "-" as op, left, right):
                (own, rest), (other, more) = parts
                if own is not None and rest is not None:
                    return own, binary(op, rest, right)
                if own is not None:
                    return own, right if op == "+" else negative(right)
                if other is not None and op == "+":
                    return other, left if more is None else binary(op, left, more)
        return None, node

    return fold(expr, parted)


def _crossing_rows(found: LinearStep, parts: tuple[LinearRows, ...]) -> Iterator[Affine | None]:
    """The rows that others get multiples of; None of one that differs from row to row."""
    exprs = [part.rest for part in parts if part.rest is not None]
    exprs += [found.behind(helper) for helper in found.helpers]
    for expr in exprs:
        for node in walk(expr):
            if isinstance(node, Load) and node.source.name == found.before and found.is_own(node):
                names = {*node.indices[0].names()}
                yield None if names & {*found.dims} else node.indices[0]


def _reads_one_front(found: LinearStep, level: Pipeline) -> bool:
    """Whether what is read of other slices is that alone which the step is about."""
    places = {found.before: 1, found.state.name: 1, **{each.name: 0 for each in found.helpers}}
    sliced = dict(found.slices.stages)
    for stage in level.stages:
        loads = (load for load in stage.loads() if load.source.name in places)
        others = (load for load in loads if not (stage.name in sliced and found.is_own(load)))
        if any(load.indices[places[load.source.name]] != found.front for load in others):
            return False
    return True
