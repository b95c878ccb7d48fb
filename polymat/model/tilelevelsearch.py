"""Tiles for every cache that make the slowest level of memory quickest, and then the next one.

Analytical cache modelling of tensor contractions, section 3.4: which arrays the innermost loops of each band
leave where they are is enumerated, and of the tiles of every cache those are taken whose time is least at the
level that takes longest, then at the next (equation 6).  Sizes are whole: pieces of the extents in units of a
register block, instead of the roots of a solver.  Caches are gone through from the largest to the smallest;
of each, some of the tiles are kept that are good enough there and leave the next one the most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from polymat.dataclass import dataclass
from polymat.machine.model import Cache
from polymat.model.tiledlevels import Band, Kind, Sizes, TiledNest, Tiles

MOST_TILES = 3000  # that are looked at
TRIED = 2  # tiles of a cache for each order around them
FILLED = 0.2  # of a cache that a tile takes, unless it is all there is
KEPT = 5  # tiles of a cache that others are tried in
NOT_HIDDEN = 0.5  # of a level's time by those that take longer

Seconds = npt.NDArray[np.float64]
Computing = Callable[[Sequence[Sizes], Sequence[Sequence[Kind]]], Seconds]
"""Seconds of the arithmetic with tiles of some caches, the nearest first and the whole nest last.

It takes their sizes and the orders of the bands around each.
"""


@dataclass(frozen=True, slots=True, eq=False)
class LevelTiles:
    """Tiles for all caches.

    tiles: one for each, the nearest cache first.  orders: of the loops around each of these, kinds of
    dimensions, innermost first.  seconds: that each level takes, the arithmetic first, then what fills the
    nearest cache.
    """

    tiles: tuple[Tiles, ...]
    orders: tuple[tuple[Kind, ...], ...]
    seconds: tuple[float, ...]


def level_tiles(
    nest: TiledNest,
    choices: Mapping[str, Sequence[int]],
    caches: Sequence[Cache],
    seconds_a_byte: Sequence[float],
    computing: Computing,
) -> list[LevelTiles]:
    """Some of the best tiles of a nest, the best first.

    choices: sizes by dimension, from that of a register block to the whole extent.  caches: nearest first.
    seconds_a_byte: out of what is behind each.  computing: seconds of the arithmetic.
    """
    every = nest.tiles(grid([choices[dim] for dim in nest.dims]))
    block = nest.tiles(np.array([[float(min(choices[dim])) for dim in nest.dims]]))
    states = [_State((), (), ())]
    for number, cache in enumerate(caches):
        tiles = _worth_it(nest, every, cache)
        found = [
            new
            for state in states
            for new in _around(nest, state, tiles, block, seconds_a_byte[: number + 1], computing)
        ]
        states = sorted(found, key=lambda state: rank(state.seconds))[:KEPT]
    return [LevelTiles(state.tiles, state.orders, state.seconds) for state in states]


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """Tiles of the nearest caches, the orders of the bands around them, and the seconds of the levels."""

    tiles: tuple[Tiles, ...]
    orders: tuple[tuple[Kind, ...], ...]
    seconds: tuple[float, ...]


def grid(choices: Sequence[Sequence[int]]) -> Sizes:
    """The tiles that are looked at: all combinations of sizes of every dimension, thinned out."""
    choices = [*choices]
    while np.prod([float(len(each)) for each in choices]) > MOST_TILES:
        longest = max(range(len(choices)), key=lambda number: len(choices[number]))
        choices[longest] = _thinned(choices[longest])
    return np.array([*product(*choices)], dtype=float)


def pieces(extent: int, unit: int) -> list[int]:
    """Sizes of nearly equal pieces in whole units: 1, 2, 3, 4, 6, 8, 12 pieces and so on."""
    sizes, number = [extent], 1
    while sizes[-1] > unit:
        number += max(1, number // 2) if number & (number - 1) == 0 else number // 3
        sizes.append(max(1, -(-extent // number // unit)) * unit)
    return sorted({min(size, extent) for size in sizes})


def _thinned(sizes: Sequence[int]) -> list[int]:
    """Every other size, with the least and the largest."""
    ordered = sorted(sizes)
    return [*ordered[:-1][::2], ordered[-1]]


def _worth_it(nest: TiledNest, tiles: Tiles, cache: Cache) -> Tiles:
    """The tiles that stay in a cache and do not leave most of it empty; the smallest where none stays."""
    stays = nest.stays(tiles, cache)
    if not stays.any():
        return tiles.one(int(np.argmin(tiles.sizes.prod(axis=1))))
    staying = tiles.some(stays)
    filled = sum(staying.touched) >= FILLED * cache.bytes
    filled |= (staying.sizes == nest.whole).all(axis=1)
    return staying.some(filled) if filled.any() else staying


def _around(
    nest: TiledNest,
    state: _State,
    tiles: Tiles,
    block: Tiles,
    seconds_a_byte: Sequence[float],
    computing: Computing,
) -> Iterator[_State]:
    """What the next larger cache may hold around the tiles of a state: some of its own, or the same again."""
    inner = state.tiles[-1] if state.tiles else block
    tiles = tiles.some(np.flatnonzero((tiles.sizes >= inner.sizes).all(axis=1))).beside(inner)
    held = [*state.tiles, tiles]
    sizes = [each.sizes for each in held]
    for order in nest.orders():
        orders = (*state.orders, order)
        levels = [np.broadcast_to(computing([*sizes, nest.whole], orders), len(tiles.sizes))]
        for number, a_byte in enumerate(seconds_a_byte):
            outer = [*sizes[number + 1 :], nest.whole]
            bands = [Band(*each) for each in zip(outer, orders[number:], strict=True)]
            moved = nest.moved(held[number], bands)
            levels.append(np.broadcast_to(nest.bytes_into(moved) * a_byte, len(tiles.sizes)))
            if number:  # a core has enough to do until lines of the second level come
                levels[0] = levels[0] + nest.waited_for(moved) * a_byte
        for at in _best(np.stack(levels)):
            yield _State((*state.tiles, tiles.one(at)), orders, tuple(float(each[at]) for each in levels))


def _best(levels: Seconds) -> Iterator[int]:
    """The tiles whose slowest level is quickest, then the next; levels: rows of seconds."""
    yield from (int(at) for at in np.argsort(weighed(levels), kind="stable")[:TRIED])


def weighed(levels: Seconds) -> Seconds:
    """One figure of the seconds of levels: all of the slowest, less of the next one, and so on.

    That of the slowest decides, and the next where the slowest are alike (equation 6).
    """
    slowest_first = -np.sort(-levels, axis=0)
    shares = NOT_HIDDEN ** np.arange(len(levels))
    return np.asarray(np.tensordot(shares, slowest_first, axes=1))


def rank(seconds: Sequence[float]) -> float:
    """How slow one way is that takes these seconds at its levels."""
    return float(weighed(np.array(seconds)))
