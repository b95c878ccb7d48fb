"""The data-movement model against a simulated fully associative cache."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from itertools import product

import pytest

from polymat.model.loopnest import LoopNest
from polymat.model.movement import loops_of, volumes
from tests.model.nests import matmul, tile_bytes

# Least-recently-used replacement keeps what the next tile reuses only while the tile leaves it some room.
ROOM = 1.5


def points(nest: LoopNest, order: str, tile: Mapping[str, int]) -> Iterator[dict[str, int]]:
    extents = nest.extents
    for origin in product(*(range(0, extents[dim], tile[dim]) for dim in order)):
        sides = [
            range(low, min(extents[dim], low + tile[dim])) for dim, low in zip(order, origin, strict=True)
        ]
        for point in product(*sides):
            yield dict(zip(order, point, strict=True))


def misses(nest: LoopNest, order: str, tile: Mapping[str, int], capacity: int) -> dict[str, int]:
    counts = dict.fromkeys((r.array for r in nest.references()), 0)
    cache: OrderedDict[tuple[object, ...], None] = OrderedDict()
    for point in points(nest, order, tile):
        for reference in nest.references():
            key = (reference.array, *(form.evaluate(point) for form in reference.indices))
            if key in cache:
                cache.move_to_end(key)
                continue
            counts[reference.array] += 1
            cache[key] = None
            if len(cache) > capacity:
                cache.popitem(last=False)
    return counts


@pytest.mark.parametrize("order", ["ijk", "ikj", "kij"])
@pytest.mark.parametrize("sizes", [(4, 4, 4), (6, 3, 12), (12, 3, 4)], ids=str)
def test_volumes_equal_the_misses_of_a_simulated_cache(order: str, sizes: tuple[int, int, int]) -> None:
    nest, tile = matmul(12, 12, 12), dict(zip("ijk", sizes, strict=True))
    capacity = tile_bytes(nest, tile) * ROOM
    moved = volumes(nest, tuple(loops_of(nest, order, tile)), capacity)
    assert {array: v / 8 for array, v in moved.items()} == misses(nest, order, tile, int(capacity / 8))
