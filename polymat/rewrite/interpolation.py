"""Interpolation by transforms whose lengths are free, where those that its definition names are slower."""

from __future__ import annotations

from dataclasses import replace

from polymat.graph.build import build
from polymat.graph.fourier import fourier_sum
from polymat.graph.pipeline import Pipeline
from polymat.graph.simplify import redirected, stage_key
from polymat.graph.splice import names_taken, spliced, without_unread
from polymat.graph.stage import Ref, Stage
from polymat.idiom.librarymodel import Libraries
from polymat.lang.affine import Affine
from polymat.lang.expr import Load
from polymat.lang.fouriertransforms import resampled
from polymat.lang.phases import interpolated_by_phases
from polymat.lang.signal import MAKERS, Signal
from polymat.lang.types import Double, Float
from polymat.machine.model import Machine
from polymat.options import Options
from polymat.rewrite.transformtime import Transforms, easy_length

PASSES = 5  # over the values of a transform, for the product before it and the result behind it
MOST_KEPT = 128 << 20  # bytes of spectra that are kept for one interpolation


def interpolate_by_phases(
    pipeline: Pipeline, options: Options, machine: Machine, libraries: Libraries
) -> Pipeline:
    """Replace interpolations to a multiple of a known length where convolutions are predicted to be faster.

    before:  X = rfft(x), of length n;  y = irfft(X and zeros), of length u n
    after:   y(u q + s) = x(q) for s = 0, else a circular convolution of x by transforms of at least 2 n
    """
    if not options.keep:
        return pipeline
    taken, transforms = names_taken(pipeline), Transforms(machine, libraries)
    stages: list[Stage] = []
    for stage in pipeline.stages:
        found = _interpolation(stage, pipeline)
        called = found is not None and transforms.are_called(options, stage.dtype)
        points = _points(*found, transforms) if found is not None and called else None
        stages += (_phases(stage, found, points, taken) if found and points else None) or [stage]
    if len(stages) == len(pipeline.stages):
        return pipeline
    return without_unread(pipeline.with_stages(tuple(stages)))


def _interpolation(stage: Stage, pipeline: Pipeline) -> tuple[Load, int, int] | None:
    """The samples that a stage interpolates, how many, and to how many times as many."""
    length = stage.extents[0] if len(stage.dims) == 1 else Affine()
    last = fourier_sum(stage.accumulations[0]) if len(stage.accumulations) == 1 else None
    if last is None or not last.half or not length.is_constant or stage.dtype not in (Float, Double):
        return None
    samples = _samples(stage, pipeline)
    first = None if samples is None else _length(samples, pipeline)
    if samples is None or not first or length.const % first or length.const == first:
        return None
    source = Signal(samples.dtype, "samples", first)
    wanted = build([resampled(MAKERS, source, length, (), "", True)])
    same = _is_same(wanted, wanted.outputs[0], stage, pipeline)
    return (samples, first, length.const // first) if same else None


def _samples(stage: Stage, pipeline: Pipeline) -> Load | None:
    """What the first transform of a row of stages reads, each of which reads the one before."""
    known = {each.name: each for each in pipeline.stages}
    while (load := next(stage.loads(), None)) is not None:
        forward = fourier_sum(stage.accumulations[0]) if len(stage.accumulations) == 1 else None
        if forward is not None and forward.sign < 0:
            return load
        if load.source.name not in known or load.source.name == stage.name:
            return None
        stage = known[load.source.name]
    return None


def _length(samples: Load, pipeline: Pipeline) -> int | None:
    """How many samples an array has, if that is known and they are all."""
    extents = pipeline.extents[samples.source.name]
    return extents[0].const if len(extents) == 1 and extents[0].is_constant else None


def _is_same(wanted: Pipeline, name: str, stage: Stage, pipeline: Pipeline) -> bool:
    """Whether a stage, with those that it reads, is defined as one of another pipeline is."""
    model = wanted.stage(name)
    loads, others = list(model.loads()), list(stage.loads())
    if len(loads) != len(others):
        return False
    refs = {mine.source.name: other.source for mine, other in zip(loads, others, strict=True)}
    known = {n: ref for n, ref in refs.items() if isinstance(ref, Ref)}
    # Under the name of the stage, so that neither takes a load of another stage for one of itself.
    if stage_key(replace(redirected(model, known), name=stage.name)) != stage_key(stage):
        return False
    own = {each.name for each in wanted.stages}
    stages = {each.name: each for each in pipeline.stages}
    inner = [(n, stages.get(ref.name)) for n, ref in known.items() if n in own]
    return all(other is not None and _is_same(wanted, n, other, pipeline) for n, other in inner)


def _points(samples: Load, count: int, factor: int, transforms: Transforms) -> int | None:
    """The length of transforms by which convolutions are predicted to be faster; None where none is."""
    size = samples.dtype.size
    least = easy_length(2 * count - 1)

    def work(points: int) -> float:
        values = (PASSES * (factor - 1) + 2) * points + 2 * count * factor
        seconds = factor * transforms.seconds(samples.dtype, points)
        return seconds + transforms.pass_seconds(samples.dtype, values)

    lengths = [points for points in (count, least) if (factor - 1) * (points + 2) * size <= MOST_KEPT]
    best = min(lengths, key=work, default=None)
    plain = sum(transforms.seconds(samples.dtype, length) for length in (count, count * factor))
    return best if best is not None and work(best) < plain else None


def _phases(stage: Stage, found: tuple[Load, int, int], points: int, taken: set[str]) -> list[Stage] | None:
    samples, count, factor = found
    source = Signal(samples.dtype, "samples", count)
    built = build([interpolated_by_phases(MAKERS, source, count, factor, points)])
    ref = samples.source
    return spliced(stage, built, {"samples": ref}, taken) if isinstance(ref, Ref) else None
