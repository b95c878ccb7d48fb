"""Long filters by Fourier transforms: one stage becomes several, three of them transforms.

Filters of one signal may share the transforms of its blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.graph.build import build
from polymat.graph.pipeline import Pipeline
from polymat.graph.product import product_of
from polymat.graph.simplify import share_common_stages
from polymat.graph.splice import names_taken, spliced
from polymat.graph.stage import Stage
from polymat.idiom.fir import match_fir
from polymat.idiom.librarymodel import Libraries
from polymat.idiom.transform import Filter
from polymat.lang.affine import Affine
from polymat.lang.expr import Parameter
from polymat.lang.fftfilters import SampleBlocks, Samples, filtered_by_blocks, filtered_whole, kept_of
from polymat.lang.makers import index_expression
from polymat.lang.signal import MAKERS, Signal
from polymat.lang.types import Int, ScalarType, real_part
from polymat.machine.model import Machine
from polymat.model.assumed import assumed_sizes
from polymat.options import Options
from polymat.rewrite.filtertime import FilterTimes, FilterWay, Task
from polymat.rewrite.transformtime import Transforms


@dataclass(frozen=True, slots=True, eq=False)
class Long:
    """A stage y(i) = sum over k < taps of h(k) x(start + step i - k) for i < kept.

    Taps in reverse make the same of a correlation; either array may be conjugated.
    """

    stage: Stage
    found: Filter
    taps: Affine
    start: Affine
    step: int
    kept: Affine

    @property
    def length(self) -> Affine:
        """Results with those between that are not kept."""
        return (self.kept - 1).scale(self.step) + 1

    @property
    def first(self) -> Affine:
        """The first sample that the first result needs."""
        return self.start - self.taps + 1


@dataclass(frozen=True, slots=True, eq=False)
class Bank:
    """Filters of one signal, from whose sample `first` on each block serves them all.

    reach: samples that a result of all of them together needs.  length: results of the longest.
    """

    filters: tuple[Long, ...]
    first: Affine
    reach: Affine
    length: Affine

    @classmethod
    def of(cls, filters: Sequence[Long]) -> Bank | None:
        """A bank of some filters; None where it depends on sizes which of them begins or ends first."""
        first = _extreme([each.first for each in filters], least=True)
        last = _extreme([each.start for each in filters])
        length = _extreme([each.length for each in filters])
        if first is None or last is None or length is None:
            return None
        return cls(tuple(filters), first, last - first + 1, length)

    @property
    def task(self) -> Task:
        """The work of a bank of filters, as predictions ask for it."""
        dtype = self.filters[0].stage.dtype
        taps = tuple(each.taps for each in self.filters)
        return Task(taps, self.reach, self.length, dtype, self.filters[0].step)


def filter_by_blocks(
    pipeline: Pipeline,
    options: Options,
    estimates: Mapping[str, int],
    machine: Machine,
    libraries: Libraries,
) -> Pipeline:
    """Replace every long filter that transforms are predicted to compute sooner.

    before:  y(i) = sum over k of h(k) x(i + T - 1 - k)
    after:   blocks of x that overlap, their spectra times that of h, and back; or x as one block
    """
    if options.fir == "direct":
        return pipeline
    found = [each for stage in pipeline.stages if (each := _long(stage, pipeline)) is not None]
    transforms = Transforms(machine, libraries)
    found = [each for each in found if transforms.are_called(options, each.stage.dtype)]
    if not found:
        return pipeline
    sizes = assumed_sizes(pipeline, estimates)
    times = FilterTimes(transforms, options, sizes)
    stages: dict[str, list[Stage]] = {}
    notes: list[str] = []
    taken = names_taken(pipeline)
    for bank in _banks(found, times):
        way, *others = times.ways(bank.task)
        notes.append(_note(bank, way, others))
        for each in bank.filters if way.kind != "direct" else ():
            stages[each.stage.name] = _transformed(each, bank, way, pipeline, taken) or [each.stage]
    if not stages:
        return replace(pipeline, notes=(*pipeline.notes, *notes))
    made = [one for stage in pipeline.stages for one in stages.get(stage.name, [stage])]
    changed = replace(pipeline, stages=tuple(made), notes=(*pipeline.notes, *notes))
    return share_common_stages(changed) if options.share else changed


def _note(bank: Bank, way: FilterWay, others: Iterable[FilterWay]) -> str:
    names = [each.stage.name for each in bank.filters]
    text = f"filter {names[0]}: {way}"
    if len(names) > 1:
        signal = bank.filters[0].found.signal.source
        text = f"filters {', '.join(names)} share the transforms of {signal}: {way}"
    return "; ".join([text, *(f"not {other}" for other in others)])


def _banks(found: Sequence[Long], times: FilterTimes) -> list[Bank]:
    """Each filter by itself, or with others of the same signal where that is predicted to be quicker."""
    alone = {id(each): bank for each in found if (bank := Bank.of([each])) is not None}
    seconds = {key: times.ways(bank.task)[0].seconds for key, bank in alone.items()}
    signals: dict[tuple[str, bool, int], list[Long]] = {}
    for each in found:
        signal = each.found.signal
        signals.setdefault((signal.source, signal.conjugated, each.step), []).append(each)
    banks: list[Bank] = []
    for group in signals.values():
        together = _shared([each for each in group if id(each) in alone], seconds, times)
        inside = set() if together is None else {id(each) for each in together.filters}
        banks += [] if together is None else [together]
        banks += [alone[id(each)] for each in group if id(each) not in inside]
    return banks


def _shared(group: Sequence[Long], seconds: Mapping[int, float], times: FilterTimes) -> Bank | None:
    """The bank of the longest filters of a signal that saves most; None where none saves anything."""
    if len(group) < 2 or not times.options.share:
        return None
    longest = sorted(group, key=lambda each: -times.at(each.taps))
    best, gain = None, 0.0
    for count in range(2, len(longest) + 1):
        bank = Bank.of([each for each in group if each in longest[:count]])
        way = None if bank is None else times.ways(bank.task)[0]
        if way is None or way.kind == "direct":
            continue
        saved = sum(seconds[id(each)] for each in longest[:count]) - way.seconds
        if saved > gain:
            best, gain = bank, saved
    return best


def _long(stage: Stage, pipeline: Pipeline) -> Long | None:
    found = plain_filter(stage, pipeline)
    taps = None if found is None else taps_of(found, pipeline)
    if found is None or taps is None:
        return None
    return Long(stage, found, taps, start_of(found, taps), found.axes[0].step, stage.box[0][1] + 1)


def plain_filter(stage: Stage, pipeline: Pipeline) -> Filter | None:
    """A filter of one dimension, with taps of the type of the samples or real ones.

    Every so many results may be kept alone.
    """
    if not stage.is_reduction or len(stage.dims) != 1 or stage.dtype.kind not in "fc":
        return None
    product = product_of(stage, pipeline.context)
    if stage.box[0][0] != Affine():
        return None
    found = None if product is None else match_fir(product, pipeline.extents)
    if found is None or found.scale is not None or found.start or len(found.axes) != 1:
        return None
    (axis,) = found.axes
    alike = found.signal.dtype == stage.dtype and found.taps.dtype in (stage.dtype, real_part(stage.dtype))
    plain = alike and axis.step >= 1 and len(found.signal.indices) == 1
    return found if plain and len(found.taps.indices) == 1 else None


def taps_of(found: Filter, pipeline: Pipeline) -> Affine | None:
    """How many taps there are, where all of an array are meant."""
    (extent,) = pipeline.extents[found.taps.source]
    (axis,) = found.axes
    low, high = found.product.terms[0].range_of(axis.tap)
    tap = Affine.name(axis.tap)
    all_taps = low == Affine() and high + 1 == extent and found.taps.indices[0] in (tap, extent - 1 - tap)
    return extent if all_taps else None


def start_of(found: Filter, taps: Affine) -> Affine:
    """The last of the samples that the first result is a sum of, where there are so many taps."""
    (axis,) = found.axes
    form, tap = found.signal.indices[0], Affine.name(axis.tap)
    first = form - Affine.name(axis.output).scale(axis.step)
    return first + tap if form.coefficient(axis.tap) < 0 else first - tap + taps - 1


def filter_time(
    count: int, length: float, dtype: ScalarType, transforms: Transforms, options: Options
) -> float:
    """Predicted seconds of a filter of so many taps and results, in the way that takes the least."""
    taps = Affine((), count)
    task = Task((taps,), taps, Affine((), round(length)), dtype)
    return FilterTimes(transforms, options, {}).ways(task)[0].seconds


def _transformed(
    each: Long, bank: Bank, way: FilterWay, pipeline: Pipeline, taken: set[str]
) -> list[Stage] | None:
    """The stages of a filter by transforms, the last under the filter's own name."""
    known = {size.name: Parameter(Int, size.name) for size in pipeline.sizes}
    extents = pipeline.extents
    factors = (each.found.signal, each.found.taps)
    x, h = (
        Samples(
            Signal(factor.dtype, f"placeholder{n}", index_expression(extents[factor.source][0], dict(known))),
            conjugated=factor.conjugated,
            reversed=n == 1 and each.found.axes[0].correlates,
        )
        for n, factor in enumerate(factors)
    )
    more, span = tuple(known.values()), (each.start, each.kept)
    if way.kind == "whole":
        result = filtered_whole(MAKERS, x, h, *span, bank.first, way.points, each.step, more)
    else:
        points, kept = way.points.const, kept_of(way.points.const, bank.reach.const, each.step)
        blocks = SampleBlocks(bank.first, points, kept, (bank.length + (kept - 1)).floordiv(kept))
        result = filtered_by_blocks(MAKERS, x, h, *span, blocks, each.step, more)
    refs = {"placeholder0": each.found.signal.ref, "placeholder1": each.found.taps.ref}
    return spliced(each.stage, build([result]), refs, taken)


def _extreme(forms: Sequence[Affine], *, least: bool = False) -> Affine | None:
    """The largest of some forms, or the least; None where that depends on sizes."""
    best = forms[0]
    for form in forms[1:]:
        difference = form - best
        if not difference.is_constant:
            return None
        if difference.const != 0 and (difference.const < 0) == least:
            best = form
    return best
