"""Run a pipeline with plain NumPy: the oracle that everything compiled is compared with.

Nothing here uses isl, schedules or generated code: points are enumerated from the user's own intervals, and
recurrences run element by element as soon as what they read is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from polymat.errors import CycleError
from polymat.graph.evaluate import Evaluator, Points, Values
from polymat.graph.fourier import FourierSum, fourier_sum
from polymat.graph.pipeline import Pipeline
from polymat.graph.points import enumerate_points
from polymat.graph.stage import Accumulation, Part, Stage
from polymat.graph.unfold import element_order, self_reads
from polymat.graph.valuelimits import check_values
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
        if array.values is not None:
            check_values(array, arrays[array.name], params)
    values = dict(arrays)
    origins: dict[str, tuple[int, ...]] = {}
    for stage in pipeline.stages:
        low = [int(lo.evaluate(params)) for lo, _ in stage.box]
        high = [int(hi.evaluate(params)) for _, hi in stage.box]
        origins[stage.name] = tuple(min(lo, 0) for lo in low)
        shape = [max(hi + 1 - min(lo, 0), 0) for lo, hi in zip(low, high, strict=True)]
        values[stage.name] = np.zeros(shape, dtype=stage.dtype.dtype)
        runner = _StageRun(stage, Evaluator(values, origins, params), params, inside)
        with np.errstate(all="ignore"):
            runner.run()
    return values


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
        if self.stage.reads_itself:
            self._run_recurrence()
            return
        for part in self._parts():
            for points, count in self._points(part):
                self._assign(part, points, count)
        for accumulation in self.stage.accumulations:
            transform = fourier_sum(accumulation) if self.stage.op is Op.Sum else None
            if transform is not None:
                self._transform(transform)
                continue
            for points, count in self._points(accumulation):
                self._accumulate(accumulation, points, count)

    def _parts(self) -> list[Part]:
        """The default first, so that the cases overwrite it."""
        return sorted(self.stage.parts, key=lambda part: not part.fills)

    def _points(self, item: Part | Accumulation) -> list[tuple[Points, int]]:
        dims = item.dims if isinstance(item, Accumulation) else self.stage.dims
        bounds = item.bounds if isinstance(item, Accumulation) else self.stage.bounds
        found = []
        for points, count in enumerate_points(dims, bounds, self.params):
            mask = self._mask(item, points, count)
            if mask is not None:
                points, count = {n: v[mask] for n, v in points.items()}, int(mask.sum())
            if count:
                found.append((points, count))
        return found

    def _mask(self, item: Part | Accumulation, points: Points, count: int) -> Values | None:
        """The points at which a definition holds; None for all of them."""
        if item.condition is not None:
            return self.evaluator.holds(item.condition, points, count)
        if self.inside is None or not points or (isinstance(item, Part) and item.fills):
            return None
        return self.inside(item.domain, {**self.params, **points})

    def _assign(self, part: Part, points: Points, count: int) -> None:
        value = self.evaluator.value(part.expr, points, count).astype(self.array.dtype, copy=False)
        where = tuple(points[d] - o for d, o in zip(self.stage.dims, self.origin, strict=True))
        self.array[where] = value if where else value[0]

    def _accumulate(self, item: Accumulation, points: Points, count: int) -> None:
        value = self.evaluator.value(item.expr, points, count).astype(self.array.dtype, copy=False)
        flat = self.array.reshape(-1)
        _ACCUMULATE[self.stage.operation].at(flat, self._flat(item, points, count), value)

    def _transform(self, item: FourierSum) -> None:
        """Add a Fourier transform, computed in double precision."""
        length, outputs = (max(int(form.evaluate(self.params)), 0) for form in (item.length, item.outputs))
        if item.half:
            points = {item.index: np.arange(length // 2 + 1)}
            values = self.evaluator.value(item.element, points, length // 2 + 1).astype(np.complex128)
            self.array[:] += np.fft.irfft(values, length, norm="forward") if length else values[:0].real
        elif length and outputs:
            points = {item.index: np.arange(length)}
            values = self.evaluator.value(item.element, points, length).astype(np.complex128)
            whole = np.fft.fft(values) if item.sign < 0 else np.fft.ifft(values, norm="forward")
            self.array[:outputs] += whole[np.arange(outputs) % length].astype(self.array.dtype)

    def _flat(self, item: Part | Accumulation, points: Points, count: int) -> Values:
        """Flat index of the element that each point writes."""
        if isinstance(item, Accumulation):
            index = self.evaluator.indices(item.target, points, count)
        else:
            index = [points[d] for d in self.stage.dims]
        total = np.zeros(count, dtype=np.int64)
        for value, origin, extent in zip(index, self.origin, self.array.shape, strict=True):
            total = total * extent + (value - origin)
        return total

    def _run_recurrence(self) -> None:
        items: list[Part | Accumulation] = [*self._parts(), *self.stage.accumulations]
        gathered = [self._gather(item) for item in items]
        defaults = [k for k, item in enumerate(items) if isinstance(item, Part) and item.fills]
        covered = np.concatenate(
            [np.zeros(0, np.int64)]
            + [self._flat(items[k], *gathered[k]) for k in range(len(items)) if k not in defaults]
        ).astype(np.int64)
        for k in defaults:
            keep = ~np.isin(self._flat(items[k], *gathered[k]), covered)
            gathered[k] = ({n: v[keep] for n, v in gathered[k][0].items()}, int(keep.sum()))
        written = [self._flat(item, *pair) for item, pair in zip(items, gathered, strict=True)]
        edges = [self._edges(item, *pair) for item, pair in zip(items, gathered, strict=True)]
        order = element_order(written, edges, self.array.size)
        if order is None:
            raise CycleError(f"{self.stage.name} cannot be ordered at these sizes", at=self.stage.at)
        for wave in order:
            for item, (points, _), chosen in zip(items, gathered, wave, strict=True):
                if chosen.size:
                    some = {n: v[chosen] for n, v in points.items()}
                    if isinstance(item, Part):
                        self._assign(item, some, chosen.size)
                    else:
                        self._accumulate(item, some, chosen.size)

    def _gather(self, item: Part | Accumulation) -> tuple[Points, int]:
        chunks = self._points(item)
        dims = item.dims if isinstance(item, Accumulation) else self.stage.dims
        joined = {d: np.concatenate([p[d] for p, _ in chunks] or [np.zeros(0, np.int64)]) for d in dims}
        return joined, sum(count for _, count in chunks)

    def _edges(self, item: Part | Accumulation, points: Points, count: int) -> tuple[Values, Values]:
        """(element read, element written) for every read of the stage itself."""
        written = self._flat(item, points, count)
        shape, origin = self.array.shape, self.origin
        return self_reads(self.stage.name, item.expr, self.evaluator, points, count, written, shape, origin)
