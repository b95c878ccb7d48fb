"""Contractions as the model of data movement sees them: extents, steps in memory, and caches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import ceil, prod

from polymat.dataclass import dataclass
from polymat.graph.monomials import Factor
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.machine.model import MEMORY, Cache, Machine
from polymat.model.extents import extent
from polymat.model.loopnest import LoopNest, single
from polymat.model.reference import Reference
from polymat.product.contraction import Contraction
from polymat.product.schemefit import operands

Extents = Mapping[str, tuple[Affine, ...]]
"""How long each array is, by name."""


@dataclass(frozen=True, eq=False)
class ArrayAccess:
    """Elements that a contraction reads or writes.

    steps: bytes from one to the next along each dimension that moves them.
    """

    reference: Reference
    steps: Mapping[str, int]

    @staticmethod
    def of(
        factor: Factor, found: Contraction, extents: Extents, estimates: Mapping[str, int], *, writes: bool
    ) -> ArrayAccess:
        """The elements of a factor, in an array of these extents at the estimates."""
        forms = tuple(_at(form, found, estimates) for form in factor.indices)
        lengths = [max(1, round(extent(form, estimates))) for form in extents[factor.source]]
        size = factor.dtype.size
        reference = Reference(factor.source, forms, size, reads=True, writes=writes)
        steps: dict[str, int] = {}
        for number, row in enumerate(reference.slopes):
            for dim, slope in row:
                steps[dim] = steps.get(dim, 0) + int(abs(slope)) * size * prod(lengths[number + 1 :])
        return ArrayAccess(reference, steps)


def _at(form: Affine, found: Contraction, estimates: Mapping[str, int]) -> Affine:
    """An index over the dimensions alone."""
    sizes = [name for name in form.names() if name not in found.bounds]
    return form.substitute({name: Affine((), estimates.get(name, 1)) for name in sizes})


@dataclass(frozen=True, eq=False)
class Modelled:
    """A contraction for which a scheme is chosen.

    every: how many points there are of each dimension.  accesses: of the left and the right operand, and of
    the result.  lanes: elements of a vector.  unrolls: whether blocks have several vectors, of several rows.
    threads: that share out `shared`, or 1.
    """

    found: Contraction
    every: Mapping[str, int]
    accesses: tuple[ArrayAccess, ArrayAccess, ArrayAccess]
    machine: Machine
    lanes: int
    unrolls: bool = True
    threads: int = 1
    shared: str | None = None

    @staticmethod
    def of(
        stage: Stage,
        found: Contraction,
        extents: Extents,
        estimates: Mapping[str, int],
        machine: Machine,
        lanes: int,
        *,
        unrolls: bool = True,
    ) -> Modelled:
        """The contraction of a stage at the estimates; extents: of all arrays."""
        result = Factor(stage.ref, tuple(map(Affine.name, stage.dims)))
        left, right = (
            ArrayAccess.of(each, found, extents, estimates, writes=False) for each in operands(found)
        )
        written = ArrayAccess.of(result, found, extents, estimates, writes=True)
        every = {dim: max(1, round(found.length(dim, estimates))) for dim in found.bounds}
        return Modelled(found, every, (left, right, written), machine, lanes, unrolls)

    @cached_property
    def nest(self) -> LoopNest:
        """The nest of one of the threads."""
        references = [each.reference for each in self.accesses]
        return single(self.extents, references, sequential=self.found.summed, flops=2)

    @cached_property
    def extents(self) -> dict[str, int]:
        """How many points a thread has of each dimension."""
        return {dim: ceil(n / self.threads) if dim == self.shared else n for dim, n in self.every.items()}

    @cached_property
    def caches(self) -> tuple[Cache, ...]:
        """The caches as far as one thread can count on them."""
        return tuple(
            replace(each, bytes=each.bytes // self.threads, ways=max(1, each.ways // self.threads))
            if each.shared
            else each
            for each in self.machine.caches
        )

    @cached_property
    def seconds_a_byte(self) -> tuple[float, ...]:
        """Of what moves into each cache, for one of the threads."""
        behind = [*(each.level for each in self.caches[1:]), MEMORY]
        return tuple(self.threads / self.machine.bandwidth(level, self.threads) for level in behind)

    @property
    def factors(self) -> Sequence[tuple[Factor, ArrayAccess]]:
        """Both operands with where their elements are."""
        return tuple(zip(operands(self.found), self.accesses[:2], strict=True))

    @property
    def result(self) -> ArrayAccess:
        """Where the result is."""
        return self.accesses[2]

    def with_shared(self, dim: str, threads: int) -> Modelled:
        """This contraction with a dimension that threads share."""
        return replace(self, shared=dim, threads=threads)
