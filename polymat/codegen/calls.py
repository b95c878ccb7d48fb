"""Stages that a library computes: the C function that makes the calls for a part of the stage.

The function starts the elements of its part (beta * C, a bias), then each call adds a product to them.  What
no routine does, and problems too small to be worth a call, are left to loops, which it calls instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce

from polymat.codegen.blas import CallWriter
from polymat.codegen.blascalls import call_statements
from polymat.codegen.ctree import Binary, CExpr, If, Literal, Return, Stmt
from polymat.codegen.stagecode import Nest, Range, StageWriter, Work, run_nest, with_pads
from polymat.codegen.work import box_points
from polymat.graph.stage import Part, Ref, Stage
from polymat.idiom.call import LibraryCall
from polymat.idiom.plan import CallPlan
from polymat.lang.affine import Affine
from polymat.lang.expr import Const, Expr, Load, call
from polymat.tilesize.schedule import LoopPlan


def call_nest(
    writer: StageWriter, stage: Stage, plan: CallPlan, along: Sequence[str | None], kind: str
) -> Nest:
    """The nest of a call plan; kind: "part" accumulates into what is there already."""
    loops = _loops(writer, plan, along, kind)
    first = None if kind == "part" else _first(writer, plan, along)
    body = _body(writer, plan, loops, first, along, adds=kind == "part")
    nest = writer.as_nest((plan.stage,), plan, body, kind, loops.ranges, work=_work(plan, loops))
    helpers = (*loops.functions, *(first.functions if first is not None else ()))
    return with_pads(replace(nest, helpers=helpers), loops.pads)


def _work(plan: CallPlan, loops: Nest) -> Work:
    """Rows of a triangle differ in work; whatever else is cut does not."""
    for one in plan.idiom.calls:
        cut = next((c for c in one.cuts if plan.parallel in one.axis(c.role).dims), None)
        if cut is not None and cut.pieces == "triangle":
            return "rising" if one.triangle == "lower" else "falling"
    return loops.work


def _loops(writer: StageWriter, plan: CallPlan, along: Sequence[str | None], kind: str) -> Nest:
    if kind == "part":
        return writer.partial(plan.stage, plan.loops, along)
    return writer.ranged(plan.stage, plan.loops, along, "loops")


def _first(writer: StageWriter, plan: CallPlan, along: Sequence[str | None]) -> Nest | None:
    """The nest that sets the elements to what they start from; None where they are not read before."""
    stage = plan.stage
    parts = stage.parts
    overwriting = next((c for c in plan.idiom.calls if c.overwrites), None)
    if overwriting is not None:
        main = replace(parts[0], expr=_copied(writer, overwriting))
        parts = (main, *parts[1:])
    elif _is_zero(parts[0]):
        parts = parts[1:]
    if not parts:
        return None
    reason = "what the calls start from"
    loops = LoopPlan(plan.group, "map", stage.dims, None, stage.dims[-1] if stage.dims else None, reason)
    return writer.ranged(replace(stage, parts=parts), loops, along, "start")


def _is_zero(part: Part) -> bool:
    return isinstance(part.expr, Const) and part.expr.value == 0


def _copied(writer: StageWriter, overwriting: LibraryCall) -> Expr:
    """The operand that a routine overwrites, at the result's own indices: B(k, j) as B(i, j)."""
    operand = overwriting.operands[1]
    along = overwriting.axis("n" if overwriting.side == "right" else "m").dims
    names = dict(zip(overwriting.axis("k").dims, map(Affine.name, along), strict=True))
    indices = tuple(form.substitute(names) for form in operand.indices)
    buffer = writer.storage[operand.source]
    load = Load(Ref(operand.source, buffer.dtype, buffer.place == "input"), indices, buffer.dtype)
    return call("conj", load) if operand.conjugated else load


def _body(
    writer: StageWriter,
    plan: CallPlan,
    loops: Nest,
    first: Nest | None,
    along: Sequence[str | None],
    *,
    adds: bool,
) -> tuple[Stmt, ...]:
    """Loops where no call is to be made; else the start and the calls."""
    bounds: dict[str, Range] = {}
    for part in loops.ranges:
        dim = along[part.number]
        if dim is not None:
            bounds[dim] = part
    calls = [CallWriter(writer, each, bounds) for each in plan.idiom.calls]
    refusals: list[CExpr] = [_is_small(writer, plan)] if plan.least > 0 else []
    refusals += [refusal for each in calls for refusal in each.refusals()]
    refused = reduce(partial(Binary, "||"), dict.fromkeys(refusals))
    body: list[Stmt] = [If(refused, (run_nest(loops), Return()))]
    if first is not None:
        body.append(run_nest(first))
    adds = adds or not _is_zero(plan.stage.parts[0])
    for number, each in enumerate(calls):
        body += call_statements(each, adds=adds or number > 0)
    return tuple(body)


def _is_small(writer: StageWriter, plan: CallPlan) -> CExpr:
    """Whether the whole stage has too few points: the same in every part, so that all go the same way."""
    terms = [box_points(a.box, writer.size) for a in plan.stage.accumulations]
    return Binary("<", reduce(partial(Binary, "+"), terms), Literal(f"{plan.least!r}"))
