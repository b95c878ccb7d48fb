"""Long filters by Fourier transforms of blocks: one stage becomes several, three of them transforms."""

from __future__ import annotations

import math
from collections.abc import Mapping

from polymat.graph.build import build
from polymat.graph.pipeline import Pipeline
from polymat.graph.product import product_of
from polymat.graph.splice import names_taken, spliced
from polymat.graph.stage import Stage
from polymat.idiom.fir import match_fir
from polymat.idiom.transform import Filter
from polymat.lang.affine import Affine
from polymat.lang.blocks import filtered_by_blocks, kept_of
from polymat.lang.expr import Parameter
from polymat.lang.makers import index_expression
from polymat.lang.signal import MAKERS, Signal
from polymat.lang.types import Int, ScalarType
from polymat.machine.model import Machine
from polymat.options import Options
from polymat.tilesize.planner import UNKNOWN_EXTENT
from polymat.transformtime import has_transforms, pass_time, transform_time

DIRECT_SHARE = 0.8  # of the peak that register blocks of filters reach
SIZES = tuple(sorted(m << n for n in range(6, 20) for m in (2, 3)))  # points of a transform
# Passes over the samples of a block in memory that take as long as what is around its two transforms, with
# what these take longer from memory than in a cache.  Measured on a million samples, one thread: 16 to 20 for
# 128 to 2048 taps in double precision, 22 to 26 in single.
PASSES = 20


def filter_by_blocks(
    pipeline: Pipeline, options: Options, estimates: Mapping[str, int], machine: Machine
) -> Pipeline:
    """Replace every long filter that transforms of blocks are predicted to compute sooner.

    before:  y(i) = sum over k of h(k) x(i + T - 1 - k)
    after:   blocks of x that overlap, their spectra times that of h, and back
    """
    if options.fir == "direct":
        return pipeline
    sizes = {size.name: UNKNOWN_EXTENT for size in pipeline.sizes} | dict(estimates)
    stages: list[Stage] = []
    for stage in pipeline.stages:
        found = plain_filter(stage, pipeline)
        count = None if found is None else taps_of(found, pipeline)
        if found is None or count is None or not has_transforms(options):
            stages.append(stage)
            continue
        length = float((stage.box[0][1] + 1).evaluate(sizes))
        block = _block(count, length, stage.dtype, machine, forced=options.fir == "fft")
        stages += [stage] if block is None else _blocks(stage, found, count, block, pipeline)
    return pipeline if len(stages) == len(pipeline.stages) else pipeline.with_stages(tuple(stages))


def plain_filter(stage: Stage, pipeline: Pipeline) -> Filter | None:
    """A filter of one dimension with a known number of taps, of real values."""
    if not stage.is_reduction or len(stage.dims) != 1 or stage.dtype.kind != "f":
        return None
    product = product_of(stage, pipeline.context)
    if stage.box[0][0] != Affine():
        return None
    found = None if product is None else match_fir(product, pipeline.extents)
    if found is None or found.scale is not None or found.start or len(found.axes) != 1:
        return None
    (axis,) = found.axes
    alike = found.signal.dtype == found.taps.dtype == stage.dtype
    plain = alike and axis.step == 1 and not axis.correlates and len(found.signal.indices) == 1
    return found if plain and len(found.taps.indices) == 1 else None


def taps_of(found: Filter, pipeline: Pipeline) -> int | None:
    """How many taps there are, where all of an array are meant and it has a known length."""
    (extent,) = pipeline.extents[found.taps.source]
    (axis,) = found.axes
    low, high = found.product.terms[0].range_of(axis.tap)
    whole = low == Affine() and high + 1 == extent and found.taps.indices == (Affine.name(axis.tap),)
    return extent.const if whole and extent.is_constant else None


def start_of(found: Filter) -> Affine:
    """The sample that the first tap meets in the first result."""
    (axis,) = found.axes
    return found.signal.indices[0] - Affine.name(axis.output) + Affine.name(axis.tap)


def filter_time(count: int, length: float, dtype: ScalarType, machine: Machine, options: Options) -> float:
    """Predicted seconds of a filter of so many taps and results, in the way that takes the least."""
    direct = _direct_time(count, length, dtype, machine)
    forced = options.fir == "fft"
    block = None if options.fir == "direct" else _block(count, length, dtype, machine, forced=forced)
    return direct if block is None else _blocks_time(block, count, length, dtype, machine)


def _direct_time(count: int, length: float, dtype: ScalarType, machine: Machine) -> float:
    return 2.0 * count * length / (machine.peak_flops(dtype.size, 1) * DIRECT_SHARE)


def _blocks_time(block: int, count: int, length: float, dtype: ScalarType, machine: Machine) -> float:
    """Of all blocks, one after the other; the spectrum of the taps counts as one more transform."""
    blocks = math.ceil(length / kept_of(block, count))
    transforms = (2 * blocks + 1) * transform_time(dtype, block, machine)
    return transforms + pass_time(dtype, PASSES * blocks * block, machine)


def _block(count: int, length: float, dtype: ScalarType, machine: Machine, *, forced: bool) -> int | None:
    """The points of a transform with which a filter takes the least time; None where sums take less."""
    sizes = [points for points in SIZES if points > count]
    if not sizes:
        return None
    times = {points: _blocks_time(points, count, length, dtype, machine) for points in sizes}
    best = min(sizes, key=times.__getitem__)
    return best if forced or times[best] < _direct_time(count, length, dtype, machine) else None


def _blocks(stage: Stage, found: Filter, count: int, block: int, pipeline: Pipeline) -> list[Stage]:
    """The stages of a filter by blocks, the last under the filter's own name."""
    known = {size.name: Parameter(Int, size.name) for size in pipeline.sizes}
    extents = pipeline.extents
    x, h = (
        Signal(factor.dtype, f"placeholder{n}", index_expression(extents[factor.source][0], dict(known)))
        for n, factor in enumerate((found.signal, found.taps))
    )
    start = start_of(found)
    _, high = stage.box[0]
    result = filtered_by_blocks(MAKERS, x, h, count, start, high + 1, block)
    built = build([result])
    refs = {"placeholder0": found.signal.ref, "placeholder1": found.taps.ref}
    return spliced(stage, built, refs, names_taken(pipeline)) or [stage]
