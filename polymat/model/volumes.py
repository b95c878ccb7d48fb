"""How much of every array moves into a cache while loops run, counted from the innermost loop outwards.

Analytical cache modelling of tensor contractions, section 3.1 (its listing 3): the footprint DF of an array
grows with the loops that move it; its data movement DM grows with them, and with the loops that do not move
it as soon as everything inside them overflows the cache.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.model.footprint import bytes_touched
from polymat.model.loopnest import LoopNest
from polymat.model.uniform import UniformClass


@dataclass(frozen=True, slots=True)
class TiledLoop:
    """One loop of a tiled nest.

    inside, extent: iterations of the dimension inside and with this loop.  over_tiles: outside a tile.
    """

    dim: str
    inside: float
    extent: float
    over_tiles: bool = False

    @property
    def range(self) -> float:
        """How often its body runs."""
        return self.extent / self.inside


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of what some loops use of an array, in the order in which they use it.

    dims: that move its elements.  inside: how many loops are inside of it.
    """

    array: str
    dims: frozenset[str]
    inside: int


def volumes(
    nest: LoopNest,
    loops: Sequence[TiledLoop],
    capacity_bytes: float,
    line_bytes: int = 0,
    scratch: Collection[str] = (),
    copies: Sequence[Copy] = (),
) -> dict[str, float]:
    """Bytes by array that move into a fully associative cache; loops come innermost first.

    With a line size, whole lines move.  A scratch array stays in the cache from tile to tile if a tile fits.
    A copied array moves when it is copied, and its copy, `A packed`, where loops further in use it.
    """
    parts = [part for group in nest.classes for part in _parts(nest, group, line_bytes, scratch, copies)]
    sizes: dict[str, float] = dict.fromkeys(nest.names, 1.0)
    for part in parts:
        part.begin(sizes)
    for position, loop in enumerate(loops):
        if loop.range == 1:
            continue
        fits = sum(part.footprint for part in parts if position >= part.begins) < capacity_bytes
        sizes[loop.dim] = loop.extent
        for part in parts:
            part.within(loop, position, sizes, fits=fits)
    total: dict[str, float] = {}
    for part in parts:
        total[part.name] = total.get(part.name, 0.0) + part.moved + part.copied(capacity_bytes)
    return total


@dataclass(slots=True, eq=False)
class _Part:
    """What is known of some references while loops are put around them, innermost first.

    runs: the dimensions along which the statements run that have them.  begins: loops inside of the first
    use.  ends: loops inside which they grow, and outside of which they are in the same place; None: all.
    in_tile: whether they are in the same place for all tiles.  footprint, moved: bytes.  stays: whether only
    loops that do not move them were added since everything inside did fit.  held: the same of a tile, of what
    is in the same place for all.  often: how often a copy is made.
    """

    name: str
    group: UniformClass
    runs: frozenset[str]
    line_bytes: int
    begins: int = 0
    ends: int | None = None
    in_tile: bool = False
    footprint: float = 0.0
    moved: float = 0.0
    stays: bool = False
    held: bool | None = None
    often: float = 1.0

    def begin(self, sizes: Mapping[str, float]) -> None:
        """Count one iteration of all loops."""
        self.footprint = self.moved = bytes_touched(self.group, sizes, self.line_bytes)

    def within(self, loop: TiledLoop, position: int, sizes: Mapping[str, float], *, fits: bool) -> None:
        """Put a loop around them; sizes: with it.  fits: whether the cache holds what is inside."""
        if position < self.begins:
            self.begin(sizes)
        elif self._in_place(loop, position):
            self.held = fits if self.held is None else self.held
            self.often *= loop.range
            near = self.held or (self.stays and self.ends is not None)
            self.moved *= 1.0 if near or loop.dim not in self.runs else loop.range
        elif loop.dim in self.group.dims:
            grown = bytes_touched(self.group, sizes, self.line_bytes)
            self.moved *= grown / self.footprint if fits or self.stays else loop.range
            self.footprint, self.stays = grown, False
        else:
            self.stays = self.stays or fits
            self.moved *= 1.0 if self.stays or loop.dim not in self.runs else loop.range

    def copied(self, capacity_bytes: float) -> float:
        """Bytes of all copies that are made, where a cache does not hold one until the next is made."""
        if self.ends is None:
            return 0.0
        held = self.footprint < capacity_bytes if self.held is None else self.held
        kept = 1.0 if self.stays else 0.0  # the one that is there when the loops begin anew
        return 0.0 if held else self.footprint * (self.often - kept)

    def _in_place(self, loop: TiledLoop, position: int) -> bool:
        return (self.in_tile and loop.over_tiles) or (self.ends is not None and position >= self.ends)


def _parts(
    nest: LoopNest,
    group: UniformClass,
    line_bytes: int,
    scratch: Collection[str],
    copies: Sequence[Copy],
) -> Iterator[_Part]:
    """The references of a class, of which a copy is made there may be two kinds."""
    runs = _statement_dims(nest, group)
    copy = next((each for each in copies if each.array == group.array and each.dims == {*group.dims}), None)
    if copy is None or group.writes:
        yield _Part(group.array, group, runs, line_bytes, in_tile=group.array in scratch)
        return
    yield _Part(group.array, group, runs, line_bytes, begins=copy.inside)
    yield _Part(f"{group.array} packed", _in_order(group), runs, 0, ends=copy.inside)


def _in_order(group: UniformClass) -> UniformClass:
    """A copy of the elements of a class, one for each point."""
    return replace(
        group, slopes=tuple(((dim, 1.0),) for dim in group.dims), offsets=((0.0,) * len(group.dims),)
    )


def _statement_dims(nest: LoopNest, group: UniformClass) -> frozenset[str]:
    """The dimensions along which the statements run that have a reference of the class."""
    return frozenset(
        dim.name
        for statement in nest.statements
        if any(r.array == group.array for r in statement.references)
        for dim in statement.dims
    )
