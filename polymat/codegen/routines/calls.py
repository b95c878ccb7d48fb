"""Stages that a library computes: the C function that makes the calls for a part of the stage.

The function starts the elements of its part (beta * C, a bias), then each call adds a product to them.  What
no routine does, and problems too small to be worth a call, are left to loops, which it calls instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce

from polymat.codegen.c.ctree import CBinary, If, Literal, Return, Stmt
from polymat.codegen.loops.nestfunction import NestFunction, Work, run_nest, with_pads
from polymat.codegen.loops.ranges import Range
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.routines.blas import CallWriter
from polymat.codegen.routines.blascalls import call_statements
from polymat.codegen.routines.choice import is_left
from polymat.codegen.routines.nonfinite import begin_watch, has_spread
from polymat.graph.stage import Part, Ref, Stage
from polymat.idiom.call import LibraryCall
from polymat.lang.affine import Affine
from polymat.lang.expr import Const, Expr, Load, binary, call
from polymat.plan.library import CallPlan
from polymat.plan.loops import LoopPlan


def call_nest(
    writer: StageWriter, stage: Stage, plan: CallPlan, along: Sequence[str | None], kind: str
) -> NestFunction:
    """The nest of a call plan; kind: "part" accumulates into what is there already."""
    loops = _loops(writer, plan, along, kind)
    root = _root(writer, plan, along)
    first = None if kind == "part" else _first(writer, plan, along)
    otherwise = (run_nest(loops), *([run_nest(root)] if root is not None else []), Return())
    body = _body(writer, plan, otherwise, first, _bounds(loops, along), adds=kind == "part")
    nest = writer.as_nest((plan.stage,), plan, body, kind, loops.ranges, work=_work(plan, loops))
    helpers = tuple(
        function for each in (loops, root, first) if each is not None for function in each.functions
    )
    block = nest.block if loops.grid is None else loops.block
    return with_pads(replace(nest, helpers=helpers, block=block, grid=loops.grid), loops.pads)


def _work(plan: CallPlan, loops: NestFunction) -> Work:
    """Rows of a triangle differ in work; whatever else is cut does not."""
    for one in plan.idiom.calls:
        cut = next((c for c in one.cuts if plan.parallel in one.axis(c.role).dims), None)
        if cut is not None and cut.pieces == "triangle":
            return "rising" if one.triangle == "lower" else "falling"
    return loops.work


def _loops(writer: StageWriter, plan: CallPlan, along: Sequence[str | None], kind: str) -> NestFunction:
    if kind == "part":
        return writer.partial(plan.stage, plan.loops, along)
    loops = writer.ranged(plan.stage, plan.loops, along, "loops")
    if plan.loops.kind == "recurrence" and not loops.ranges:
        return replace(loops, arguments=(*loops.arguments, Literal("1")))  # threads
    return loops


def _first(writer: StageWriter, plan: CallPlan, along: Sequence[str | None]) -> NestFunction | None:
    """The nest that sets the elements to what they start from; None where they are not read before."""
    stage = plan.stage
    parts = stage.parts
    overwriting = next((c for c in plan.idiom.calls if c.row.start == "replaced"), None)
    if overwriting is not None:
        main = replace(parts[0], expr=_copied(writer, overwriting))
        parts = (main, *parts[1:])
    elif _is_zero(parts[0]) and plan.idiom.calls[0].row.start != "added":
        parts = parts[1:]
    return _map(writer, plan, parts, along, "start") if parts else None


def _map(
    writer: StageWriter, plan: CallPlan, parts: tuple[Part, ...], along: Sequence[str | None], kind: str
) -> NestFunction:
    """The nest that sets elements of the result to what parts say."""
    stage = plan.stage
    reason = "what the calls start from" if kind == "start" else "the root of a sum"
    loops = LoopPlan(plan.group, "map", stage.dims, None, stage.dims[-1] if stage.dims else None, reason)
    return writer.ranged(replace(stage, parts=parts), loops, along, kind)


def _is_zero(part: Part) -> bool:
    return isinstance(part.expr, Const) and part.expr.value == 0


def _root(writer: StageWriter, plan: CallPlan, along: Sequence[str | None]) -> NestFunction | None:
    """What the loops' sum of squares becomes, where it is a norm that is called."""
    if plan.idiom.calls[0].routine != "nrm2":
        return None
    stage = plan.stage
    whole = Load(
        Ref(stage.name, stage.dtype, is_input=False), tuple(map(Affine.name, stage.dims)), stage.dtype
    )
    return _map(writer, plan, (replace(stage.parts[0], expr=call("sqrt", whole)),), along, "root")


def _copied(writer: StageWriter, overwriting: LibraryCall) -> Expr:
    """The operand that a routine overwrites, at the result's own indices: B(k, j) as B(i, j)."""
    operand = overwriting.operands[-1]
    along = overwriting.axis("n" if overwriting.side == "right" else "m").dims
    summed = overwriting.axis("k").dims
    names = dict(zip(summed, map(Affine.name, along), strict=True)) if summed else {}
    indices = tuple(form.substitute(names) for form in operand.indices)
    buffer = writer.storage[operand.source]
    load: Expr = Load(Ref(operand.source, buffer.dtype, buffer.place == "input"), indices, buffer.dtype)
    load = call("conj", load) if operand.conjugated else load
    scaled = overwriting.row.is_scaled_before and overwriting.alpha is not None
    return binary("*", overwriting.alpha, load) if scaled and overwriting.alpha is not None else load


def _bounds(loops: NestFunction, along: Sequence[str | None]) -> dict[str, Range]:
    """The ranges of the nest by dimension."""
    named = [(along[part.number], part) for part in loops.ranges]
    return {dim: part for dim, part in named if dim is not None}


def _body(
    writer: StageWriter,
    plan: CallPlan,
    otherwise: tuple[Stmt, ...],
    first: NestFunction | None,
    bounds: Mapping[str, Range],
    *,
    adds: bool,
) -> tuple[Stmt, ...]:
    """Loops where no call is to be made; else the start and the calls."""
    calls = [CallWriter(writer, each, bounds) for each in plan.idiom.calls]
    refusals = [refusal for each in calls for refusal in each.refusals()]
    if plan.least > 0 or plan.choice is not None:
        refusals.append(is_left(writer, plan))
    refused = reduce(partial(CBinary, "||"), dict.fromkeys(refusals))
    body: list[Stmt] = [If(refused, otherwise)]
    if first is not None:
        body.append(run_nest(first))
    adds = adds or not _is_zero(plan.stage.parts[0])
    watched = next((one.call for one in calls if one.call.row.spreads), None)
    if watched is not None:
        body.append(begin_watch(watched.dtype.c))
    for number, each in enumerate(calls):
        body += call_statements(each, adds=adds or number > 0)
    if watched is not None:
        body.append(If(has_spread(), otherwise))
    return tuple(body)
