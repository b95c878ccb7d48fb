"""Products of one large operand with several small ones, as one product with all of these side by side.

Of a large matrix whose rows meet few columns a product waits for the matrix.  Two of them read it twice, and
neither fills vectors or registers.  Large operands are those on the left, read along their rows: few rows
times a large matrix are no quicker together, with few exceptions (measured on a Zen 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from math import prod

from polymat.dataclass import dataclass
from polymat.graph.circlesteps import in_circles
from polymat.graph.constant import kept_stages
from polymat.graph.pipeline import Pipeline
from polymat.graph.splice import free_name, names_taken
from polymat.graph.stage import Part, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr, Load
from polymat.model.confidence import CLEARLY
from polymat.model.extents import extent
from polymat.poly.domain import Domain
from polymat.rewrite.madestages import element, made_stage, reads_inside
from polymat.rewrite.network import Network, covers_box, indices_in, is_whole, network_of, times

MOST_LINES = 64  # of small operands together: with more, a product waits for arithmetic
LEAST_SHARED = 1 << 14  # elements of the large operand
MOST_SETS = 4  # of products, for each of which the pipeline is decided once more

Bounds = tuple[Affine, Affine]
Predict = Callable[[Pipeline], float]
"""The predicted seconds of a pipeline."""


def multiply_abreast(
    pipeline: Pipeline, predict: Predict, sizes: Mapping[str, int], *, untouched: frozenset[str] = frozenset()
) -> Pipeline:
    """Let products that read one large operand alike be one product, where that is predicted to pay.

    The large operand is read once, and its elements are multiplied by more at a time.

    before:  y(i) = sum over k of A(i, k) * x(k);  F(i, j) = sum over k of A(i, k) * D(k, j)
    after:   b(k, c) = x(k) where c = 0, D(k, c - 1) elsewhere;  P(i, c) = sum over k of A(i, k) * b(k, c)
             y(i) = P(i, 0);  F(i, j) = P(i, j + 1)

    sizes: what is assumed of every size.  untouched: stages that stay as they are.
    """
    tried: set[tuple[str, ...]] = set()
    seconds: float | None = None
    for _ in range(MOST_SETS):
        found = _largest(pipeline, sizes, untouched, tried)
        if found is None:
            break
        tried.add(found.names)
        made = found.written(pipeline)
        if made is None:
            continue
        seconds = predict(pipeline) if seconds is None else seconds
        then = predict(made)
        if then < CLEARLY * seconds:
            note = f"{', '.join(found.names)}: computed as one product with {found.shared.source.name}"
            note = f"{note}; the whole program takes {then:.3g} s so, {seconds:.3g} s with each by itself"
            pipeline, seconds = replace(made, notes=(*made.notes, note)), then
    return pipeline


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    """A product of two factors, one of which is an element of an array at indices that are all of its names.

    shared: that one.  other: the one beside it.  own: the one index of the result, if any, that it has alone.
    """

    stage: Stage
    network: Network
    shared: Load
    other: Load
    own: str | None

    @property
    def key(self) -> object:
        """What readers of one array have in common that read it alike, whatever its indices are called."""
        summed = {*self.network.summed}
        places = ((str(form) in summed, self.network.bounds[str(form)]) for form in self.shared.indices)
        return self.shared.source, self.stage.dtype, tuple(places)

    @property
    def lines(self) -> Affine:
        """How many results it has for each element of the shared operand."""
        if self.own is None:
            return Affine((), 1)
        low, high = self.network.bounds[self.own]
        return high - low + 1


@dataclass(frozen=True, slots=True, eq=False)
class _Set:
    """Products that share an operand and do not need each other."""

    readers: tuple[_Reader, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The stages."""
        return tuple(reader.stage.name for reader in self.readers)

    @property
    def shared(self) -> Load:
        """The operand, at the indices of the first."""
        return self.readers[0].shared

    def written(self, pipeline: Pipeline) -> Pipeline | None:
        """The pipeline with one product in their place; None where that would read beside an array.

        Every reader's lines are at least 0, so that each has a place of its own within the product.
        """
        first, taken = self.readers[0], names_taken(pipeline)
        network, line = first.network, free_name("line", {*first.network.bounds, *taken})
        count = reduce(lambda one, other: one + other, (reader.lines for reader in self.readers))
        bounds = {**network.bounds, line: (Affine(), count - 1)}
        dims = (*(dim for dim in network.result if dim != first.own), line)
        beside = self._beside(line, bounds, taken)
        value = times(self.shared, element(beside))
        whole = made_stage(value, dims, network.summed, bounds, first.stage, taken)
        parts = {name: part for name, part in zip(self.names, self._parts(whole, line), strict=True)}
        stages = [beside, whole, *(parts.get(each.name, each) for each in pipeline.stages)]
        ordered = tuple(stage for group in in_circles(stages) for stage in group)
        made = replace(pipeline, stages=ordered)
        inside = all(reads_inside(stage, made) for stage in (beside, whole, *parts.values()))
        return made if inside else None

    def _names(self, reader: _Reader) -> dict[str, str]:
        """The names of a reader's indices in the first one."""
        forms = zip(reader.shared.indices, self.shared.indices, strict=True)
        return {str(mine): str(its) for mine, its in forms}

    def _beside(self, line: str, bounds: Mapping[str, Bounds], taken: set[str]) -> Stage:
        """The small operands side by side."""
        first = self.readers[0]
        dims = (*first.network.summed, line)
        params = tuple(first.stage.domain.params)
        parts, start = [], Affine()
        for reader in self.readers:
            last = start + reader.lines - 1
            where = {**bounds, line: (start, last)}
            domain = Domain.box(params, dims, [where[dim] for dim in dims])
            values = {mine: Affine.name(its) for mine, its in self._names(reader).items()}
            if reader.own is not None:
                values[reader.own] = Affine.name(line) - start + reader.network.bounds[reader.own][0]
            indices = tuple(form.substitute(values) for form in reader.other.indices)
            parts.append(Part(domain, None, replace(reader.other, indices=indices), reader.stage.at))
            start = last + 1
        box = tuple(bounds[dim] for dim in dims)
        name = free_name(f"{first.stage.name}_beside", taken)
        taken.add(name)
        domain = Domain.box(params, dims, box)
        return Stage(name, first.stage.dtype, dims, box, domain, tuple(parts), None, (), first.stage.at)

    def _parts(self, whole: Stage, line: str) -> Iterator[Stage]:
        """The stages as parts of the product."""
        start = Affine()
        for reader in self.readers:
            stage, network = reader.stage, reader.network
            own = dict(zip(network.result, map(Affine.name, stage.dims), strict=True))
            values = {its: own[mine] for mine, its in self._names(reader).items() if mine in own}
            values[line] = start
            if reader.own is not None:
                values[line] = start + own[reader.own] - network.bounds[reader.own][0]
            indices = tuple(values[dim] for dim in whole.dims)
            value: Expr = Load(whole.ref, indices, whole.dtype, stage.at)
            part = Part(stage.domain, None, reduce(times, network.scales, value), stage.at)
            yield replace(stage, parts=(part,), op=None, accumulations=())
            start = start + reader.lines


def _largest(
    pipeline: Pipeline,
    sizes: Mapping[str, int],
    untouched: frozenset[str],
    tried: set[tuple[str, ...]],
) -> _Set | None:
    """The set of products with the largest operand that was not tried yet."""
    alike: dict[object, list[_Reader]] = {}
    kept = kept_stages(pipeline) | untouched
    for stage in pipeline.stages:
        if stage.name not in kept:
            for reader in _readings(stage):
                alike.setdefault(reader.key, []).append(reader)
    needed = _needed(pipeline) if any(len(readers) > 1 for readers in alike.values()) else {}
    sets: list[tuple[float, _Set]] = []
    for readers in alike.values():
        found = _Set(_apart(readers, needed, sizes, pipeline.context) if len(readers) > 1 else ())
        bounds = readers[0].network.bounds
        elements = prod(_length(bounds[str(form)], sizes) for form in readers[0].shared.indices)
        if len(found.readers) > 1 and elements >= LEAST_SHARED and found.names not in tried:
            sets.append((elements, found))
    return max(sets, key=lambda each: each[0])[1] if sets else None


def _length(bounds: Bounds, sizes: Mapping[str, int]) -> float:
    return extent(bounds[1] - bounds[0] + 1, sizes)


def _apart(
    readers: Sequence[_Reader], needed: Mapping[str, set[str]], sizes: Mapping[str, int], context: Domain
) -> tuple[_Reader, ...]:
    """Those of few lines that do not need each other, as many as there is room for.

    Where sizes allow a number of lines below 0, the lines of others would not lie behind them: such are left.
    """
    found: list[_Reader] = []
    room = float(MOST_LINES)
    for reader in readers:
        lines = extent(reader.lines, sizes)
        name = reader.stage.name
        others = {each.stage.name for each in found}
        free = name not in others and needed[name].isdisjoint(others)
        counted = context.at_least_zero([-reader.lines - 1]).is_empty()
        if lines <= room and free and counted and covers_box(reader.stage):
            found.append(reader)
            room -= lines
    return tuple(found)


def _needed(pipeline: Pipeline) -> dict[str, set[str]]:
    """For each stage all that it needs, directly or not: itself, too, where it is in a circle."""
    found: dict[str, set[str]] = {}
    for group in in_circles(pipeline.stages):
        direct = {load.source.name for stage in group for load in stage.loads()}
        needs = direct.union(*(found.get(name, set()) for name in direct))
        found.update({stage.name: needs for stage in group})
    return found


def _readings(stage: Stage) -> Iterator[_Reader]:
    """A product seen as one that shares its first factor, and as one that shares its second."""
    if stage.dtype.kind not in "fc" or not stage.is_reduction:
        return
    network = network_of(stage)
    if network is None or len(network.factors) != 2 or not is_whole(stage, network):
        return
    for position, shared in enumerate(network.factors):
        reader = _reader(stage, network, shared, network.factors[1 - position])
        if reader is not None:
            yield reader


def _reader(stage: Stage, network: Network, shared: Expr, other: Expr) -> _Reader | None:
    """A product of rows of one factor, contiguous ones, with columns of the other; None of any other.

    The columns are the last dimension of the result, or there is one.
    """
    if not isinstance(shared, Load) or not isinstance(other, Load):
        return None
    names = [str(form) for form in shared.indices]
    plain = all(Affine.name(name) == form for name, form in zip(names, shared.indices, strict=True))
    if not plain or len({*names}) < len(names) or any(name not in network.bounds for name in names):
        return None
    if not names or names[-1] not in network.summed:
        return None
    beside, summed = {*indices_in(other, network.bounds)}, {*network.summed}
    rows = {*names} - summed
    own = {*network.result} - {*names}
    if not rows or len(own) > 1 or not own <= {network.result[-1]} or not summed <= {*names}:
        return None
    if beside != summed | own:
        return None
    if shared.dtype != stage.dtype or other.dtype != stage.dtype:
        return None
    return _Reader(stage, network, shared, other, next(iter(own), None))
