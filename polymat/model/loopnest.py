"""A loop nest as the cost models see it: extents as numbers, and references to arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod

from polymat.dataclass import dataclass
from polymat.lang.affine import Affine
from polymat.memo import remembered
from polymat.model.reference import Reference
from polymat.model.uniform import UniformClass, uniform_classes


@dataclass(frozen=True, slots=True)
class Dim:
    """A loop with its number of iterations."""

    name: str
    extent: int


@dataclass(frozen=True)
class Statement:
    """A statement of a model's nest, run at every point of some of its dimensions.

    dims: with its own extents.  sequential: dimensions along which iterations depend on each other.
    flops: operations a point.  share: the part of the box of its extents that is executed.
    """

    name: str
    dims: tuple[Dim, ...]
    references: tuple[Reference, ...]
    sequential: tuple[str, ...] = ()
    flops: int = 0
    share: float = 1.0

    @property
    def points(self) -> float:
        """How often it is executed."""
        return self.share * prod(dim.extent for dim in self.dims)

    def has(self, dim: str) -> bool:
        """Whether it runs along the dimension."""
        return any(own.name == dim for own in self.dims)

    @cached_property
    def distinct(self) -> tuple[Reference, ...]:
        """The distinct references of a statement: an element that is read and written counts once."""
        return distinct_references(self.references)


@dataclass(frozen=True)
class LoopNest:
    """Statements in one loop nest, producers first.

    dims: outermost first, each with the largest extent of its statements.  live_out: arrays that are needed
    after the nest; other arrays that it writes are intermediates.
    """

    dims: tuple[Dim, ...]
    statements: tuple[Statement, ...]
    live_out: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the dimensions."""
        return tuple(dim.name for dim in self.dims)

    @property
    def extents(self) -> dict[str, int]:
        """Extent by dimension."""
        return {dim.name: dim.extent for dim in self.dims}

    @property
    def flops(self) -> float:
        """Operations of the whole nest."""
        return sum(statement.flops * statement.points for statement in self.statements)

    @property
    def points(self) -> float:
        """Statement instances of the whole nest."""
        return sum(statement.points for statement in self.statements)

    def references(self) -> tuple[Reference, ...]:
        """The distinct references, an element that is read here and written there once."""
        return self._references

    @cached_property
    def classes(self) -> tuple[UniformClass, ...]:
        """The classes of references that differ by constants only."""
        return uniform_classes(self._references)

    @cached_property
    def _references(self) -> tuple[Reference, ...]:
        return distinct_references(r for s in self.statements for r in s.references)

    def written(self) -> tuple[str, ...]:
        """Arrays that it writes, in order."""
        return tuple(dict.fromkeys(r.array for r in self.references() if r.writes))

    def live_in(self) -> tuple[str, ...]:
        """Arrays that it only reads, in order."""
        written = self.written()
        return tuple(dict.fromkeys(r.array for r in self.references() if r.array not in written))


def distinct_references(references: Iterable[Reference]) -> tuple[Reference, ...]:
    """The references, those to the same element as one that reads and writes what any of them does."""
    merged: dict[tuple[str, tuple[Affine, ...]], Reference] = {}
    for reference in references:
        key = (reference.array, reference.indices)
        known = merged.setdefault(key, reference)
        reads, writes = known.reads or reference.reads, known.writes or reference.writes
        if (reads, writes) != (known.reads, known.writes):
            merged[key] = _doing(known, reads, writes)
    return tuple(merged.values())


@remembered
def _doing(reference: Reference, reads: bool, writes: bool) -> Reference:
    """A reference to the same element that reads and writes."""
    return replace(reference, reads=reads, writes=writes)


def single(
    extents: Mapping[str, int],
    references: Sequence[Reference],
    *,
    sequential: Sequence[str] = (),
    flops: int = 0,
    name: str = "S",
) -> LoopNest:
    """A nest of one statement over all dimensions; what it writes is live afterwards."""
    dims = tuple(Dim(dim, extent) for dim, extent in extents.items())
    statement = Statement(name, dims, tuple(references), tuple(sequential), flops)
    return LoopNest(dims, (statement,), tuple(dict.fromkeys(r.array for r in references if r.writes)))
