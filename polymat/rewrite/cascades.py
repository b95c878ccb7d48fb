"""Cascades of filters: two in a row become one with the taps of both, where that is predicted to pay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from polymat.dataclass import dataclass
from polymat.graph.build import build
from polymat.graph.pipeline import Pipeline
from polymat.graph.splice import names_taken, spliced, without_unread
from polymat.graph.stage import Ref, Stage
from polymat.idiom.librarymodel import Libraries
from polymat.lang.affine import Affine
from polymat.lang.expr import Parameter, Variable
from polymat.lang.firfilters import Strided, constant, filtered_sum
from polymat.lang.makers import index_expression
from polymat.lang.signal import MAKERS, Signal
from polymat.lang.table import Lookup
from polymat.lang.types import Int
from polymat.machine.model import Machine
from polymat.model.assumed import assumed_sizes
from polymat.options import Options
from polymat.rewrite.overlapsave import filter_time, plain_filter, start_of, taps_of
from polymat.rewrite.transformtime import Transforms


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """y(i) = sum over k of taps(k) x(start + i - k) for i < length, with taps that are known numbers.

    extent: of the signal.  valid: whether no sample outside the signal is meant; else those are zero.
    """

    signal: Ref
    extent: Affine
    taps: npt.NDArray[Any]
    start: Affine
    length: Affine
    valid: bool

    def after(self, first: Known) -> Known | None:
        """The two as one filter; None where the first one's results outside its length are not zero.

        None as well where a tap of both lies outside the range of their type.
        """
        if not self.valid and not first.vanishes_before(self):
            return None
        taps = _convolved(first.taps, self.taps)
        if taps is None:
            return None
        start = first.start + self.start
        return Known(first.signal, first.extent, taps, start, self.length, self.valid and first.valid)

    def vanishes_before(self, second: Known) -> bool:
        """Whether its sum is zero wherever another filter takes a result of it for zero."""
        unread = self.length - second.length - second.start
        ended = self.length + self.start - (len(self.taps) - 1) - self.extent
        return _at_least_zero(-self.start) and (_at_least_zero(unread) or _at_least_zero(ended))


def join_cascades(
    pipeline: Pipeline,
    options: Options,
    estimates: Mapping[str, int],
    machine: Machine,
    libraries: Libraries,
) -> Pipeline:
    """Let a filter of a filter's results, which nobody else reads, be one filter with the taps of both.

    before:  f(i) = sum over k of g(k) x(i + S - 1 - k);  y(i) = sum over k of h(k) f(i + T - 1 - k)
    after:   y(i) = sum over k of (g * h)(k) x(i + S + T - 2 - k)
    """
    if options.fir == "direct" or not options.share:
        return pipeline
    found = {stage.name: known for stage in pipeline.stages if (known := _known(stage, pipeline)) is not None}
    transforms = Transforms(machine, libraries)
    if len(found) < 2 or not all(transforms.are_called(options, x.signal.dtype) for x in found.values()):
        return pipeline
    sizes = assumed_sizes(pipeline, estimates)
    hidden = _read_once(pipeline)
    joined: dict[str, Known] = {}
    for stage in pipeline.stages:
        second = found.get(stage.name)
        source = "" if second is None else second.signal.name
        first = joined.get(source, found.get(source)) if source in hidden else None
        both = None if first is None or second is None else second.after(first)
        if first is None or second is None or both is None:
            continue
        apart, together = (
            sum(_seconds(known, sizes, transforms, options) for known in each)
            for each in ((first, second), (both,))
        )
        if together < apart:
            joined[stage.name] = both
    return _rewritten(pipeline, joined) if joined else pipeline


def _seconds(known: Known, sizes: Mapping[str, int], transforms: Transforms, options: Options) -> float:
    length = max(float(known.length.evaluate(sizes)), 1.0)
    return filter_time(len(known.taps), length, known.signal.dtype, transforms, options)


def _known(stage: Stage, pipeline: Pipeline) -> Known | None:
    """What a stage is, if it is a filter of one dimension with constant taps."""
    found = plain_filter(stage, pipeline)
    count = None if found is None else taps_of(found, pipeline)
    if found is None or count is None or found.taps.ref.is_input:
        return None
    if stage.dtype.kind == "c" or found.axes[0].step > 1 or found.axes[0].correlates:
        return None
    taps = pipeline.stage(found.taps.source)
    expr = taps.parts[0].expr if len(taps.parts) == 1 and not taps.is_reduction else None
    if not isinstance(expr, Lookup) or not isinstance(expr.index, Variable):
        return None
    if Affine((), len(expr.table.array)) != count:
        return None
    extent = pipeline.extents[found.signal.source][0]
    valid = found.edges == "valid"
    return Known(found.signal.ref, extent, expr.table.array, start_of(found, count), stage.extents[0], valid)


def _read_once(pipeline: Pipeline) -> set[str]:
    """The stages that are no outputs and have one reader."""
    readers: dict[str, set[str]] = {stage.name: set() for stage in pipeline.stages}
    for stage in pipeline.stages:
        for load in stage.loads():
            readers.get(load.source.name, set()).add(stage.name)
    return {name for name, each in readers.items() if len(each) == 1} - set(pipeline.outputs)


def _rewritten(pipeline: Pipeline, joined: Mapping[str, Known]) -> Pipeline:
    taken = names_taken(pipeline)
    stages: list[Stage] = []
    for stage in pipeline.stages:
        known = joined.get(stage.name)
        stages += (None if known is None else _filter(stage, known, pipeline, taken)) or [stage]
    return without_unread(pipeline.with_stages(tuple(stages)))


def _filter(stage: Stage, known: Known, pipeline: Pipeline, taken: set[str]) -> list[Stage] | None:
    """The stages of a joined filter: its taps and itself."""
    leaves: dict[str, Any] = {size.name: Parameter(Int, size.name) for size in pipeline.sizes}
    x = Signal(known.signal.dtype, "samples", index_expression(known.extent, leaves))
    taps = constant(MAKERS, known.taps, "fir", known.signal.dtype)
    whole = Strided(taps, 0, 1, Affine((), len(known.taps)))
    built = build([filtered_sum(MAKERS, x, whole, known.start, known.length)])
    return spliced(stage, built, {"samples": known.signal}, taken)


def _convolved(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Taps of two filters in a row, summed in double precision; None where overflow or underflow changes one.

    1e-25 twice is 0 in single precision, whereas a sample of 1e30 comes through two such filters.
    """
    (a, first), (b, second) = (_scaled(taps) for taps in (one, other))
    limits = np.finfo(one.dtype)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        taps: npt.NDArray[Any] = np.ldexp(np.convolve(a, b), first + second).astype(one.dtype)
        magnitudes = np.ldexp(np.convolve(abs(a), abs(b)), first + second)
    meant = np.convolve(a != 0, b != 0)
    kept = (magnitudes >= float(limits.tiny)) & (magnitudes <= float(limits.max))
    return taps if np.all(kept | ~meant) else None


def _scaled(taps: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], int]:
    """Taps over a power of two, of which the largest is below 1, and its exponent."""
    wide = taps.astype(np.float64)
    exponent = int(np.frexp(np.max(abs(wide), initial=0.0))[1])
    return np.ldexp(wide, -exponent), exponent


def _at_least_zero(form: Affine) -> bool:
    return form.is_constant and form.const >= 0
