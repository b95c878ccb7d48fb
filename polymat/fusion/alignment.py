"""Alignment: which dimensions of several stages are one dimension of the group.

From the thesis on PolyMage's matrix extension, section 4.6 (dimension matching), where reductions take
part with their result's and their reduced dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from fractions import Fraction

from polymat.dataclass import dataclass
from polymat.fusion.reads import ONE, Match, Read, Reads
from polymat.fusion.reads import match as follows
from polymat.graph.aligned import Alignment

Node = tuple[str, str]  # a stage and one of its dimensions


@dataclass
class _Classes:
    """Dimensions known to be one, each with its scale relative to the others of its class."""

    classes: dict[Node, int] = field(default_factory=dict)
    scales: dict[Node, Fraction] = field(default_factory=dict)
    nodes: dict[int, dict[str, Node]] = field(default_factory=dict)  # of a class, by stage

    def add(self, node: Node) -> None:
        number = len(self.classes)
        self.classes[node] = number
        self.scales[node] = ONE
        self.nodes[number] = {node[0]: node}

    def merge(self, first: Node, second: Node, ratio: Fraction) -> bool:
        """Make two dimensions one, the second's scale `ratio` times the first's; False if they cannot be."""
        one, two = self.classes[first], self.classes[second]
        factor = ratio
        if self.scales[first] is not ONE or self.scales[second] is not ONE:
            factor = self.scales[first] * ratio / self.scales[second]
        if one == two:
            return factor is ONE or factor == 1
        if self.nodes[one].keys() & self.nodes[two].keys():
            return False
        if len(self.nodes[one]) < len(self.nodes[two]):
            one, two, factor = two, one, ONE if factor is ONE else 1 / factor
        for node in self.nodes[two].values():
            self.classes[node] = one
            if factor is not ONE and factor != 1:
                self.scales[node] *= factor
        self.nodes[one] |= self.nodes.pop(two)
        return True


def align(reads: Reads, stages: Sequence[str]) -> Alignment:
    """Map the dimensions of stages (producers first) to common dimensions of the group.

    Producers and consumers are aligned where the consumer's index of the producer follows one of its own
    dimensions up to a bounded constant distance; a producer's dimension for which that leads to two different
    dimensions of the group is left out.  Then stages that read the same array are aligned by its accesses,
    arrays of more dimensions first, as far as that contradicts nothing.  The group's dimensions are in the
    order of the stage that has most and walks its arrays most nearly row by row.

    before:  tmp(i, j) += A(i, k) * B(k, j);  out(i, j) = tmp(i, j) + b(j)
    after:   tmp [i,j,k] -> [1,2,3];  out [i,j] -> [1,2,-]
    """
    own = {name: reads.dims[name] for name in stages}
    found = _Classes()
    for name, dims in own.items():
        for dim in dims:
            found.add((name, dim))
    conflicts: dict[Node, str] = {}
    loose: list[str] = []
    for consumer in stages:
        for producer in reads.producers[consumer]:
            if producer in own:
                links = reads.links(producer, consumer)
                loose += [
                    f"{consumer} reads {producer} along {dim} at no constant distance" for dim in links.loose
                ]
                for dim, other, slope in links.pairs:
                    if not found.merge((producer, dim), (consumer, other), slope):
                        reason = f"{dim} of {producer} is not matched: {consumer} also reads it along {other}"
                        conflicts.setdefault((producer, dim), reason)
    for first, second in _shared(reads, stages):
        found.merge(first, second, ONE)
    leading = sorted(stages, key=lambda name: (-len(own[name]), -reads.rowwise(name)))
    return _numbered(own, leading, found, conflicts, tuple(loose))


def _shared(reads: Reads, stages: Sequence[str]) -> Iterator[tuple[Node, Node]]:
    """Pairs of dimensions that walk through the same dimension of an array which several stages read."""
    inside = set(stages)
    users: dict[str, list[Read]] = {}
    for stage in stages:
        for read in reads.by_stage[stage]:
            if read.source not in inside:
                users.setdefault(read.source, []).append(read)
    for found in sorted(users.values(), key=lambda group: -len(group[0].indices)):
        for position in range(len(found[0].indices)):
            matched = [(read.stage, follows(read, position)) for read in found]
            anchor: tuple[str, Match] | None = None
            for stage, match in matched:
                if match is None:
                    continue
                if anchor is None:
                    anchor = (stage, match)
                elif stage != anchor[0] and match.slope == anchor[1].slope:
                    yield (anchor[0], anchor[1].dim), (stage, match.dim)


def _numbered(
    own: dict[str, tuple[str, ...]],
    leading: Sequence[str],
    found: _Classes,
    conflicts: dict[Node, str],
    loose: tuple[str, ...],
) -> Alignment:
    """Dimensions in the order of the first of the leading stages, then of the others."""
    places: dict[int, int] = {}  # of classes among the dimensions
    names: dict[str, int] = {}  # with the number that comes next to tell another one of this name apart
    first: list[Fraction] = []
    for stage in leading:
        for dim in own[stage]:
            number = found.classes[stage, dim]
            if (stage, dim) not in conflicts and number not in places:
                places[number] = len(places)
                names[_fresh(dim, names)] = 2
                first.append(found.scales[stage, dim])
    plain = all(scale is ONE for scale in found.scales.values())
    unscaled = (ONE,) * len(places)
    along: dict[str, tuple[str | None, ...]] = {}
    scales: dict[str, tuple[Fraction, ...]] = {}
    for stage, dims in own.items():
        here = [(places[found.classes[stage, dim]], dim) for dim in dims if (stage, dim) not in conflicts]
        row: list[str | None] = [None] * len(places)
        scaled = list(unscaled)
        for place, dim in here:
            row[place] = dim
            scaled[place] = ONE if plain else found.scales[stage, dim] / first[place]
        along[stage], scales[stage] = tuple(row), unscaled if plain else tuple(scaled)
    return Alignment(tuple(names), own, along, scales, (*conflicts.values(), *loose))


def _fresh(name: str, taken: dict[str, int]) -> str:
    """A name that is not taken, which knows the number to go on with for others of its name."""
    fresh = name
    while fresh in taken:
        fresh = f"{name}_{taken[name]}"
        taken[name] += 1
    return fresh
