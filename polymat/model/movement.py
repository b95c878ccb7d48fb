"""Volumes that move between levels of memory while a tiled nest runs.

Analytical cache modelling of tensor contractions, section 3: from the innermost loop outwards, the footprint
DF of each array grows with the loops that move it; its data movement DM grows with them, and with the loops
that do not move it as soon as everything inside them overflows the cache.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

from polymat.dataclass import dataclass
from polymat.machine.model import Machine
from polymat.model.hierarchy import Level, hierarchy, register_bytes
from polymat.model.loopnest import LoopNest
from polymat.model.volumes import Copy, TiledLoop, volumes

Tiles: TypeAlias = Mapping[str, int]
Order: TypeAlias = Sequence[str]


@dataclass(frozen=True, slots=True)
class Traffic:
    """Data movement out of one level of memory towards the core.

    volumes: bytes by array, each array once.  bytes: with what is written back.  seconds: at the level's
    bandwidth.
    """

    level: str
    volumes: tuple[tuple[str, float], ...]
    bytes: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Movement:
    """The traffic of a tiled nest out of every level, nearest first, for all threads together.

    compute_seconds: at the peak rate.  seconds: of the slowest of them.
    """

    traffic: tuple[Traffic, ...]
    compute_seconds: float

    @property
    def bytes(self) -> dict[str, float]:
        """Bytes by level."""
        return {entry.level: entry.bytes for entry in self.traffic}

    @property
    def seconds(self) -> float:
        """Predicted time: the largest of the compute time and the times of the levels."""
        return max([self.compute_seconds, *(entry.seconds for entry in self.traffic)])

    @property
    def bottleneck(self) -> str:
        """The level that takes longest, or `compute`."""
        worst = max(self.traffic, key=lambda entry: entry.seconds, default=None)
        return worst.level if worst and worst.seconds > self.compute_seconds else "compute"

    @property
    def level_seconds(self) -> dict[str, float]:
        """Seconds by level."""
        return {entry.level: entry.seconds for entry in self.traffic}

    def __str__(self) -> str:
        """Bytes and seconds a level in words."""
        levels = ", ".join(f"{t.level} {t.bytes:.3g} bytes in {t.seconds:.3g} s" for t in self.traffic)
        return f"{levels}, compute {self.compute_seconds:.3g} s: limited by {self.bottleneck}"


def movement(
    nest: LoopNest,
    order: Order | Sequence[Order],
    tiles: Tiles | Sequence[Tiles],
    machine: Machine,
    *,
    threads: int = 1,
    scratch: Collection[str] = (),
) -> Movement:
    """Bytes that move out of every level of memory, and the time that they take.

    order: dimensions, outermost first, for all bands of loops, or one order a band, outermost band first.
    tiles: sizes for one level of tiles or for several, innermost first; a missing dimension is not tiled.
    scratch: intermediates of which only the innermost tile exists, in the same place for every tile.
    """
    return moving(nest, tuple(loops_of(nest, order, tiles)), machine, threads=threads, scratch=scratch)


def moving(
    nest: LoopNest,
    loops: Sequence[TiledLoop],
    machine: Machine,
    *,
    threads: int = 1,
    apart: int = 1,
    scratch: Collection[str] = (),
    copies: Sequence[Copy] = (),
) -> Movement:
    """Bytes that move out of every level while loops in any order run, innermost first.

    apart: threads that run through these loops, each of them through its own share of the nest.
    """
    levels = hierarchy(machine, threads)
    threads = max(1, min(threads, machine.cores))
    holders: list[float] = [register_bytes(machine), *(level.bytes for level in levels[:-1])]
    found = []
    for number, (holder, level) in enumerate(zip(holders, levels, strict=True)):
        line_bytes = machine.line_bytes if number else 0
        moved = volumes(nest, loops, holder, line_bytes, scratch, copies)
        moved = {array: volume * apart for array, volume in moved.items()}
        found.append(_traffic(nest, moved, level, threads, in_lines=number > 0))
    number = max((r.element_bytes // r.parts for r in nest.references()), default=8)
    return Movement(tuple(found), nest.flops / machine.peak_flops(number, threads))


def _traffic(
    nest: LoopNest, moved: Mapping[str, float], level: Level, threads: int, *, in_lines: bool
) -> Traffic:
    written = nest.written()
    # A store into a cache fetches the line first; one from a register does not.
    fetched = set(written) if in_lines else {r.array for r in nest.references() if r.reads}
    total = sum(
        volume * (2 if array in written and array in fetched else 1) for array, volume in moved.items()
    )
    return Traffic(level.name, tuple(moved.items()), total, total / level.bandwidth / threads)


def loops_of(
    nest: LoopNest, order: Order | Sequence[Order], tiles: Tiles | Sequence[Tiles]
) -> Iterator[TiledLoop]:
    """The loops of a tiled nest, innermost first."""
    levels = [tiles] if isinstance(tiles, Mapping) else list(tiles)
    orders = _orders(order, len(levels) + 1)
    inside: dict[str, float] = dict.fromkeys(nest.names, 1.0)
    extents = nest.extents
    for number in range(len(levels) + 1):
        for dim in reversed(orders[len(levels) - number]):
            size = extents[dim] if number == len(levels) else levels[number].get(dim, extents[dim])
            extent = float(max(inside[dim], min(extents[dim], size)))
            yield TiledLoop(dim, inside[dim], extent, number > 0)
            inside[dim] = extent


def _orders(order: Order | Sequence[Order], bands: int) -> list[tuple[str, ...]]:
    if all(isinstance(entry, str) for entry in order):
        return [tuple(str(entry) for entry in order)] * bands
    if len(order) != bands:
        raise ValueError(f"{bands} bands of loops need as many orders, got {len(order)}")
    return [tuple(entry) for entry in order]
