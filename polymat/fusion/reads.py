"""What the stages of a pipeline read, and at which distance: what alignment and legality rest on."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from polymat.dataclass import dataclass
from polymat.graph.accesses import loads_with_domains
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Accumulation, Stage
from polymat.lang.affine import Affine, FloorDiv, computed_in
from polymat.lang.expr import Expr
from polymat.memo import remembered
from polymat.poly.distance import Span, value_span
from polymat.poly.domain import Domain

ONE = Fraction(1)  # nearly every slope: known by identity, since comparing fractions takes long


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """One load of a stage.

    domain: the points at which it happens.  iterators: for each of the stage's own dimensions the name that
    it has in this definition; a start value has none for the reduced ones.
    """

    stage: str
    source: str
    domain: Domain
    indices: tuple[Affine, ...]
    iterators: tuple[tuple[str, str], ...]

    def iterator(self, dim: str) -> str | None:
        """The name of one of the stage's dimensions in this definition."""
        return next((name for own, name in self.iterators if own == dim), None)


@dataclass(frozen=True, slots=True)
class Match:
    """An index that follows one of the reader's dimensions: index = slope * dim + something bounded."""

    dim: str
    slope: Fraction
    width: Fraction


@dataclass(frozen=True, slots=True)
class Links:
    """How the dimensions of a producer follow those of a consumer, over all its loads.

    pairs: (producer's dimension, consumer's dimension, slope), each once.  loose: the producer's dimensions
    that some load reads at no constant distance from any of the consumer's.
    """

    pairs: tuple[tuple[str, str, Fraction], ...]
    loose: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Reads:
    """Every load of a pipeline; the distances between them are found once a compilation.

    producers: for each stage the other stages that it reads.  readers: for each array the stages that read
    it.  dims: for each stage `own_dims`.
    """

    pipeline: Pipeline
    stages: dict[str, Stage]
    by_stage: dict[str, tuple[Read, ...]]
    producers: dict[str, tuple[str, ...]]
    readers: dict[str, tuple[str, ...]]
    dims: dict[str, tuple[str, ...]]

    @staticmethod
    def of(pipeline: Pipeline) -> Reads:
        """Collect the loads of all stages."""
        stages = {stage.name: stage for stage in pipeline.stages}
        by_stage = {name: tuple(_reads(stage, pipeline.context)) for name, stage in stages.items()}
        producers: dict[str, tuple[str, ...]] = {}
        readers: dict[str, list[str]] = {}
        for name, reads in by_stage.items():
            sources = list(dict.fromkeys(read.source for read in reads))
            producers[name] = tuple(source for source in sources if source in stages and source != name)
            for source in sources:
                readers.setdefault(source, []).append(name)
        dims = {name: own_dims(stage) for name, stage in stages.items()}
        return Reads(pipeline, stages, by_stage, producers, {k: tuple(v) for k, v in readers.items()}, dims)

    def between(self, producer: str, consumer: str) -> tuple[Read, ...]:
        """The loads of one stage (or input) by another."""
        return tuple(read for read in self.by_stage[consumer] if read.source == producer)

    @remembered
    def links(self, producer: str, consumer: str) -> Links:
        """How the dimensions of a producer follow those of a consumer."""
        pairs: list[tuple[str, str, Fraction]] = []
        loose: list[str] = []
        for read in self.between(producer, consumer):
            for position, dim in enumerate(self.stages[producer].dims):
                found = match(read, position)
                if found is None:
                    loose.append(dim)
                else:
                    pairs.append((dim, found.dim, found.slope))
        return Links(tuple(dict.fromkeys(pairs)), tuple(dict.fromkeys(loose)))

    def span(
        self, producer: str, consumer: str, produced: str, consumed: str, slope: Fraction = ONE
    ) -> Span | None:
        """Range of the producer's dimension minus `slope` times the consumer's, over all loads that happen.

        In units of 1 / denominator of the slope; None when it is not bounded by constants, or a load is
        outside the consumer's dimension.
        """
        return self._span(producer, consumer, produced, consumed, None if slope is ONE else slope)

    @remembered
    def _span(
        self, producer: str, consumer: str, produced: str, consumed: str, other: Fraction | None
    ) -> Span | None:
        slope = ONE if other is None else other
        position = self.stages[producer].dims.index(produced)
        whole: Span = (0, -1)
        for read in self.between(producer, consumer):
            found = distance(read, position, consumed, slope)
            if found is None:
                return None
            if whole[0] > whole[1]:
                whole = found
            elif found[0] <= found[1]:
                whole = (min(whole[0], found[0]), max(whole[1], found[1]))
        return whole

    @remembered
    def rowwise(self, stage: str) -> int:
        """How much more often a stage's dimensions follow the order of an array's indices than not."""
        total = 0
        for read in self.by_stage[stage]:
            found = [match(read, position) for position in range(len(read.indices))]
            order = [self.dims[stage].index(each.dim) for each in found if each is not None]
            total += sum((b > a) - (b < a) for a, b in pairwise(order))
        return total


@remembered
def match(read: Read, position: int) -> Match | None:
    """The dimension of the reader that an index follows most closely, if it follows one."""
    best: Match | None = None
    for dim, iterator in read.iterators:
        slope = _slope(read.indices[position], iterator)
        span = distance(read, position, dim, slope) if slope else None
        if span is None or span[0] > span[1]:
            continue
        width = Fraction(span[1] - span[0], slope.denominator)
        if best is None or width < best.width:
            best = Match(dim, slope, width)
    return best


def distance(read: Read, position: int, dim: str, slope: Fraction) -> Span | None:
    """Range of denominator * index - numerator * dim, for slope = numerator / denominator.

    None when it is not bounded by constants, or the definition does not have the dimension.
    """
    iterator = read.iterator(dim)
    if iterator is None:
        return None
    form = read.indices[position].scale(slope.denominator)
    rest = form - Affine.name(iterator).scale(slope.numerator)
    return (rest.const, rest.const) if rest.is_constant else value_span(read.domain, rest)


def own_dims(stage: Stage) -> tuple[str, ...]:
    """The dimensions of a stage: those of the result, then the reduced ones of a reduction.

    A reduced dimension that is called like another dimension of the result is left out.
    """
    if not is_alignable(stage):
        return stage.dims
    reduced = [dim for a in stage.accumulations for dim in a.reduced_dims if dim not in stage.dims]
    return (*stage.dims, *dict.fromkeys(reduced))


def is_alignable(stage: Stage) -> bool:
    """Whether every accumulation of the stage goes to an element named by its own dimensions."""
    return all(accumulation.is_aligned for accumulation in stage.accumulations)


def _reads(stage: Stage, context: Domain) -> Iterator[Read]:
    same = tuple((dim, dim) for dim in stage.dims)
    for part in stage.parts:
        yield from _loads(stage, part.domain.assume(context), part.expr, same)
    for accumulation in stage.accumulations:
        where = accumulation.domain.assume(context)
        iterators = _iterators(stage, accumulation)
        yield from _loads(stage, where, accumulation.expr, iterators)
        for atom in computed_in(accumulation.target):
            yield from _loads(stage, where, atom.value, iterators)


def _iterators(stage: Stage, accumulation: Accumulation) -> tuple[tuple[str, str], ...]:
    if not accumulation.is_aligned:
        return ()
    target = [(dim, next(form.names())) for dim, form in zip(stage.dims, accumulation.target, strict=True)]
    known = own_dims(stage)
    reduced = [(dim, dim) for dim in accumulation.reduced_dims if dim in known and dim not in stage.dims]
    return (*target, *reduced)


def _loads(
    stage: Stage, domain: Domain, expr: Expr, iterators: tuple[tuple[str, str], ...]
) -> Iterator[Read]:
    seen: set[tuple[int, str, tuple[Affine, ...]]] = set()
    kept = []  # keeps the narrowed domains alive, so that their identities stay distinct
    for where, load in loads_with_domains(domain, expr):
        kept.append(where)
        key = (id(where), load.source.name, load.indices)
        if key not in seen:
            seen.add(key)
            yield Read(stage.name, load.source.name, where, load.indices, iterators)


def _slope(form: Affine, name: str) -> Fraction:
    """How much a form grows with a name, floor divisions taken as divisions."""
    total = Fraction(0)
    for atom, coefficient in form.terms:
        if isinstance(atom, FloorDiv):
            total += coefficient * _slope(atom.numerator, name) / atom.divisor
        elif atom == name:
            total += coefficient
    return ONE if total == 1 else total
