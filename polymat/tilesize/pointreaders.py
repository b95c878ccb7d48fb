"""Epilogues: point-wise readers of a contraction, computed on parts of it that are in the cache."""

from __future__ import annotations

from collections.abc import Collection

from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.plan.epilogue import EpiloguePlan
from polymat.plan.kernel import KernelPlan
from polymat.poly.domain import Domain
from polymat.product.ends import fits_registers
from polymat.tilesize.plain import plan_stage


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
        across=None if kernel.across is None else own[kernel.across],
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
