"""The papers' cost of a group, which their fusion minimises.

PolyMage matrix thesis: Algorithm 1 (section 3.1.1, of Jangda and Bondhugula) and Algorithm 4 (section 4.3),
which adds reductions with rectangular tiles and takes its tile sizes from Algorithm 3.  The weights were
found by experiment and are not printed; those here only put the four terms on one scale.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, inf, prod
from typing import TypeAlias

from polymat.dataclass import dataclass
from polymat.machine.model import Machine
from polymat.model.footprint import bytes_touched, iterations
from polymat.model.loopnest import LoopNest, Statement
from polymat.model.looporder import innermost
from polymat.model.reference import Reference
from polymat.model.select import INNER_TILE, TileSizes, algorithm2, algorithm3

Margins: TypeAlias = dict[str, tuple[float, float]]
Select: TypeAlias = Callable[[float, str], TileSizes]


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the cost's terms.

    data: w1, a byte of live-in and live-out data for one statement instance.
    parallelism: w2, a core that the last round of tiles keeps busy beside the first; a benefit.
    overlap: w3, as many redundant bytes as the tile holds.
    extents: w4, a standard deviation of the extents of a dimension as large as their mean.
    """

    data: float = 1.0
    parallelism: float = 0.1
    overlap: float = 1.5
    extents: float = 1.0


@dataclass(frozen=True, slots=True)
class PaperCost:
    """The cost of a group, the tile sizes that it holds for, and its terms before weighing.

    value is infinite, and tiles None, where the algorithm refuses the group.
    """

    value: float
    tiles: TileSizes | None = None
    bytes_per_point: float = 0.0
    busy_cores: int = 0
    relative_overlap: float = 0.0
    extent_difference: float = 0.0
    reason: str = ""

    def explain(self) -> str:
        """The terms in words."""
        if self.tiles is None:
            return f"refused: {self.reason}"
        return (
            f"cost {self.value:.4g}: {self.bytes_per_point:.3g} bytes a point, last round of tiles keeps "
            f"{self.busy_cores + 1} cores busy, overlap {self.relative_overlap:.3g}, "
            f"extents differ by {self.extent_difference:.3g}; {self.tiles.explain()}"
        )


WEIGHTS = Weights()


def existing_cost(
    nest: LoopNest, machine: Machine, weights: Weights = WEIGHTS, *, inner_tile: int = INNER_TILE
) -> PaperCost:
    """Algorithm 1: overlapped tiles by Algorithm 2; a reduction stays alone."""
    if is_reduction(nest) and len({statement.name for statement in nest.statements}) > 1:
        return PaperCost(inf, reason="a reduction is not fused")
    if not nest.dims:
        return PaperCost(inf, reason="there is no loop to tile")

    def select(footprint: float, level: str) -> TileSizes:
        return algorithm2(nest, footprint, inner_tile=inner_tile, level=level)

    return _overlapped(nest, machine, weights, select)


def updated_cost(
    nest: LoopNest, machine: Machine, weights: Weights = WEIGHTS, *, inner_tile: int = INNER_TILE
) -> PaperCost:
    """Algorithm 4: tiles by Algorithm 3, overlapped without and rectangular with reductions."""
    if not nest.dims:
        return PaperCost(inf, reason="there is no loop to tile")
    inner = innermost(nest).choice

    def select(footprint: float, level: str) -> TileSizes:
        return algorithm3(nest, footprint, inner=inner, inner_tile=inner_tile, level=level)

    if is_reduction(nest):
        return _for_cache(nest, machine, weights, select, {}, machine.l1_bytes, "L1")
    return _overlapped(nest, machine, weights, select)


def _overlapped(nest: LoopNest, machine: Machine, weights: Weights, select: Select) -> PaperCost:
    """For the first-level cache, or for the second where the overlap exceeds the tile."""
    margins = overlap_margins(nest)
    if margins is None:
        return PaperCost(inf, reason="a dependence is not constant, tiles cannot overlap")
    cost = _for_cache(nest, machine, weights, select, margins, machine.l1_bytes, "L1")
    assert cost.tiles is not None
    sizes = cost.tiles.by_dim
    if overlap_points(nest, margins, sizes) > iterations(nest, sizes):
        return _for_cache(nest, machine, weights, select, margins, machine.l2_bytes, "L2")
    return cost


def _for_cache(
    nest: LoopNest,
    machine: Machine,
    weights: Weights,
    select: Select,
    margins: Mapping[str, Margins],
    cache_bytes: float,
    level: str,
) -> PaperCost:
    whole: dict[str, float] = dict(nest.extents)
    total = _bytes(nest, whole, nest.written())
    footprint = max(1.0, min(total / machine.cores, cache_bytes))
    tiles = select(footprint, level)
    sizes: dict[str, float] = dict(tiles.by_dim)
    moved = _bytes(nest, sizes, nest.live_in()) + _bytes(nest, sizes, nest.live_out)
    busy = busy_cores(ceil(total / footprint), machine.cores)
    overlap = _overlap_bytes(nest, margins, sizes) / footprint
    data, difference = moved / iterations(nest, sizes), extent_difference(nest)
    value = (
        weights.data * data
        - weights.parallelism * busy
        + weights.overlap * overlap
        + weights.extents * difference
    )
    return PaperCost(value, tiles, data, busy, overlap, difference)


def busy_cores(tiles: int, cores: int) -> int:
    """(tiles + cores - 1) mod cores: cores beside the first that the last round of tiles keeps busy.

    Largest when the tiles are a multiple of the cores, so that it is a benefit and lowers the cost.
    """
    return (tiles + cores - 1) % cores


def extent_difference(nest: LoopNest) -> float:
    """Sum over the dimensions of the relative standard deviation of their extents over the statements."""
    from statistics import fmean, pstdev  # which only the papers' costs need

    total = 0.0
    for dim in nest.names:
        extents = [own.extent for s in nest.statements for own in s.dims if own.name == dim]
        if len(extents) > 1 and any(extents):
            total += pstdev(extents) / fmean(extents)
    return total


def is_reduction(nest: LoopNest) -> bool:
    """Whether a statement has a dependence along one of its dimensions."""
    return any(statement.sequential for statement in nest.statements)


def overlap_margins(nest: LoopNest) -> dict[str, Margins] | None:
    """Points that each statement computes before and behind a tile, by dimension, for those that read it.

    None where a reader needs another slope than the writer has: the dependence is not constant.
    """
    margins: dict[str, Margins] = {s.name: {} for s in nest.statements}
    writers = _writers(nest)
    for position, reader in reversed(list(enumerate(nest.statements))):
        for reference in (r for r in reader.references if r.reads):
            for number, name, written in writers.get(reference.array, ()):
                if number >= position or name == reader.name:
                    continue
                shifts = _shifts(written, reference)
                if shifts is None:
                    return None
                _widen(margins[name], margins[reader.name], shifts)
    return margins


def _writers(nest: LoopNest) -> dict[str, list[tuple[int, str, Reference]]]:
    """The statements that write each array, with their position and the first reference that does."""
    found: dict[str, list[tuple[int, str, Reference]]] = {}
    for position, statement in enumerate(nest.statements):
        first: dict[str, Reference] = {}
        for reference in statement.references:
            if reference.writes:
                first.setdefault(reference.array, reference)
        for array, written in first.items():
            found.setdefault(array, []).append((position, statement.name, written))
    return found


def _shifts(written: Reference, read: Reference) -> dict[str, float] | None:
    """How far a reader's point lies from the writer's, by dimension."""
    if written.slopes != read.slopes:
        return None
    shifts: dict[str, float] = {}
    for row, target, source in zip(written.slopes, written.offsets, read.offsets, strict=True):
        if len(row) == 1:
            (dim, factor), *_ = row
            shifts[dim] = (source - target) / factor
        elif source != target:
            return None
    return shifts


def _widen(writer: Margins, reader: Margins, shifts: Mapping[str, float]) -> None:
    for dim in dict.fromkeys([*reader, *shifts]):
        before, behind = reader.get(dim, (0.0, 0.0))
        known, shift = writer.get(dim, (0.0, 0.0)), shifts.get(dim, 0.0)
        writer[dim] = (max(known[0], before - shift), max(known[1], behind + shift))


def overlap_points(nest: LoopNest, margins: Mapping[str, Margins], sizes: Mapping[str, float]) -> float:
    """Statement instances of a tile that its neighbours compute too."""
    return sum(_redundant(s, margins.get(s.name, {}), sizes) for s in nest.statements)


def _overlap_bytes(nest: LoopNest, margins: Mapping[str, Margins], sizes: Mapping[str, float]) -> float:
    return sum(
        _redundant(s, margins.get(s.name, {}), sizes) * sum(r.element_bytes for r in s.references if r.writes)
        for s in nest.statements
    )


def _redundant(statement: Statement, margins: Margins, sizes: Mapping[str, float]) -> float:
    wide = prod(sizes[dim.name] + sum(margins.get(dim.name, (0.0, 0.0))) for dim in statement.dims)
    return wide - prod(sizes[dim.name] for dim in statement.dims)


def _bytes(nest: LoopNest, sizes: Mapping[str, float], arrays: tuple[str, ...]) -> float:
    return sum(bytes_touched(c, sizes) for c in nest.classes if c.array in arrays)
