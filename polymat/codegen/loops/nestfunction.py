"""Nests: the C functions of stages over ranges of their dimensions, and what their callers need to know."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import Literal as OneOf
from typing import TypeAlias

from polymat.codegen.c.ctree import CCall, CExpr, CFunction, CParameter, Evaluate, Id, Stmt
from polymat.codegen.loops.ranges import Range
from polymat.codegen.memory.pads import Pad
from polymat.dataclass import dataclass
from polymat.graph.stage import Stage
from polymat.lang.expr import Expr
from polymat.lang.expressiontext import expr_text
from polymat.plan.nest import NestPlan
from polymat.product.shares import Across

Work: TypeAlias = OneOf["even", "uneven", "rising", "falling"]  # the last two as the rows of a triangle
PIECES = "_pm_pieces"  # how many parts threads share a range in
MOST_PIECES = 64  # that a nest keeps something of until all are done


@dataclass(frozen=True, slots=True, eq=False)
class Ahead:
    """Something that is computed before the tiles that a nest is a part of, once for all threads.

    pad: the memory for it.  function: fills part k of n of it, the last arguments.  arguments: the others.
    """

    pad: Pad
    function: str
    arguments: tuple[CExpr, ...]

    def fill(self, part: CExpr, parts: CExpr) -> Stmt:
        """Compute one of some parts."""
        return Evaluate(CCall(self.function, (*self.arguments, part, parts)))


@dataclass(frozen=True, slots=True, eq=False)
class CheckedRows:
    """Inputs whose declared values a nest checks while it reads them, of all elements where `covered` holds.

    It leaves its rows as they are then, and tells so in `_pm_wrong`.
    before: what looks at those of a row before the loop along it.  seen: where the elements end that are
    known to be inside.
    """

    arrays: tuple[str, ...]
    covered: CExpr
    before: tuple[Stmt, ...]
    seen: CExpr


@dataclass(frozen=True, slots=True, eq=False)
class RangeGrid:
    """How threads that share the first two ranges of a nest share the second one.

    work: how it changes along that; "before", "after": within rows of a triangle, by these.  block: pieces of
    it are cut at multiples of so many points.  high, wide: rows or columns that a point of either stands for.
    """

    work: Across
    block: int
    high: CExpr
    wide: CExpr


@dataclass(frozen=True, slots=True, eq=False)
class NestFunction:
    """A C function; `ranges` are its last parameters, two each.

    work: how it changes along the first range, from which equal shares for threads follow.
    block: how many points of the first range run together; ranges should be cut at multiples of it.
    balance: what says how much work there is up to each point of the first range: the suffix of the type of a
    sorted array, and the address of its element for point 0.
    helpers: functions that it calls.  pads: memory of its own that it needs on every thread; each is one of
    its parameters, by name.  ahead: what it reads that is computed before, parameters as well.
    checked: of the inputs that it checks itself.
    pieces: it shares itself out, in so many parts as its last argument says.
    grid: threads share the second range as well.
    """

    function: CFunction
    arguments: tuple[CExpr, ...]
    ranges: tuple[Range, ...]
    work: Work = "even"
    block: int = 1
    helpers: tuple[CFunction, ...] = ()
    pads: tuple[Pad, ...] = ()
    balance: tuple[str, CExpr] | None = None
    ahead: tuple[Ahead, ...] = ()
    checked: CheckedRows | None = None
    pieces: bool = False
    grid: RangeGrid | None = None

    @property
    def functions(self) -> tuple[CFunction, ...]:
        """The C functions of a nest: its own comes after those that it calls."""
        return (*self.helpers, self.function)


def run_nest(nest: NestFunction) -> Stmt:
    """The call of a nest from another over the same ranges."""
    limits = [Id(name) for part in nest.ranges for name in (part.begin, part.end)]
    return Evaluate(CCall(nest.function.name, (*nest.arguments, *limits)))


def with_pads(nest: NestFunction, pads: tuple[Pad, ...]) -> NestFunction:
    """The nest with memory that it hands on to its helpers."""
    parameters = (*(CParameter(f"{pad.ctype} *", pad.array) for pad in pads), *nest.function.parameters)
    arguments = (*(Id(pad.array) for pad in pads), *nest.arguments)
    return replace(
        nest, function=replace(nest.function, parameters=parameters), arguments=arguments, pads=pads
    )


def describe(stage: Stage, plan: NestPlan) -> str:
    """The comment above a nest: the definition as the user wrote it, and the plan."""
    lines = [f"{stage.name}({', '.join(stage.dims)})"]
    for part in stage.parts:
        lines.append(f"  {'starts as' if stage.is_reduction else '='} {_short(part.expr)}")
    for accumulation in stage.accumulations:
        target = ", ".join(str(form) for form in accumulation.target)
        lines.append(f"  {stage.operation.name} into ({target}) of {_short(accumulation.expr)}")
    way = f"loops {', '.join(plan.order)}" if plan.order and not plan.routines else plan.kind
    lines.append(f"{way}: {plan.reason}")
    return "\n".join(lines)


def _short(expr: Expr) -> str:
    return textwrap.shorten(expr_text(expr), 100, placeholder=" ...")
