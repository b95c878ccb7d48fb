"""Stages that need each other: along which dimension of each all of them take steps together.

At each step every stage of a circle computes those of its points that have one index along its dimension;
what it reads of the circle then lies at earlier steps, or at the same one where no new circle comes of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import TypeVar

from polymat.dataclass import dataclass
from polymat.graph.accesses import loads_with_domains
from polymat.graph.stage import Accumulation, Part, Stage, loads_of
from polymat.graph.toldapart import told_apart
from polymat.lang.affine import Affine
from polymat.poly.domain import Domain
from polymat.poly.freed import freed

T = TypeVar("T")
FORWARDS, BACKWARDS = 1, -1
MOST_CHOICES = 64  # of dimensions, one for each stage, that are tried


@dataclass(frozen=True, slots=True)
class StepAxis:
    """How a stage takes steps: at step s it computes the points with index sign * s - shift at `position`."""

    position: int
    sign: int = FORWARDS
    shift: int = 0

    def index(self, step: Affine) -> Affine:
        """The index along its dimension at a step."""
        return step.scale(self.sign) - self.shift

    def split(self, indices: tuple[T, ...]) -> tuple[T, tuple[T, ...]]:
        """Split what there is for each dimension into what belongs to the one of the steps, and the rest."""
        place = self.position
        return indices[place], indices[:place] + indices[place + 1 :]

    def step(self, index: Affine) -> Affine:
        """The step at which it computes an index."""
        return (index + self.shift).scale(self.sign)


Axes = Mapping[str, StepAxis]
Positions = Mapping[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class InnerRead:
    """A read of one stage of a circle by another: `reader` at `index` reads `producer` at `read`.

    Both are indices along the dimensions of the steps, at the points of `where`.
    """

    reader: str
    producer: str
    index: Affine
    read: Affine
    where: Domain

    def distance(self, axes: Axes) -> int | None:
        """How many steps before the reader its value is made; None where that differs from point to point."""
        apart = axes[self.reader].step(self.index) - axes[self.producer].step(self.read)
        return apart.const if apart.is_constant else None

    def is_earlier(self, axes: Axes) -> bool:
        """Whether it is made at an earlier step at every point."""
        apart = axes[self.producer].step(self.read) - axes[self.reader].step(self.index)
        where, (form,) = freed(self.where, [apart])
        return where.at_least_zero([form]).is_empty()


def possible_axes(members: Sequence[Stage], context: Domain) -> Iterator[tuple[tuple[Stage, ...], Axes]]:
    """Every choice of dimensions along which no stage needs what is made at a later step.

    With the stages; last those whose definitions are split by whether they read at their own step.
    """
    known: list[Positions] = []
    for positions in _candidates(members):
        if positions not in known:
            known.append(positions)
            yield from _both_ways(tuple(members), positions, context)
    for positions in known:
        apart = told_apart(members, positions, context)
        if apart != tuple(members):
            yield from _both_ways(apart, positions, context)


def _both_ways(
    members: tuple[Stage, ...], positions: Positions, context: Domain
) -> Iterator[tuple[tuple[Stage, ...], Axes]]:
    needs = [*inner_reads(members, positions, context)]
    for sign in (FORWARDS, BACKWARDS):
        axes = _shifted(members, positions, needs, sign)
        if axes is not None:
            yield members, axes


def _candidates(members: Sequence[Stage]) -> Iterator[Positions]:
    """First the dimensions that keep constant distances, then others, unless these are very many."""
    for first in range(len(members[0].dims)):
        positions = _positions(members, first)
        if positions is not None:
            yield positions
    if prod(len(stage.dims) for stage in members) > MOST_CHOICES:
        return
    for places in product(*(range(len(stage.dims)) for stage in members)):
        named = zip(members, places, strict=True)
        if all(has_own(stage, place) for stage, place in named):
            yield {stage.name: place for stage, place in zip(members, places, strict=True)}


def own_index(stage: Stage, item: Part | Accumulation, position: int) -> Affine:
    """The index along a dimension of the element that a point writes."""
    return Affine.name(stage.dims[position]) if isinstance(item, Part) else item.target[position]


def inner_reads(members: Sequence[Stage], positions: Positions, context: Domain) -> Iterator[InnerRead]:
    """Every read within a circle."""
    for stage in members:
        for item in stage.definitions():
            index, domain = own_index(stage, item, positions[stage.name]), item.domain.assume(context)
            for expr in item.values():
                for where, load in loads_with_domains(domain, expr):
                    name = load.source.name
                    if name in positions and not load.source.is_input:
                        yield InnerRead(stage.name, name, index, load.indices[positions[name]], where)


def _positions(members: Sequence[Stage], first: int) -> Positions | None:
    """The dimension of every stage that keeps a constant distance from that of the first one."""
    if any(not stage.dims for stage in members):
        return None
    stages = {stage.name: stage for stage in members}
    found = {members[0].name: first}
    pending = [members[0].name]
    while pending:
        name = pending.pop()
        for other, position in _linked(stages, name, found):
            if other not in found:
                found[other] = position
                pending.append(other)
    for stage in members:  # those that no read at a constant distance links to the others
        found.setdefault(stage.name, min(first, len(stage.dims) - 1))
    return found if all(has_own(stages[name], place) for name, place in found.items()) else None


def _linked(stages: Mapping[str, Stage], name: str, found: Positions) -> Iterator[tuple[str, int]]:
    """Stages that a stage reads, or that read it, at a constant distance along one of their dimensions."""
    for reader in stages.values():
        for item in reader.definitions():
            for load in loads_of(item):
                producer = stages.get(load.source.name)
                if producer is None or name not in (reader.name, producer.name):
                    continue
                if reader.name == name:
                    index = own_index(reader, item, found[name])
                    places = range(len(producer.dims))
                    yield from ((producer.name, k) for k in places if (index - load.indices[k]).is_constant)
                else:
                    read = load.indices[found[name]]
                    places = range(len(reader.dims))
                    own = ((k, own_index(reader, item, k)) for k in places)
                    yield from ((reader.name, k) for k, index in own if (index - read).is_constant)


def has_own(stage: Stage, position: int) -> bool:
    """Whether every sum has a dimension of its own for the steps."""
    targets = (item.target[position] for item in stage.accumulations)
    return all(target == Affine.name(next(target.names(), "")) for target in targets)


def _shifted(
    members: Sequence[Stage], positions: Positions, needs: Sequence[InnerRead], sign: int
) -> Axes | None:
    """Axes with the least shifts at which nothing is needed before it is made; None without such shifts."""
    shifts = {stage.name: 0 for stage in members}
    plain = {name: StepAxis(position, sign) for name, position in positions.items()}
    distances = [(need, need.distance(plain)) for need in needs]
    uniform = [(need, apart) for need, apart in distances if apart is not None]
    for _ in range(len(members) + 1):
        changed = False
        for need, apart in uniform:
            late = shifts[need.producer] - shifts[need.reader] - apart
            if late > 0:
                shifts[need.reader] += late
                changed = True
        if not changed:
            break
    else:
        return None
    axes = {name: StepAxis(axis.position, sign, sign * shifts[name]) for name, axis in plain.items()}
    others = (need for need, apart in distances if apart is None)
    return axes if all(need.is_earlier(axes) for need in others) else None
