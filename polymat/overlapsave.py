"""Long filters by Fourier transforms of blocks: one stage becomes several, three of them transforms."""

from __future__ import annotations

import math
from collections.abc import Mapping

from polymat.graph.build import build
from polymat.graph.pipeline import Pipeline
from polymat.graph.product import product_of
from polymat.graph.splice import names_taken, spliced
from polymat.graph.stage import Stage
from polymat.idiom.find import extents_of
from polymat.idiom.fir import match_fir
from polymat.idiom.transform import Filter
from polymat.lang.affine import Affine
from polymat.lang.blocks import filtered_by_blocks
from polymat.lang.expr import Parameter
from polymat.lang.makers import index_expression
from polymat.lang.signal import MAKERS, Signal
from polymat.lang.types import Int
from polymat.options import Options
from polymat.runtime.providers import provider
from polymat.tilesize.planner import UNKNOWN_EXTENT

DIRECT_SHARE = 0.8  # of the peak that register blocks of filters reach
TRANSFORM_SHARE = 0.06  # of the peak that transforms reach, with what surrounds them
SIZES = range(6, 17)  # exponents of 2: the points of a transform


def filter_by_blocks(pipeline: Pipeline, options: Options, estimates: Mapping[str, int]) -> Pipeline:
    """Replace every long filter that transforms of blocks are predicted to compute sooner.

    before:  y(i) = sum over k of h(k) x(i + T - 1 - k)
    after:   blocks of x that overlap, their spectra times that of h, and back
    """
    if options.fir == "direct" or options.fft == "never" or provider("fft") is None:
        return pipeline
    sizes = {size.name: UNKNOWN_EXTENT for size in pipeline.sizes} | dict(estimates)
    stages: list[Stage] = []
    for stage in pipeline.stages:
        found = _filter(stage, pipeline)
        count = None if found is None else _count(found, pipeline)
        if found is None or count is None:
            stages.append(stage)
            continue
        length = float((stage.box[0][1] + 1).evaluate(sizes))
        block = _block(count, length, options.fir == "fft")
        stages += [stage] if block is None else _blocks(stage, found, count, block, pipeline)
    return pipeline if len(stages) == len(pipeline.stages) else pipeline.with_stages(tuple(stages))


def _filter(stage: Stage, pipeline: Pipeline) -> Filter | None:
    """A filter of one dimension with a known number of taps, of real values."""
    if not stage.is_reduction or len(stage.dims) != 1 or stage.dtype.kind != "f":
        return None
    product = product_of(stage, pipeline.context)
    if stage.box[0][0] != Affine():
        return None
    found = None if product is None else match_fir(product, extents_of(pipeline))
    if found is None or found.scale is not None or found.start or len(found.axes) != 1:
        return None
    (axis,) = found.axes
    alike = found.signal.dtype == found.taps.dtype == stage.dtype
    plain = alike and axis.step == 1 and not axis.correlates and len(found.signal.indices) == 1
    return found if plain and len(found.taps.indices) == 1 else None


def _count(found: Filter, pipeline: Pipeline) -> int | None:
    """How many taps there are, where all of an array are meant and it has a known length."""
    (extent,) = extents_of(pipeline)[found.taps.source]
    (axis,) = found.axes
    low, high = found.product.terms[0].range_of(axis.tap)
    whole = low == Affine() and high + 1 == extent and found.taps.indices == (Affine.name(axis.tap),)
    return extent.const if whole and extent.is_constant else None


def _block(count: int, length: float, forced: bool) -> int | None:
    """The points of a transform with which a filter takes the least time; None where sums take less."""
    sizes = [1 << n for n in SIZES if (1 << n) >= 2 * count]
    if not sizes:
        return None

    def work(block: int) -> float:
        pairs = math.ceil(length / (2 * (block - count + 1)))
        return (2 * pairs + 1) * 5 * block * math.log2(block) / TRANSFORM_SHARE

    best = min(sizes, key=work)
    return best if forced or work(best) < 2 * count * length / DIRECT_SHARE else None


def _blocks(stage: Stage, found: Filter, count: int, block: int, pipeline: Pipeline) -> list[Stage]:
    """The stages of a filter by blocks, the last under the filter's own name."""
    known = {size.name: Parameter(Int, size.name) for size in pipeline.sizes}
    extents = extents_of(pipeline)
    x, h = (
        Signal(factor.dtype, f"placeholder{n}", index_expression(extents[factor.source][0], dict(known)))
        for n, factor in enumerate((found.signal, found.taps))
    )
    (axis,) = found.axes
    start = found.signal.indices[0] - Affine.name(axis.output) + Affine.name(axis.tap)
    _, high = stage.box[0]
    result = filtered_by_blocks(MAKERS, x, h, count, start, high + 1, block)
    built = build([result])
    refs = {"placeholder0": found.signal.ref, "placeholder1": found.taps.ref}
    return spliced(stage, built, refs, names_taken(pipeline)) or [stage]
