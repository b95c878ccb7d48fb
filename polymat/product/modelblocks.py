"""Register blocks of schemes: which dimensions they have, and how many cycles their steps take.

Analytical cache modelling of tensor contractions, section 4: as many sums as multiplications wait for each
other, each of them in a register.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, prod

import numpy as np

from polymat.dataclass import dataclass
from polymat.machine.model import Machine
from polymat.model.tiledlevels import Kind, Sizes
from polymat.model.tilelevelsearch import Seconds

MOST_VECTORS = 4  # of a block along the vectors
LOADS = 2.0  # of a vector or of one element, that a core makes in a cycle
GATHERED = 2.0  # cycles of each element of a vector whose elements are no neighbours
SLACK = 1.0  # cycles by which a sum is added to later than it could be
START = 20.0  # cycles until the sums of a block are under way, and until they are all there
EXIT = 8.0  # cycles in which a loop within a block's sums ends
UNEVEN = 1.02  # times the cycles of blocks of one size that those of two are counted to take
KEPT_BLOCKS = 2  # register blocks for which tiles are searched
NEAR_BLOCKS = 1.1  # times the cycles of the best: blocks that are kept


@dataclass(frozen=True, slots=True, eq=False)
class SumShape:
    """A sum of products as blocks see it.

    extents: of its dimensions.  result: those of the result.  summed: the others, the innermost last.
    operands: the dimensions of both.  along: by operand, those along which neighbours lie together.
    stored: the dimension along which neighbours of the result do.
    """

    extents: Mapping[str, int]
    result: tuple[str, ...]
    summed: tuple[str, ...]
    operands: tuple[frozenset[str], ...]
    along: tuple[frozenset[str], ...]
    stored: str


@dataclass(frozen=True, slots=True)
class RegisterShape:
    """Points of a block by dimension, of which one goes by vectors.

    less: by dimension, how many points smaller blocks there are as well, so that both fill the extent.
    """

    sizes: tuple[tuple[str, int], ...]
    vector: str
    lanes: int
    less: tuple[tuple[str, int], ...] = ()

    @property
    def points(self) -> dict[str, int]:
        """Points by dimension."""
        return dict(self.sizes)

    @property
    def sums(self) -> int:
        """Vectors of sums."""
        return prod(self.points.values()) // self.lanes

    def loads(self, of: SumShape) -> float:
        """Loads of a step, those of elements that are no neighbours counted by what they cost."""
        total = 0.0
        for dims, along in zip(of.operands, of.along, strict=True):
            count = float(prod(size for dim, size in self.sizes if dim in dims))
            if self.vector in dims and self.lanes > 1:
                count *= 1.0 / self.lanes if self.vector in along else GATHERED * LOADS
            total += count
        return total

    def step(self, of: SumShape, machine: Machine) -> float:
        """Cycles in which a block's sums take one product each."""
        multiplied = self.sums / machine.fma_units
        return max(multiplied, self.loads(of) / LOADS, machine.fma_latency + SLACK)

    def fits(self, of: SumShape, machine: Machine) -> bool:
        """Whether registers hold the sums, the vectors of one operand and an element of the other."""
        vectors = min(
            ceil(prod(size for dim, size in self.sizes if dim in dims) / self.lanes)
            for dims in of.operands
            if self.vector in dims
        )
        return self.sums + vectors + 1 < machine.vector_registers

    def whole(self, extent: int, dim: str) -> float:
        """The share of an extent that is computed in whole blocks."""
        size, less = self.points.get(dim, 1), dict(self.less).get(dim, 0)
        missing = -extent % size
        if less and missing % less == 0 and missing // less <= ceil(extent / size):
            return 1.0
        return (extent // size) * size / max(1, extent)

    def seconds(self, of: SumShape, machine: Machine, length: Sizes, innermost: Sizes) -> Seconds:
        """Seconds of the arithmetic where sums run along so much of the summed dimensions, in their order.

        innermost: how often their innermost loop runs.
        """
        whole = np.array([float(of.extents[dim]) for dim in of.summed])
        length = np.minimum(length, whole)
        runs, steps = np.ceil(whole / length).prod(axis=1), length.prod(axis=1)
        stores = 2.0 * self.sums * (1 if self.vector == of.stored else 2 * self.lanes)
        exits = EXIT * steps / np.maximum(1.0, innermost)
        each = steps * self.step(of, machine) + START + stores + exits
        points = float(prod(of.extents[dim] for dim in of.result))
        full = prod(self.whole(of.extents[dim], dim) for dim in of.result)
        blocks = points * full / prod(self.points.values())
        alone = points * (1.0 - full) / self.lanes * (steps * machine.fma_latency + START)
        return np.asarray(runs * (blocks * each + alone) / machine.hertz)

    def all_seconds(self, of: SumShape, machine: Machine) -> float:
        """Seconds of the arithmetic where every sum runs along all there is, and all of that is near."""
        whole = np.array([[float(of.extents[dim]) for dim in of.summed]])
        found = float(self.seconds(of, machine, whole, _last_of(whole))[0])
        return found * (UNEVEN if self.less else 1.0)

    def run_lengths(
        self, of: SumShape, dims: Sequence[str], sizes: Sequence[Sizes], orders: Sequence[Sequence[Kind]]
    ) -> tuple[Sizes, Sizes]:
        """How much of the summed dimensions sums run along with tiles of some caches, the nearest first.

        Beyond the nearest tile where that is one block and the loops around it are over more of the sum.
        """
        summed = [dims.index(dim) for dim in of.summed]
        result = [dims.index(dim) for dim in of.result]
        block = [float(min(self.points.get(dim, 1), of.extents[dim])) for dim in of.result]
        length, single = sizes[0][:, summed], np.ones(1, dtype=bool)
        for inner, outer, order in zip(sizes[:-1], sizes[1:], orders, strict=True):
            single = single & (inner[:, result] <= block).all(axis=1)
            if order[0][0] not in of.summed or not single.any():
                break
            length = np.where(single[:, None], outer[:, summed], length)
        near = sizes[0][:, summed]
        return length, np.where(near.prod(axis=1) > 1.0, _last_of(near), _last_of(length))


def _last_of(sizes: Sizes) -> Sizes:
    """The last size of a row that is more than one point."""
    found = np.ones(len(sizes))
    for column in sizes.T:
        found = np.where(column > 1.0, column, found)
    return found


def register_shapes(
    of: SumShape, machine: Machine, lanes: int, *, unrolls: bool = True
) -> list[tuple[float, RegisterShape]]:
    """The quickest blocks of a sum, the quickest first, with seconds if all of its operands were near."""
    shapes = dict.fromkeys(all_shapes(of, machine, lanes, unrolls=unrolls))
    found = {shape: shape.all_seconds(of, machine) for shape in shapes}
    ordered = sorted(found, key=lambda shape: found[shape])
    near = [shape for shape in ordered if found[shape] <= NEAR_BLOCKS * found[ordered[0]]]
    return [(found[shape], shape) for shape in near[:KEPT_BLOCKS]]


def all_shapes(
    of: SumShape, machine: Machine, lanes: int, *, unrolls: bool = True
) -> Iterator[RegisterShape]:
    """Blocks of one or two dimensions beside that of the vectors; without unrolled points one vector each."""
    most, most_vectors = (machine.vector_registers, MOST_VECTORS) if unrolls else (1, 1)
    for vector in of.result:
        width = lanes if of.extents[vector] >= lanes else 1
        for vectors in range(1, min(most_vectors, max(1, of.extents[vector] // width)) + 1):
            wide = (vector, vectors * width)
            for rows in _rows(of, vector, most // vectors):
                sizes = (*rows, wide)
                shape = RegisterShape(sizes, vector, width, _smaller(of, sizes, width, vector))
                if shape.fits(of, machine):
                    yield shape


def _rows(of: SumShape, vector: str, most: int) -> Iterator[tuple[tuple[str, int], ...]]:
    """Points along other dimensions of the result: of one, or all of a short one and some of another."""
    yield ()
    others = [dim for dim in of.result if dim != vector and of.extents[dim] > 1]
    for dim in others:
        for size in range(2, min(most, of.extents[dim]) + 1):
            yield ((dim, size),)
        if 2 * of.extents[dim] > most:
            continue
        for other in others:
            for size in range(2, min(most // of.extents[dim], of.extents[other]) + 1) if other != dim else ():
                yield ((other, size), (dim, of.extents[dim]))


def _smaller(
    of: SumShape, sizes: Sequence[tuple[str, int]], lanes: int, vector: str
) -> tuple[tuple[str, int], ...]:
    """How much smaller further blocks are along dimensions that blocks of one size do not fill."""
    found = []
    for dim, size in sizes:
        unit, extent = (lanes if dim == vector else 1), of.extents[dim]
        missing, count = -extent % size, ceil(extent / size)
        if missing and size > unit and ceil(missing / count) < size and missing % unit == 0:
            less = ceil(missing / count / unit) * unit
            if less < size and missing % less == 0:
                found.append((dim, less))
    return tuple(found)
