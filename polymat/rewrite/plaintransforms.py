"""Transforms as libraries have them: a plain one for each that is more, and a pass over its result.

A library has no sum of cosines, and adds to nothing: cosines and sines are the two parts of half a spectrum,
which both may share, and what a sum starts from is added behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from math import prod
from typing import Literal

from polymat.dataclass import dataclass
from polymat.graph.flat import flat_stage, started
from polymat.graph.pipeline import Pipeline
from polymat.graph.product import product_of
from polymat.graph.simplify import share_common_stages
from polymat.graph.splice import free_name, names_taken
from polymat.graph.stage import Accumulation, Part, Stage
from polymat.idiom.dft import match_dft, reason_against_dft
from polymat.idiom.hermitian import match_hermitian
from polymat.idiom.librarymodel import Libraries
from polymat.idiom.librarytransforms import can_transform, transform_seconds
from polymat.idiom.mirrored import halved_axis, regions
from polymat.idiom.transform import FourierAxis, Transform
from polymat.idiom.unlike import reason_against_sum
from polymat.lang.affine import Affine
from polymat.lang.expr import CastExpr, Const, Expr, Load, Parameter, binary, call
from polymat.lang.fouriertransforms import complex_type, wave
from polymat.lang.indices import index_variable
from polymat.lang.makers import index_expression
from polymat.lang.reduction import Op
from polymat.lang.types import Int, Long, ScalarType, real_part
from polymat.machine.model import Machine
from polymat.model.assumed import assumed_sizes
from polymat.model.extents import extent
from polymat.options import Options
from polymat.poly.domain import Domain
from polymat.rewrite.transformtime import Transforms
from polymat.tilesize.stagework import VECTOR_SHARE, stage_operations


def plain_transforms(
    pipeline: Pipeline,
    options: Options,
    estimates: Mapping[str, int],
    machine: Machine,
    libraries: Libraries,
) -> Pipeline:
    """Replace transforms that no library computes as they stand where one and a pass behind it are quicker.

    before:  F(j) = sum over k of x(k) cos(2 pi j k / N)
    after:   X(j) = sum over k of x(k) exp(-2 pi i j k / N) for j up to N // 2
             F(j) = Re X(j) for 2 j <= N, else Re X(N - j)
    Notes say what is predicted, and why other sums of waves are no transforms.
    """
    if options.fft == "never":
        return pipeline
    sizes = assumed_sizes(pipeline, estimates)
    rewriting = _Transforming(pipeline, options, Transforms(machine, libraries), sizes, names_taken(pipeline))
    found = [rewriting.of(stage) for stage in pipeline.stages]
    notes = [note for _, note in found if note]
    if not notes:
        return pipeline
    stages = tuple(stage for some, _ in found for stage in some)
    changed = replace(pipeline, stages=stages, notes=(*pipeline.notes, *notes))
    return share_common_stages(changed) if options.share else changed


@dataclass(frozen=True, slots=True, eq=False)
class _Transforming:
    """What is asked for every stage.  sizes: what is assumed of each.  taken: names that others have."""

    pipeline: Pipeline
    options: Options
    transforms: Transforms
    sizes: Mapping[str, int]
    taken: set[str]

    def of(self, stage: Stage) -> tuple[list[Stage], str]:
        """The stages in place of one, and what was decided about it in words, if anything."""
        product = product_of(stage, self.pipeline.context) if stage.is_reduction else None
        found = None if product is None else match_dft(product)
        if found is None:
            reason = self._against(stage) if product is None else reason_against_dft(product)
            return [stage], self._no_transform(stage, reason) if reason else ""
        if can_transform(found):
            return [stage], ""
        plain = self._plain(found)
        called = None if plain is None else self._called(plain)
        if plain is None or called is None:
            return [stage], self._no_transform(stage, f"none computes the {found}")
        return self._cheaper(stage, found, plain, called)

    def _no_transform(self, stage: Stage, reason: str) -> str:
        return f"{self.pipeline.located(stage)} is no transform of a library: {reason}"

    def _against(self, stage: Stage) -> str:
        known = match_hermitian(stage, self.pipeline.context) is not None
        return "" if known else reason_against_sum(stage)

    def _called(self, plain: Stage) -> Transform | None:
        """What a library would compute of a stage."""
        product = product_of(plain, self.pipeline.context)
        found = None if product is None else match_dft(product)
        return found if found is not None and can_transform(found) else None

    def _cheaper(
        self, stage: Stage, found: Transform, plain: Stage, called: Transform
    ) -> tuple[list[Stage], str]:
        """The plain transform and the pass behind it, where they are predicted to be quicker than sums."""
        forced = self.options.fft == "always"
        if not forced and not self.transforms.are_called(self.options, plain.dtype):
            return [stage], f"{stage.name} is computed by sums: there is no library for the {found}"
        machine = self.transforms.machine
        threads = machine.team(self.options.threads)
        values = 2 * prod(extent(form, self.sizes) for form in stage.extents)
        seconds = self.transforms.pass_seconds(plain.dtype, values)
        model = self.transforms.libraries.model("fft")
        seconds += transform_seconds(called, machine, self.sizes, threads, model)
        peak = machine.peak_flops(real_part(stage.dtype).size, threads) * VECTOR_SHARE
        sums = stage_operations(stage, self.sizes) / peak
        texts = [f"{seconds:.3g} s by a library and a pass over its result", f"{sums:.3g} s by sums"]
        if seconds >= sums and not forced:
            return [stage], f"{stage.name}, the {found}: {texts[1]}; not {texts[0]}"
        self.taken.add(plain.name)
        return [plain, _behind(stage, found, plain)], f"{stage.name}, the {found}: {texts[0]}; not {texts[1]}"

    def _plain(self, found: Transform) -> Stage | None:
        """The transform that a library has, under a name of its own; None where there is none."""
        if found.product.others or sum(axis.half for axis in found.axes) > 1:
            return None
        name = free_name(f"{found.product.name}_transform", self.taken)
        if found.kind in ("cosine", "sine") or any(axis.mirrored for axis in found.axes):
            return replace(_spectrum(found), name=name)
        flat = flat_stage(replace(found.product, addends=()), self.pipeline)
        return None if flat is None else replace(flat, name=name)


def _spectrum(found: Transform) -> Stage:
    """X(j..) = sum over k.. of x(k..) exp(sign 2 pi i (j k / length + ..)).

    For cosines and sines that is the forward one, for j up to half of one length.
    """
    product, halves = found.product, found.kind in ("cosine", "sine")
    sign = -1 if halves else found.sign
    dtype, params = complex_type(found.source.dtype) if halves else product.dtype, product.domain.params
    ranges = dict(zip(product.dims, product.box, strict=True))
    if halves:
        halved = halved_axis(found.axes)
        ranges[halved.output] = (Affine(), halved.length.floordiv(2))
    bounds = tuple(ranges.values())
    dims = (*product.dims, *(axis.input for axis in found.axes))
    inner = (*bounds, *((Affine(), axis.length - 1) for axis in found.axes))
    domain = Domain.box(params, product.dims, bounds)
    waves = [_wave(axis, sign, dtype) for axis in found.axes]
    item = Accumulation(
        dims=dims,
        bounds=inner,
        domain=Domain.box(params, dims, inner),
        condition=None,
        target=tuple(map(Affine.name, product.dims)),
        expr=reduce(partial(binary, "*"), waves, found.source.expr),
        at=None,
    )
    start = Part(domain, None, Const(0, dtype), None)
    return Stage(product.name, dtype, product.dims, bounds, domain, (start,), Op.Sum, (item,), None)


def _wave(axis: FourierAxis, sign: Literal[-1, 1], dtype: ScalarType) -> Expr:
    leaves: dict[str, Expr] = {name: Parameter(Int, name) for name in axis.length.names()}
    count = index_expression(axis.length, leaves)
    return wave(sign, index_variable(axis.output, Long), index_variable(axis.input, Long), count, dtype)


def _behind(stage: Stage, found: Transform, plain: Stage) -> Stage:
    """The stage as a pass over the plain transform: what starts it, and the part of the values it is."""
    starts = started(found.product)
    assert starts is not None  # the plain one is made for few of them alone
    halves = found.kind in ("cosine", "sine")
    parts = []
    for region in regions(found.axes, halves=halves):
        indices = tuple(region.indices.get(dim, Affine.name(dim)) for dim in stage.dims)
        value: Expr = Load(plain.ref, indices, plain.dtype)
        if halves:
            value = _part_of(value, found, stage.dtype, conjugated=region.conjugated)
        elif any(axis.mirrored for axis in found.axes):
            value = _scaled(value, found, found.number, stage.dtype)
        summed = (*region.forms, *(axis.length - 1 for axis in found.axes if axis.half))
        for domain, start in starts:
            added = value if start is None else binary("+", start, value)
            parts.append(Part(domain.at_least_zero(summed), None, added, stage.at))
    return replace(stage, parts=(*parts, *_of_nothing(stage, found, starts)), op=None, accumulations=())


def _of_nothing(
    stage: Stage, found: Transform, starts: Sequence[tuple[Domain, Expr | None]]
) -> Iterator[Part]:
    """Half a spectrum of no values has one: what starts it alone, whatever the scale is there (1 / 0)."""
    for axis in found.axes:
        for domain, start in starts if axis.half else ():
            empty = domain.at_least_zero([-axis.length])
            if not empty.assume(found.product.context).is_empty():
                yield Part(empty, None, Const(0, stage.dtype) if start is None else start, stage.at)


def _part_of(value: Expr, found: Transform, dtype: ScalarType, *, conjugated: bool) -> Expr:
    """The cosines or sines of a forward transform, scaled.

    A transform passes over a weight that is 0, the sum as written does not: 0 times NaN is NaN.  Such a value
    reaches the other part, whose difference from itself is 0 otherwise.
    """
    number = found.number
    if found.kind == "sine" and conjugated != (found.sign > 0):
        number = -number
    one, other = ("real", "imag") if found.kind == "cosine" else ("imag", "real")
    rest = call(other, value)
    return _scaled(binary("+", call(one, value), binary("-", rest, rest)), found, number, dtype)


def _scaled(result: Expr, found: Transform, number: complex, dtype: ScalarType) -> Expr:
    """A value with the factors of the transform that the plain one has not."""
    if number != 1:
        exact = number.real if number.imag == 0 else number
        result = binary("*", result, Const(exact, real_part(dtype) if number.imag == 0 else dtype))
    if found.scale is not None:
        result = binary("*", result, found.scale)
    return result if result.dtype == dtype else CastExpr(result, dtype)
