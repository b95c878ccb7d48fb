"""Sizes that nobody gave: what decisions take them for, so that every array has an ordinary extent.

One number for all would leave nothing of an extent like H - R + 1, the result of a window of R points.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from polymat.graph.pipeline import Pipeline
from polymat.lang.affine import Affine
from polymat.model.estimates import Estimates

UNKNOWN_EXTENT = 1000  # of a size that neither `sizes=` nor `estimates=` names
UNKNOWN_WINDOW = 8  # of one that shortens an extent, as the taps of a filter do
NEARLY = 0.25  # of all that an equality compares: by how much its sides may differ
MOST_STEPS = 64  # that are taken to meet what is required of sizes; what is not met then stays so


def assumed_sizes(pipeline: Pipeline, given: Mapping[str, int]) -> Estimates:
    """Every size: what was given, and otherwise a guess.

    Sizes that shorten an extent are windows.  They are halved until it is half as long as without them, and
    what lengthens it is doubled where that is not enough; constraints are met in the same way, equalities
    nearly.
    """
    values = Estimates({size.name: given.get(size.name, UNKNOWN_EXTENT) for size in pipeline.sizes})
    pitches = [name for array in pipeline.inputs for name in array.pitches if name]
    open_sizes = [s.name for s in pipeline.sizes if s.name not in given and s.name not in pitches]
    if open_sizes:
        _fit(values, pipeline, open_sizes)
    for array in pipeline.inputs:
        values.update({name: each for name, each in array.tight(values).items() if name not in given})
    return values


def _fit(values: Estimates, pipeline: Pipeline, open_sizes: list[str]) -> None:
    """Change open sizes until extents and constraints are as they should be."""
    extents = dict.fromkeys(form for form in _extents(pipeline) if not form.is_constant)
    windows = {name for form in extents for name in open_sizes if _grows(form, values, name, by_half=True)}
    values.update(dict.fromkeys(windows, UNKNOWN_WINDOW))
    required = [form for form, _ in pipeline.constraints]
    for _ in range(MOST_STEPS):
        missed = [form for form in required if form.evaluate(values) < -_room(form, values, required)]
        missed += [form for form in extents if _is_short(form, values, open_sizes)]
        if not any(_mend(form, values, open_sizes) for form in missed):
            break


def _extents(pipeline: Pipeline) -> Iterator[Affine]:
    """The extent of every dimension of every array and loop."""
    for array in pipeline.inputs:
        yield from array.shape or array.extents
    for stage in pipeline.stages:
        for box in (stage.box, *(accumulation.box for accumulation in stage.accumulations)):
            yield from (high - low + 1 for low, high in box)


def _room(form: Affine, values: Mapping[str, int], required: Sequence[Affine]) -> float:
    """How far below 0 a form may be: halving and doubling seldom meet N = 3 M, and end at 3 = 3 * 1."""
    if -form not in required:
        return 0.0
    compared = sum(abs(Affine(((atom, each),)).evaluate(values)) for atom, each in form.terms)
    return NEARLY * float(compared + abs(form.const))


def _grows(form: Affine, values: Mapping[str, int], name: str, *, by_half: bool) -> bool:
    """Whether a form is larger with half of a size, or with twice of it."""
    other = values[name] // 2 if by_half else values[name] * 2
    return bool(form.evaluate({**values, name: other}) > form.evaluate(values))


def _is_short(form: Affine, values: Mapping[str, int], open_sizes: list[str]) -> bool:
    """Whether what shortens an extent leaves less than half of it."""
    windows = [name for name in open_sizes if _grows(form, values, name, by_half=True)]
    unshortened = form.evaluate({**values, **dict.fromkeys(windows, 0)})
    return bool(form.evaluate(values) < max(unshortened / 2, 1))


def _mend(form: Affine, values: dict[str, int], open_sizes: list[str]) -> bool:
    """Halve what makes a form small, or else double what makes it large; whether there was anything."""
    smaller = [n for n in open_sizes if values[n] > 1 and _grows(form, values, n, by_half=True)]
    larger = [n for n in open_sizes if _grows(form, values, n, by_half=False)]
    halved = {name: values[name] // 2 for name in smaller}
    values.update(halved or {name: 2 * values[name] for name in larger})
    return bool(smaller or larger)
