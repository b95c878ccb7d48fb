"""C functions around loops: what they are passed, and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polymat.codegen.c.cnames import Names
from polymat.codegen.c.ctree import (
    Cast,
    CExpr,
    CFunction,
    CParameter,
    Evaluate,
    Id,
    Stmt,
    names_in,
)
from polymat.codegen.c.needs import Need
from polymat.codegen.loops.bodies import BodyWriter
from polymat.codegen.loops.nestfunction import CheckedRows, NestFunction, Work, describe
from polymat.codegen.loops.ranges import Range
from polymat.codegen.loops.trailingloops import TRAIL
from polymat.codegen.memory.storage import TILE, Buffer
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.plan.nest import NestPlan


class NestWriter:
    """Writes C functions around the loops of stages of one pipeline.

    texts: C functions that nests call and that are text already, by name.
    fences: None, or what nests that write past the caches leave to be run behind all of them.
    checks: what nests look at while they read it, if anything.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        storage: Mapping[str, Buffer],
        names: Names,
        needs: set[Need],
        aliased: set[tuple[str, str]],
    ) -> None:
        self.pipeline = pipeline
        self.storage = storage
        self.names = names
        self.needs = needs
        self.texts: dict[str, str] = {}
        self.aliased = aliased
        self.fences: dict[str, Stmt] | None = None
        self.checks: CheckedRows | None = None
        self.bodies = BodyWriter(pipeline, storage, names, needs)

    def size(self, form: Affine) -> CExpr:
        """A form over the sizes in C."""
        return self.bodies.size(form)

    def as_nest(
        self,
        stages: Sequence[Stage],
        plan: NestPlan,
        body: tuple[Stmt, ...],
        kind: str,
        ranges: Sequence[Range],
        *,
        work: Work = "even",
        distinct: set[str] | None = None,
    ) -> NestFunction:
        """The C function around a body; its parameters are what the body uses, then the ranges.

        distinct: the arrays of which it is said that they do not overlap others; None: all.  Of an array that
        is distinct from what is written the C compiler loads an element that is used twice a second time, to
        save a register.
        """
        used = names_in(body)
        distinct = set(self.storage) if distinct is None else distinct
        parameters, arguments = self.passed({stage.name for stage in stages}, used, distinct)
        for item in ranges:
            start = item.start if item.start in used else item.begin
            parameters += [CParameter("const ptrdiff_t", name) for name in (start, item.end)]
        if TRAIL in used:
            parameters.append(CParameter("const _pm_trail *", TRAIL))
        elif plan.kind == "recurrence" and not ranges:
            parameters.append(CParameter("const int", "_pm_threads"))
            body = body if plan.parallel else (Evaluate(Cast("void", Id("_pm_threads"))), *body)
        name = f"_pm_{kind}_{stages[0].name}"
        comment = "\n".join(describe(stage, plan) for stage in stages)
        function = CFunction("void", name, tuple(parameters), body, comment)
        blocks = any(item.start in used for item in ranges)
        block = plan.jammed if blocks else 1
        return NestFunction(function, tuple(arguments), tuple(ranges), work, block)

    def passed(
        self, written: set[str], used: set[str], distinct: set[str]
    ) -> tuple[list[CParameter], list[CExpr]]:
        """The parameters that a nest needs, and what is passed for them; two stages may share an array."""
        both = [pair for pair in self.aliased if pair[1] in written and self.bodies.array(pair[0]) in used]
        aliased = {name for pair in both for name in pair} | (set(self.storage) - distinct)
        arrays: dict[str, str] = {}
        for name in self.storage:
            arrays.setdefault(self.bodies.array(name), name)
        changed = {self.bodies.array(name) for name in written if name in self.storage}
        found = [
            CParameter(self._pointer(name, array in changed, aliased), array)
            for array, name in arrays.items()
        ]
        found += [CParameter("const ptrdiff_t", self.names.get("size", s.name)) for s in self.pipeline.sizes]
        for scalar in self.pipeline.scalars:
            found.append(CParameter(f"const {scalar.dtype.c}", self.names.get("scalar", scalar.name)))
        found += [CParameter("const ptrdiff_t", name) for name in sorted(used) if name.startswith(TILE)]
        kept = [parameter for parameter in found if parameter.name in used]
        return kept, [Id(parameter.name) for parameter in kept]

    def _pointer(self, name: str, written: bool, aliased: set[str]) -> str:
        buffer = self.storage[name]
        const = "" if written else "const "
        restrict = "" if name in aliased else "restrict "
        return f"{const}{buffer.dtype.c} *{restrict}"
