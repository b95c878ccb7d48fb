"""Run a pipeline with plain NumPy: the oracle that everything compiled is compared with.

Nothing here uses isl, schedules or generated code: points are enumerated from the user's own intervals, and
recurrences run element by element as soon as what they read is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polymat.dataclass import dataclass
from polymat.errors import CycleError
from polymat.graph.evaluate import Evaluator, Points, Values
from polymat.graph.fourier import FourierSum, fourier_sum
from polymat.graph.pipeline import Pipeline
from polymat.graph.points import enumerate_points
from polymat.graph.stage import Accumulation, Part, Stage
from polymat.graph.unfold import Edges, Place, element_order, is_known, reads_among
from polymat.graph.valuelimits import check_values
from polymat.lang.affine import computed_in
from polymat.lang.reduction import Op
from polymat.poly.domain import Domain

Inside = Callable[[Domain, Mapping[str, Any]], Values]
_ACCUMULATE: dict[Op, Any] = {
    Op.Sum: np.add,
    Op.Mul: np.multiply,
    Op.Min: np.minimum,
    Op.Max: np.maximum,
}


def interpret(
    pipeline: Pipeline,
    arrays: Mapping[str, Values],
    params: Mapping[str, Any],
    inside: Inside | None = None,
) -> dict[str, Values]:
    """Every stage's array by name, from input arrays and all parameters (sizes and scalars).

    Elements that the pipeline does not define are zero.  inside: says which points a domain has, where a
    rewritten pipeline is interpreted, whose definitions hold on their domains without saying a condition.
    """
    for array in pipeline.inputs:
        if array.values is not None and not array.checked:
            check_values(array, arrays[array.name], params)
    values = dict(arrays)
    runs = _runs(pipeline.stages, values, params, inside)
    done: set[str] = set()
    for stage in pipeline.stages:
        with np.errstate(all="ignore"):
            if not stage.reads_itself:
                runs[stage.name].run()
            elif stage.name not in done:
                together = stage.circle or (stage.name,)
                unfold([runs[name] for name in together]).run()
                done.update(together)
    return values


def _runs(
    stages: Iterable[Stage], values: dict[str, Values], params: Mapping[str, Any], inside: Inside | None
) -> dict[str, _StageRun]:
    """What computes each stage into its array, which is put among the values."""
    origins: dict[str, tuple[int, ...]] = {}
    runs: dict[str, _StageRun] = {}
    for stage in stages:
        low = [int(lo.evaluate(params)) for lo, _ in stage.box]
        high = [int(hi.evaluate(params)) for _, hi in stage.box]
        origins[stage.name] = tuple(min(lo, 0) for lo in low)
        shape = [max(hi + 1 - min(lo, 0), 0) for lo, hi in zip(low, high, strict=True)]
        values[stage.name] = np.zeros(shape, dtype=stage.dtype.dtype)
        runs[stage.name] = _StageRun(stage, Evaluator(values, origins, params), params, inside)
    return runs


class _StageRun:
    """One stage being computed into its array."""

    def __init__(
        self, stage: Stage, evaluator: Evaluator, params: Mapping[str, Any], inside: Inside | None
    ) -> None:
        self.stage = stage
        self.inside = inside
        self.evaluator = evaluator
        self.params = params
        self.array = evaluator.arrays[stage.name]
        self.origin = evaluator.origins[stage.name]

    def run(self) -> None:
        """Compute all elements."""
        for part in self.parts():
            for points, count in self._points(part):
                self.assign(part, points, count)
        for accumulation in self.stage.accumulations:
            transform = fourier_sum(accumulation) if self.stage.op is Op.Sum else None
            if transform is not None:
                self._transform(transform)
                continue
            for points, count in self._points(accumulation):
                self._accumulate(accumulation, points, count)

    def parts(self) -> list[Part]:
        """The default first, so that the cases overwrite it."""
        return sorted(self.stage.parts, key=lambda part: not part.fills)

    def _points(
        self, item: Part | Accumulation, unfolded: Mapping[str, Place] | None = None
    ) -> list[tuple[Points, int]]:
        dims = item.dims if isinstance(item, Accumulation) else self.stage.dims
        bounds = item.bounds if isinstance(item, Accumulation) else self.stage.bounds
        found = []
        within = self._within if self._has_bounds(item, unfolded or {}) else None
        for points, count in enumerate_points(dims, bounds, self.params, within):
            mask = self._mask(item, points, count)
            if mask is not None:
                points, count = {n: v[mask] for n, v in points.items()}, int(mask.sum())
            if count:
                found.append((points, count))
        return found

    def _has_bounds(self, item: Part | Accumulation, unfolded: Mapping[str, Place]) -> bool:
        """Whether data that are there say between which bounds a sum runs."""
        segments = self.stage.segments if isinstance(item, Accumulation) else None
        if segments is None:
            return False
        bounds = (bound for each in segments.dims for bound in (*each.lows, *each.ends))
        return all(is_known(bound, self.evaluator, unfolded) for bound in bounds)

    def _within(self, dim: str, points: Points, count: int) -> tuple[Values, Values]:
        """Bounds of a dimension that data give, both included: outside of them there is nothing to add."""
        low, high = (np.full(count, end) for end in (-(2**62), 2**62))
        segments = self.stage.segments
        for each in segments.dims if segments is not None else ():
            if each.dim == dim:
                for bound in each.lows:
                    low = np.maximum(low, self.evaluator.value(bound, points, count))
                for bound in each.ends:
                    high = np.minimum(high, self.evaluator.value(bound, points, count) - 1)
        return low, high

    def _mask(self, item: Part | Accumulation, points: Points, count: int) -> Values | None:
        """The points at which a definition holds; None for all of them."""
        if item.condition is not None:
            return self.evaluator.holds(item.condition, points, count)
        if self.inside is None or (isinstance(item, Part) and item.fills):
            return None
        return np.broadcast_to(self.inside(item.domain, {**self.params, **points}), (count,))

    def compute(self, item: Part | Accumulation, points: Points, count: int) -> None:
        """Assign or accumulate some points of a definition."""
        if isinstance(item, Part):
            self.assign(item, points, count)
        else:
            self._accumulate(item, points, count)

    def assign(self, part: Part, points: Points, count: int) -> None:
        """Write some points of a part."""
        value = self.evaluator.value(part.expr, points, count).astype(self.array.dtype, copy=False)
        where = tuple(points[d] - o for d, o in zip(self.stage.dims, self.origin, strict=True))
        self.array[where] = value if where else value[0]

    def _accumulate(self, item: Accumulation, points: Points, count: int) -> None:
        value = self.evaluator.value(item.expr, points, count).astype(self.array.dtype, copy=False)
        flat = self.array.reshape(-1)
        where = self.place(0).flat(self.evaluator.indices(item.target, points, count), count)
        _ACCUMULATE[self.stage.operation].at(flat, where, value)

    def _transform(self, item: FourierSum) -> None:
        """Add a Fourier transform, computed in double precision."""
        length, outputs = (max(int(form.evaluate(self.params)), 0) for form in (item.length, item.outputs))
        if not length or not outputs:
            return
        count = length // 2 + 1 if item.half else length
        values = self.evaluator.value(item.element, {item.index: np.arange(count)}, count)
        values = values.astype(np.complex128)
        if item.half:
            self.array[:] += np.fft.irfft(values, length, norm="forward")
        else:
            whole = np.fft.fft(values) if item.sign < 0 else np.fft.ifft(values, norm="forward")
            self.array[:outputs] += whole[np.arange(outputs) % length].astype(self.array.dtype)

    def place(self, base: int, unfolded: Mapping[str, Place] | None = None) -> Place:
        """Where its elements are, the first of which has that number; unfolded: beside which others."""
        place = Place(base, self.array.shape, self.origin)
        if unfolded is None:
            return place
        joined = {
            dim
            for item in self.stage.accumulations
            for dim, form in enumerate(item.target)
            for atom in computed_in([form])
            if not is_known(atom.value, self.evaluator, unfolded)
        }
        return replace(place, joined=frozenset(joined))

    def gather(self, item: Part | Accumulation, unfolded: Mapping[str, Place]) -> tuple[Points, int]:
        """All points of a definition at once."""
        chunks = self._points(item, unfolded)
        dims = item.dims if isinstance(item, Accumulation) else self.stage.dims
        joined = {d: np.concatenate([p[d] for p, _ in chunks] or [np.zeros(0, np.int64)]) for d in dims}
        return joined, sum(count for _, count in chunks)


@dataclass(frozen=True, slots=True, eq=False)
class Unfolded:
    """Stages that read themselves or each other, as all their points.

    items: the definitions with the stage of each.  gathered: the points of each, and how many these are.
    written: the number of the element that each point writes.  places: where each stage's elements are.
    """

    items: Sequence[tuple[_StageRun, Part | Accumulation]]
    gathered: Sequence[tuple[Points, int]]
    written: Sequence[Values]
    places: Mapping[str, Place]
    size: int

    def edges(self) -> list[Edges]:
        """(element read, element written) for every read among them, a definition each."""
        rows = zip(self.items, self.gathered, self.written, strict=True)
        return [
            reads_among(self.places, expr, run.evaluator, points, count, written)
            for (run, item), (points, count), written in rows
            for expr in item.values()
        ]

    def run(self) -> None:
        """Compute all elements, each as soon as all that it reads is complete."""
        order = element_order(self.written, self.edges(), self.size)
        if order is None:
            names = ", ".join(self.places)
            raise CycleError(f"{names} cannot be ordered at these sizes", at=self.items[0][0].stage.at)
        for wave in order:
            for (run, item), (points, _), chosen in zip(self.items, self.gathered, wave, strict=True):
                if chosen.size:
                    run.compute(item, {n: v[chosen] for n, v in points.items()}, chosen.size)


def unfold(runs: Sequence[_StageRun]) -> Unfolded:
    """Gather all points of stages, those of a default where no case holds."""
    places: dict[str, Place] = {}
    size = 0
    for run in runs:
        places[run.stage.name] = run.place(size)
        size += run.array.size
    items: list[tuple[_StageRun, Part | Accumulation]] = []
    for run in runs:
        items += [(run, part) for part in run.parts()]
        items += [(run, accumulation) for accumulation in run.stage.accumulations]
    plain = dict(places)
    places = {run.stage.name: run.place(plain[run.stage.name].base, plain) for run in runs}
    gathered = [run.gather(item, plain) for run, item in items]
    written = [_written(places, row, points) for row, points in zip(items, gathered, strict=True)]
    defaults = [k for k, (_, item) in enumerate(items) if isinstance(item, Part) and item.fills]
    covered = np.concatenate(
        [np.zeros(0, np.int64), *(w for k, w in enumerate(written) if k not in defaults)]
    )
    for k in defaults:
        keep = ~np.isin(written[k], covered)
        gathered[k] = ({n: v[keep] for n, v in gathered[k][0].items()}, int(keep.sum()))
        written[k] = written[k][keep]
    return Unfolded(items, gathered, written, places, size)


def _written(
    places: Mapping[str, Place], row: tuple[_StageRun, Part | Accumulation], gathered: tuple[Points, int]
) -> Values:
    (run, item), place = row, places[row[0].stage.name]
    if isinstance(item, Accumulation):
        return place.flat(run.evaluator.indices(place.forms(item.target), *gathered), gathered[1])
    return place.flat([gathered[0][dim] for dim in run.stage.dims], gathered[1])
