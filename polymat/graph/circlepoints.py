"""Elements that need each other, for who wrote stages that cannot be ordered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from polymat.dataclass import dataclass
from polymat.graph.accesses import loads_with_domains
from polymat.graph.pipeline import Pipeline
from polymat.graph.pointtext import with_sizes
from polymat.graph.stage import Accumulation, Part, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Load
from polymat.poly.access import Access
from polymat.poly.circle import Dependence, Hop, least_sizes, shortest_circle

MOST_PAIRS = 10_000  # of elements, one of which needs the other, that are looked through at some sizes
_TRIED = range(1, 6)  # sizes, the others as small as they may be


@dataclass(frozen=True, slots=True, eq=False)
class InCircle:
    """A read of one of the stages of a circle by one of them."""

    stage: Stage
    load: Load
    need: Dependence


@dataclass(frozen=True, slots=True)
class CircleOfReads:
    """Elements each of which needs the next, the last one the first.

    text: `f(1) reads g(i - 1) = g(0), g(0) reads f(i + 1) = f(1) (with N = 2)`.  reads: in that order.
    """

    text: str
    reads: tuple[InCircle, ...]


def reads_among(pipeline: Pipeline, names: Sequence[str]) -> list[InCircle]:
    """Every read of some stages by one of them."""
    stages = {stage.name: stage for stage in pipeline.stages if stage.name in names}
    return [
        InCircle(stage, load, need)
        for stage in stages.values()
        for item in stage.definitions()
        for load, need in _needs(pipeline, stages, stage, item)
    ]


def circle_of_reads(
    pipeline: Pipeline, names: Sequence[str], sizes: Mapping[str, int] | None = None
) -> CircleOfReads | None:
    """A shortest circle of elements of some stages at these sizes, else at small ones; None without one."""
    reads = reads_among(pipeline, names)
    needs = [read.need for read in reads]
    seen: list[Mapping[str, int]] = []
    for each in chain([sizes], (least_sizes(pipeline.context, least) for least in _TRIED)):
        if each is None or each in seen:
            continue
        seen.append(each)
        hops = shortest_circle(needs, each, most_pairs=MOST_PAIRS)
        if hops is not None:
            return _told(pipeline, [(reads[hop.need], hop) for hop in hops], each)
    return None


def read_text(pipeline: Pipeline, load: Load) -> str:
    """A read, as it stands in the definition: `f(i + 1)`."""
    return _element(pipeline.called(load.source.name), load.indices)


def _needs(
    pipeline: Pipeline, stages: Mapping[str, Stage], stage: Stage, item: Part | Accumulation
) -> Iterator[tuple[Load, Dependence]]:
    own = item.target if isinstance(item, Accumulation) else tuple(map(Affine.name, stage.dims))
    domain = item.domain.assume(pipeline.context)
    for expr in item.values():
        for where, load in loads_with_domains(domain, expr):
            producer = None if load.source.is_input else stages.get(load.source.name)
            if producer is not None:
                read = Access.of(where, load.indices).within(producer.domain)
                written = Access.of(where, own).within(stage.domain)
                yield load, Dependence.of(stage.name, written, producer.name, read)


def _told(
    pipeline: Pipeline, hops: Sequence[tuple[InCircle, Hop]], sizes: Mapping[str, int]
) -> CircleOfReads:
    following = [*hops[1:], hops[0]]
    steps = [
        f"{_named(pipeline, hop)} {'reads' if read.need.is_exact else 'may read'} "
        f"{read_text(pipeline, read.load)} = {_named(pipeline, after)}"
        for (read, hop), (_, after) in zip(hops, following, strict=True)
    ]
    text = ", ".join(steps) + with_sizes(sizes, pipeline.context)
    return CircleOfReads(text, tuple(read for read, _ in hops))


def _named(pipeline: Pipeline, hop: Hop) -> str:
    name, indices = hop.element
    return _element(pipeline.called(name), indices)


def _element(name: str, indices: Sequence[Affine | int]) -> str:
    return f"{name}({', '.join(map(str, indices))})"
