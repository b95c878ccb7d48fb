"""The search for tiles of all levels, against all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from polymat.machine.model import Cache
from polymat.model.tiledlevels import Band, Kind, Sizes, TiledNest
from polymat.model.tilelevelsearch import Seconds, level_tiles, pieces, rank
from tests.model.nests import matmul

CACHES = (Cache(1, 2048, 4, 64, shared=False), Cache(2, 16384, 8, 64, shared=False))
A_BYTE = (1e-10, 5e-10)


def nothing(sizes: Sequence[Sizes], orders: Sequence[Sequence[Kind]]) -> Seconds:
    return np.zeros(max(map(len, sizes)))


def test_pieces_are_whole_units_from_one_to_all() -> None:
    assert pieces(24, 4) == [4, 8, 12, 24]
    assert pieces(7, 7) == [7]
    assert pieces(5, 8) == [5]
    assert pieces(72, 1) == [1, 2, 3, 5, 6, 9, 12, 18, 24, 36, 72]


def test_the_slowest_level_decides_and_then_the_next() -> None:
    assert rank((3.0, 1.0, 1.0)) < rank((3.1, 1.0, 1.0))
    assert rank((3.0, 1.0, 1.0)) < rank((3.0, 1.1, 1.0))
    assert rank((1.0, 3.0)) == rank((3.0, 1.0))


@pytest.mark.parametrize("extents", [(96, 96, 96), (24, 120, 48)], ids=str)
def test_tiles_are_nearly_the_best_of_all(extents: tuple[int, int, int]) -> None:
    nest = matmul(*extents)
    rows = {"C": ("i", "j", extents[1]), "A": ("i", "k", extents[2]), "B": ("k", "j", extents[1])}
    steps = {
        (g.array, g.slopes): {rows[g.array][0]: 8 * rows[g.array][2], rows[g.array][1]: 8}
        for g in nest.classes
    }
    copied = [frozenset(g.dims) for g in nest.classes if not g.writes]
    model = TiledNest.of(nest, steps, copied, {}, 64)
    choices = {dim: pieces(size, 4) for dim, size in nest.extents.items()}
    found = level_tiles(model, choices, CACHES, A_BYTE, nothing)[0]
    inside = np.array([[float(min(sizes)) for sizes in choices.values()]])
    for tiles, cache in zip(found.tiles, CACHES, strict=True):
        # A cache in which nothing better stays is passed by: its tile is the one inside.
        assert model.stays(tiles, cache)[0] or (tiles.sizes == inside).all()
        assert (tiles.sizes >= inside).all()
        inside = tiles.sizes
    every = model.tiles(np.array([*product(*choices.values())], dtype=float))
    held = [every.some(model.stays(every, cache)) for cache in CACHES]
    best = np.inf
    for order in product(model.orders(), repeat=2):
        for number in range(len(held[1].sizes)):
            outer = held[1].one(number)
            inner = held[0].some(np.flatnonzero((held[0].sizes <= outer.sizes).all(axis=1)))
            far = [Band(model.whole, order[1])]
            near = [Band(outer.sizes, order[0]), *far]
            seconds = A_BYTE[0] * model.bytes_into(model.moved(inner, near))
            last = float(A_BYTE[1] * model.bytes_into(model.moved(outer, far))[0])
            best = min(best, *(rank((float(first), last)) for first in seconds))
    assert rank(found.seconds) <= 1.1 * best
