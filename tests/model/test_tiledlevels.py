"""Data movement of tiles for every cache, against Table 1 of the paper and loops counted one by one."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from random import Random

import numpy as np
import pytest

from polymat.lang.affine import Affine
from polymat.machine.model import Cache
from polymat.model.loopnest import LoopNest, single
from polymat.model.reference import Reference
from polymat.model.tiledlevels import Band, Sizes, TiledNest
from polymat.model.volumes import TiledLoop, volumes
from tests.model.nests import matmul, tile_bytes

N = {"i": 24, "j": 36, "k": 48}


def tiled(nest: LoopNest, copied: bool = True) -> TiledNest:
    groups = [group for group in nest.classes if not group.writes]
    steps = {(group.array, group.slopes): dict.fromkeys(group.dims, 8) for group in nest.classes}
    copies = [frozenset(group.dims) for group in groups] if copied else []
    return TiledNest.of(nest, steps, copies, {}, 8)


def row(nest: LoopNest, sizes: Mapping[str, int]) -> Sizes:
    return np.array([[float(sizes[dim]) for dim in nest.names]])


@pytest.mark.parametrize("whole", [*product((False, True), repeat=3)], ids=str)
def test_every_combination_of_extents_of_table_1(whole: tuple[bool, bool, bool]) -> None:
    nest = matmul(*N.values())
    tile = {dim: N[dim] if is_whole else N[dim] // 4 for dim, is_whole in zip("ijk", whole, strict=True)}
    model = tiled(nest)
    # Loops i, j, k over tiles, k innermost, as in listing 2.
    bands = [Band(model.whole, (("k",), ("j",), ("i",)))]
    moved = dict(zip("CAB", model.moved(model.tiles(row(nest, tile)), bands), strict=True))
    again = {dim: N[dim] // tile[dim] for dim in "ijk"}
    # An operand stays where the loops inside the one that does not move it run once.
    a = 1 if again["k"] == 1 else again["j"]
    b = 1 if again["k"] == again["j"] == 1 else again["i"]
    assert moved["A"] == 8 * N["i"] * N["k"] * a
    assert moved["B"] == 8 * N["k"] * N["j"] * b
    assert moved["C"] == 8 * N["i"] * N["j"]


def convolution() -> LoopNest:
    h, r, c, k = (Affine.name(name) for name in "hrck")
    references = (
        Reference("O", (h, k), 8, writes=True),
        Reference("I", (h + r, c), 8),
        Reference("P", (r, c, k), 8),
    )
    return single({"h": 24, "k": 12, "r": 3, "c": 16}, references, sequential=("r", "c"), flops=2)


@pytest.mark.parametrize("nest", [matmul(24, 36, 48), convolution()], ids=["product", "convolution"])
def test_two_levels_of_tiles_move_what_their_loops_move(nest: LoopNest, seed: int) -> None:
    rng, model = Random(seed), tiled(nest, copied=False)
    for _ in range(30):
        large = {
            dim: rng.choice([d for d in range(1, n + 1) if n % d == 0]) for dim, n in nest.extents.items()
        }
        small = {dim: rng.choice([d for d in range(1, n + 1) if n % d == 0]) for dim, n in large.items()}
        orders = [(kind, *(o for o in model.kinds if o != kind)) for kind in rng.choices(model.kinds, k=2)]
        bands = [Band(row(nest, large), orders[0]), Band(model.whole, orders[1])]
        moved = model.moved(model.tiles(row(nest, small)), bands)
        loops = [TiledLoop(dim, 1.0, float(size)) for dim, size in small.items()]
        for inner, outer, order in zip((small, large), (large, nest.extents), orders, strict=True):
            dims = [dim for kind in order for dim in reversed(kind)]
            loops += [TiledLoop(dim, float(inner[dim]), float(outer[dim])) for dim in dims]
        counted = volumes(nest, loops, tile_bytes(nest, small) + 1)
        for operand, volume in zip(model.operands, moved, strict=True):
            # Of windows listing 3 shares what loops beyond the innermost one leave as well.
            exact = volume[0] == pytest.approx(counted[operand.group.array], rel=1e-9)
            assert exact or (operand.is_window and volume[0] > counted[operand.group.array])


def test_rows_a_way_apart_share_a_set() -> None:
    cache = Cache(1, 32 << 10, 8, 64, shared=False)
    nest = matmul(64, 64, 64)
    sizes = row(nest, {"i": 16, "j": 1, "k": 8})
    for apart, stays in ((4096 + 64, True), (4096, False)):
        steps = {
            (group.array, group.slopes): {dim: apart if dim == "i" else 8 for dim in group.dims}
            for group in nest.classes
        }
        model = TiledNest.of(nest, steps, [], {}, 64)
        assert model.stays(model.tiles(sizes), cache)[0] == stays
