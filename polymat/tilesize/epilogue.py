"""Epilogues: point-wise readers of a contraction, computed on parts of it that are in the cache."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.poly.domain import Domain
from polymat.tilesize.ends import fits_registers
from polymat.tilesize.kernel import KernelPlan
from polymat.tilesize.plain import plan_stage
from polymat.tilesize.schedule import NestPlan


@dataclass(frozen=True, slots=True, eq=False)
class EpiloguePlan(NestPlan):
    """A contraction and the stages that read it point by point: bias, scale, ReLU, residual.

    They run one after the other on every few register blocks of the result as soon as these are complete.
    product, kernel: the contraction and its plan.  readers: the plans of the others, by stage, in order.
    within: the contraction, where its values live in the array of the last reader until that replaces them.
    in_registers: whether the one reader is computed on results before they are stored.
    """

    product: str
    kernel: KernelPlan
    readers: Mapping[str, NestPlan]
    within: tuple[str, ...]
    in_registers: bool = False

    @property
    def absorbed(self) -> tuple[str, ...]:
        """Stages of the group that have no array of their own."""
        return self.within

    def part(self, stage: str) -> NestPlan:
        """The plan of one of the stages."""
        return self.kernel if stage == self.product else self.readers[stage]

    def __str__(self) -> str:
        return f"{self.kernel}, then {', '.join(self.readers)}"


def plan_epilogue(pipeline: Pipeline, kernel: KernelPlan, live: Collection[str]) -> EpiloguePlan | None:
    """The plan of a group whose first stage is a contraction; None where others are not its epilogue.

    live: the stages of the group that are outputs or read outside it.
    """
    if kernel.pairs:
        return None  # readers are written for parts of a result of reals
    triangles = [each.triangle for each in kernel.contraction.products]
    if any(triangle is not None and triangle.place == "result" for triangle in triangles):
        return None  # parts of the result are handed over as rectangles
    group = kernel.group
    product, *readers = map(pipeline.stage, group.stages)
    if not all(_is_reader(stage, product, group.stages) for stage in readers):
        return None
    last = readers[-1]
    shares = product.name not in live and _covers(product, last, pipeline.context)
    plain = shares and len(readers) == 1 and not any(triangles)
    in_registers = plain and fits_registers(product, last, pipeline.extents)
    names = ", ".join(stage.name for stage in readers)
    when = "in registers" if in_registers else f"on every part of {product.name} as soon as it is complete"
    reason = f"{kernel.reason}; {names} {when}"
    place = f", which lives in the array of {last.name} until then" if shares else ""
    own = dict(zip(product.dims, last.dims, strict=True))
    return EpiloguePlan(
        group=group,
        kind=kernel.kind,
        order=kernel.order,
        parallel=None if kernel.parallel is None else own[kernel.parallel],
        vector=kernel.vector,
        reason=reason + place,
        product=product.name,
        kernel=kernel,
        readers={stage.name: plan_stage(group, stage, pipeline.context) for stage in readers},
        within=(product.name,) if shares else (),
        in_registers=in_registers,
    )


def _is_reader(stage: Stage, product: Stage, group: Collection[str]) -> bool:
    """Whether a stage is a map over the points of the product that reads the group at its own point only."""
    if stage.is_reduction or stage.reads_itself or len(stage.dims) != len(product.dims):
        return False
    own = tuple(Affine.name(dim) for dim in stage.dims)
    inside = [load for load in stage.loads() if load.source.name in group]
    return stage.box == product.box and all(load.indices == own for load in inside)


def _covers(product: Stage, reader: Stage, context: Domain) -> bool:
    """Whether the array of the reader has a place for every point of the product and each is overwritten."""
    if reader.dtype != product.dtype:
        return False
    whole = Domain.box(reader.domain.params, reader.dims, reader.box).assume(context)
    return whole.is_subset(reader.domain)
