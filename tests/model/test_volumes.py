"""The data-movement model against a simulated fully associative cache."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from itertools import product

import pytest

from polymat.lang.affine import Affine
from polymat.model.loopnest import LoopNest, single
from polymat.model.movement import loops_of
from polymat.model.reference import Reference
from polymat.model.volumes import volumes
from tests.model.caches import misses
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


def accesses(nest: LoopNest, order: str, tile: Mapping[str, int]) -> Iterator[tuple[str, Hashable]]:
    for point in points(nest, order, tile):
        for reference in nest.references():
            yield reference.array, tuple(form.evaluate(point) for form in reference.indices)


@pytest.mark.parametrize("order", ["ijk", "ikj", "kij"])
@pytest.mark.parametrize("sizes", [(4, 4, 4), (6, 3, 12), (12, 3, 4)], ids=str)
def test_volumes_equal_the_misses_of_a_simulated_cache(order: str, sizes: tuple[int, int, int]) -> None:
    nest, tile = matmul(12, 12, 12), dict(zip("ijk", sizes, strict=True))
    capacity = tile_bytes(nest, tile) * ROOM
    moved = volumes(nest, tuple(loops_of(nest, order, tile)), capacity)
    assert {array: v / 8 for array, v in moved.items()} == misses(
        accesses(nest, order, tile), int(capacity / 8)
    )


@pytest.mark.parametrize("order", ["kjli", "jkil", "likj"])
def test_what_several_loops_outside_a_tile_do_not_move_stays(order: str) -> None:
    l, i, k, j = (Affine.name(name) for name in "likj")  # noqa: E741
    references = (
        Reference("C", (l, i, j), 8, writes=True),
        Reference("A", (l, i, k), 8),
        Reference("B", (k, j), 8),
    )
    nest = single(dict(zip("likj", (6, 6, 8, 6), strict=True)), references, sequential=("k",), flops=2)
    tile = dict(zip("likj", (2, 2, 4, 3), strict=True))
    capacity = tile_bytes(nest, tile) * ROOM
    moved = volumes(nest, tuple(loops_of(nest, order, tile)), capacity)
    counted = misses(accesses(nest, order, tile), int(capacity / 8))
    assert {array: v / 8 for array, v in moved.items()} == counted
