"""Stages that are Fourier transforms: the C function that has FFTW compute a part of the batch.

What FFTW does not do is done by loops over its result: the half of the spectrum of real values that follows
from the other half, the conjugate for the other direction, and the scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce

from polymat.codegen.c.ctree import (
    Braces,
    Cast,
    CBinary,
    CCall,
    CExpr,
    CParameter,
    Declare,
    Evaluate,
    Id,
    If,
    Literal,
    Return,
    Stmt,
)
from polymat.codegen.c.needs import Piece
from polymat.codegen.loops.nestfunction import NestFunction, run_nest
from polymat.codegen.loops.ranges import Range
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.routines.blas import ZERO
from polymat.codegen.routines.fftlarge import large_text
from polymat.codegen.routines.fftw import FftNeed
from polymat.graph.stage import Part, Ref, Stage
from polymat.idiom.libraryroutines import fft_prefix
from polymat.idiom.mirrored import regions
from polymat.idiom.transform import Transform
from polymat.lang.affine import Affine
from polymat.lang.expr import Const, Expr, Load, binary, call
from polymat.lang.types import Double, real_part
from polymat.plan.library import TransformPlan
from polymat.plan.loops import LoopPlan


def transform_nest(
    writer: StageWriter, stage: Stage, plan: TransformPlan, along: Sequence[str | None], kind: str
) -> NestFunction:
    """The nest of a transform over ranges of its batch."""
    loops = writer.ranged(plan.stage, plan.loops, along, "loops")
    passes = (("mirror", _mirror(plan)), ("scale", _scaled(plan)))
    after = [_map(writer, plan, along, parts, name) for name, parts in passes if parts]
    body = _Transform(writer, plan, loops.ranges, along).body(loops, after)
    nest = writer.as_nest((plan.stage,), plan, body, kind, loops.ranges)
    if not loops.ranges:
        team = tuple(CParameter("const int", name) for name in SHARED)
        nest = replace(nest, function=replace(nest.function, parameters=(*nest.function.parameters, *team)))
    return replace(nest, helpers=tuple(f for each in (loops, *after) for f in each.functions))


SHARED = ("_pm_pieces_worth", "_pm_team_now")  # parameters of nests that share one transform themselves
_KINDS = {"complex": "_PM_C2C", "real": "_PM_R2C", "hermitian": "_PM_C2R"}


class _Transform:
    """The plan and its run for one part of the batch."""

    def __init__(
        self, writer: StageWriter, plan: TransformPlan, ranges: Sequence[Range], along: Sequence[str | None]
    ) -> None:
        self.writer = writer
        self.plan = plan
        self.transform = plan.transform
        self.result = tuple(map(Affine.name, self.transform.product.dims))
        self.bounds = {dim: part for part in ranges if (dim := along[part.number]) is not None}
        self.single = real_part(self.transform.product.dtype) != Double
        self.prefix = fft_prefix(self.transform.product.dtype.dtype)

    def body(self, loops: NestFunction, after: Sequence[NestFunction]) -> tuple[Stmt, ...]:
        """Loops where there is nothing to transform or no plan; else the run, then what follows it."""
        self.writer.needs.add(FftNeed(self.prefix))
        lengths = [self.writer.size(axis.length) for axis in self.transform.axes]
        counts = [count for _, count in self._batch()]
        empty = reduce(partial(CBinary, "||"), [CBinary("<=", n, ZERO) for n in (*lengths, *counts)])
        missing = CBinary("==", Id("_pm_plan"), Id("NULL"))
        give_up = (run_nest(loops), Return())
        arrays = (Id("_pm_in"), Id("_pm_out"))
        run = CCall(f"_pm_{self.prefix}_run", (Id("_pm_plan"), *arrays))
        at_once: tuple[Stmt, ...] = (
            Declare(f"_pm_{self.prefix}_plan *const ", "_pm_plan", self._made()),
            If(missing, give_up),
            Evaluate(run),
            Evaluate(CCall(f"_pm_{self.prefix}_done", (Id("_pm_plan"),))),
        )
        if self.transform.parts:
            at_once = (If(CBinary("==", self._large(), ZERO), at_once),)
        elif not self.bounds:
            at_once = (*(Evaluate(Cast("void", Id(name))) for name in SHARED), *at_once)
        return (If(empty, give_up), *self._arrays(), *self._dims(), *at_once, *map(run_nest, after))

    def _large(self) -> CExpr:
        """Whether it is large and was computed axis by axis, by a team where there is no batch to share."""
        name = f"_pm_{self.prefix}_large"
        self.writer.texts.setdefault(name, large_text(self.prefix, self.plan.least))
        self.writer.needs.update({Piece.MATH, Piece.STRING, Piece.TEAM, Piece.WORKSPACE})
        shared = [Literal("1") if self.bounds else Id(name) for name in SHARED]
        return CCall(name, (*self._shape(), *shared))

    def _made(self) -> CExpr:
        address = [Cast("uintptr_t", Id(name)) for name in ("_pm_in", "_pm_out")]
        return CCall(f"_pm_{self.prefix}_plan_for", (*self._shape(), CBinary("|", *address)))

    def _shape(self) -> tuple[CExpr, ...]:
        """What a plan is made for."""
        rigour = "_PM_MEASURE" if self.plan.measured else "_PM_ESTIMATE"
        count = len(self._batch())
        return (
            Literal(_KINDS[self.transform.kind]),
            Literal(str(-self.transform.sign if _is_conjugated(self.transform) else self.transform.sign)),
            Literal(rigour),
            Literal(str(len(self.transform.axes))),
            Id("_pm_dims"),
            Literal(str(count)),
            Id("_pm_batch") if count else Id("NULL"),
            Id("_pm_in"),
            Id("_pm_out"),
        )

    def _arrays(self) -> list[Stmt]:
        """Where the part's first transform begins; FFTW takes no pointers to constants."""
        point: dict[str, CExpr] = {}
        for axis in self.transform.axes:
            point |= {axis.input: ZERO, axis.output: ZERO}
        for batch in self.transform.batch:
            (dim,), (low,) = batch.dims, batch.low
            point[dim] = Id(self.bounds[dim].begin) if dim in self.bounds else self.writer.size(low)
        source = self.transform.source
        places = (
            self.writer.bodies.address(source.source, source.indices, point),
            self.writer.bodies.address(self.transform.product.name, self.result, point),
        )
        pointers = [Cast("void *", Cast("uintptr_t", place)) for place in places]
        names = ("_pm_in", "_pm_out")
        return [Declare("void *const ", name, value) for name, value in zip(names, pointers, strict=True)]

    def _dims(self) -> list[Stmt]:
        axes = [
            self._dim(axis.input, axis.output, self.writer.size(axis.length))
            for axis in sorted(self.transform.axes, key=lambda axis: axis.half)
        ]
        batch = [self._dim(dim, dim, count) for dim, count in self._batch()]
        found: list[Stmt] = [Declare("const _pm_fft_dim", "_pm_dims[]", Braces(tuple(axes)))]
        return found + ([Declare("const _pm_fft_dim", "_pm_batch[]", Braces(tuple(batch)))] if batch else [])

    def _dim(self, read: str, written: str, count: CExpr) -> CExpr:
        source, bodies = self.transform.source, self.writer.bodies
        return Braces(
            (
                count,
                bodies.step(source.source, source.indices, read),
                bodies.step(self.transform.product.name, self.result, written),
            )
        )

    def _batch(self) -> list[tuple[str, CExpr]]:
        found: list[tuple[str, CExpr]] = []
        for axis in self.transform.batch:
            (dim,), (extent,) = axis.dims, axis.extents
            part = self.bounds.get(dim)
            count = self.writer.size(extent) if part is None else CBinary("-", Id(part.end), Id(part.begin))
            found.append((dim, count))
        return found


def _map(
    writer: StageWriter, plan: TransformPlan, along: Sequence[str | None], parts: tuple[Part, ...], name: str
) -> NestFunction:
    """A pass over the result."""
    stage = replace(plan.stage, parts=parts, accumulations=(), op=None)
    loops = LoopPlan(plan.group, "map", stage.dims, None, stage.dims[-1], "what the library leaves to do")
    return writer.ranged(stage, loops, along, name)


def _load(plan: TransformPlan, indices: tuple[Affine, ...]) -> Expr:
    dtype = plan.stage.dtype
    return Load(Ref(plan.stage.name, dtype, is_input=False), indices, dtype)


def _mirror(plan: TransformPlan) -> tuple[Part, ...]:
    """The half of the spectrum of real values that follows from the other one."""
    if plan.transform.kind != "real":
        return ()
    found = [region for region in regions(plan.transform.axes, halves=True) if region.conjugated]
    places = [tuple(each.indices.get(dim, Affine.name(dim)) for dim in plan.stage.dims) for each in found]
    return tuple(
        Part(
            plan.stage.domain.at_least_zero(each.forms), None, call("conj", _load(plan, place)), plan.stage.at
        )
        for each, place in zip(found, places, strict=True)
    )


def _is_conjugated(transform: Transform) -> bool:
    """Whether it is computed as the conjugate of the transform of its source the other way."""
    return transform.kind == "complex" and transform.source.conjugated


def _scaled(plan: TransformPlan) -> tuple[Part, ...]:
    """The conjugate for the other direction of real values or of conjugates, and the scale."""
    transform, dtype = plan.transform, plan.stage.dtype
    value = _load(plan, tuple(map(Affine.name, plan.stage.dims)))
    turned = (transform.kind == "real" and transform.sign > 0) or _is_conjugated(transform)
    if turned:
        value = call("conj", value)
    number = transform.number
    if number != 1:
        exact = number.real if number.imag == 0 else number
        value = binary("*", value, Const(exact, real_part(dtype) if number.imag == 0 else dtype))
    if transform.scale is not None:
        value = binary("*", value, transform.scale)
    if not turned and number == 1 and transform.scale is None:
        return ()
    return (Part(transform.product.domain, None, value, plan.stage.at),)
