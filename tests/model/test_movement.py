from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations, product
from math import prod

import pytest

import polymat as pm
from polymat.model.associativity import CacheShape, lines_per_set, stays_resident
from polymat.model.describe import stage_nest
from polymat.model.loopnest import LoopNest, single
from polymat.model.movement import loops_of, movement
from polymat.model.reference import Reference
from polymat.model.volumes import volumes
from tests.idiom.recognise import K, M, k, pipeline, total, upto
from tests.idiom.recognise import i as i_
from tests.model.nests import TINY, i, j, matmul, tile_bytes

N = {"i": 32, "j": 64, "k": 128}
T = {"i": 4, "j": 8, "k": 16}

SIZES = {"M": 50, "K": 70}


def elements(
    nest: LoopNest, tile: Mapping[str, int], order: tuple[str, ...] = ("i", "j", "k")
) -> dict[str, float]:
    """Volumes in elements, with a cache that the tile just fills."""
    loops = tuple(loops_of(nest, order, tile))
    return {array: v / 8 for array, v in volumes(nest, loops, tile_bytes(nest, tile) + 1).items()}


@pytest.mark.parametrize("whole", list(product((False, True), repeat=3)), ids=str)
def test_the_band_of_the_outermost_loop_as_printed(whole: tuple[bool, bool, bool]) -> None:
    tile = {d: N[d] if full else T[d] for d, full in zip(N, whole, strict=True)}
    (Ni, Nj, Nk), (Ti, Tj, Tk) = N.values(), tile.values()
    _, wj, wk = whole
    a = Ni * Tk if wk else Ni * Nk * Nj / Tj
    b = (Tj if wj else Nj) * (Tk if wk else Nk) * (1 if wj and wk else Ni / Ti)
    assert elements(matmul(Ni, Nj, Nk), tile) == {"C": Ni * Nj, "A": a, "B": b}


@pytest.mark.parametrize(
    ("outer", "whole_k", "expected"),
    [
        ("j", False, {"A": 4 * 128 * 8, "B": 64 * 128, "C": 4 * 64}),
        ("j", True, {"A": 4 * 128, "B": 64 * 128, "C": 4 * 64}),
        ("k", False, {"A": 4 * 128, "B": 8 * 128, "C": 4 * 8}),
    ],
)
def test_the_inner_bands(outer: str, whole_k: bool, expected: dict[str, int]) -> None:
    """The printed row of k2 has T_i1 x Nk for B where its T_j1 x Nk is meant."""
    tile = {**T, "k": 128} if whole_k else T
    nest = matmul(4, 64 if outer == "j" else 8, 128)
    full = matmul(32, 64, 128)
    loops = tuple(loops_of(nest, ("i", "j", "k"), tile))
    moved = volumes(nest, loops, tile_bytes(full, tile) + 1)
    assert {array: v / 8 for array, v in moved.items()} == expected


def test_only_the_innermost_tile_loop_matters() -> None:
    nest = matmul(*N.values())
    by_innermost: dict[str, set[tuple[float, ...]]] = {}
    for order in permutations("ijk"):
        loops = tuple(loops_of(nest, [order, ("i", "j", "k")], T))
        moved = volumes(nest, loops, tile_bytes(nest, T) + 1)
        by_innermost.setdefault(order[-1], set()).add(tuple(moved.values()))
    assert all(len(found) == 1 for found in by_innermost.values())
    assert len(set.union(*by_innermost.values())) == 3


def test_two_levels_of_tiles() -> None:
    nest = matmul(256, 256, 256)
    inner, outer = {"i": 8, "j": 8, "k": 8}, {"i": 64, "j": 64, "k": 64}
    loops = tuple(loops_of(nest, ("i", "j", "k"), (inner, outer)))
    assert prod(loop.range for loop in loops) == 256**3
    near = volumes(nest, loops, tile_bytes(nest, inner) + 1)
    far = volumes(nest, loops, tile_bytes(nest, outer) + 1)
    assert near["A"] == near["B"] == 256**3 / 8 * 8
    assert far["A"] == far["B"] == 256**3 / 64 * 8
    assert sum(far.values()) < sum(near.values())


def test_partial_tiles_are_not_counted_whole() -> None:
    nest = matmul(100, 100, 100)
    moved = volumes(nest, tuple(loops_of(nest, ("i", "j", "k"), {"i": 99})), 1e9)
    assert moved == {"C": 8e4, "A": 8e4, "B": 8e4}


def test_a_stencil_keeps_its_neighbours_if_rows_fit() -> None:
    points = [Reference("a", (i + c, j)) for c in (-1, 0, 1)]
    nest = single({"i": 1000, "j": 1000}, [*points, Reference("b", (i, j), reads=False, writes=True)])
    loops = tuple(loops_of(nest, ("i", "j"), ()))
    fits, streams = volumes(nest, loops, 1 << 16), volumes(nest, loops, 1 << 10)
    assert fits["a"] == 8 * 1002 * 1000
    assert streams["a"] == 8 * 3 * 1000 * 1000


def test_columns_move_whole_lines() -> None:
    nest = single({"i": 1024, "j": 1024}, [Reference("a", (i, j))])
    loops = tuple(loops_of(nest, ("j", "i"), ()))
    assert volumes(nest, loops, 1 << 10, 64)["a"] == pytest.approx(64 * 1024 * 1024)
    assert volumes(nest, tuple(loops_of(nest, ("i", "j"), ())), 1 << 10, 64)["a"] < 1.01 * 8 * 1024 * 1024


def test_scratch_stays_in_the_cache() -> None:
    nest = single(
        {"i": 1024, "j": 1024},
        [Reference("a", (i, j)), Reference("t", (i, j), writes=True), Reference("b", (i, j), writes=True)],
    )
    tile = {"i": 16, "j": 64}
    full = movement(nest, ("i", "j"), tile, TINY)
    kept = movement(nest, ("i", "j"), tile, TINY, scratch=("t",))
    memory = dict(kept.traffic[-1].volumes)
    assert memory["t"] < 2 * 16 * 64 * 8
    assert kept.bytes["memory"] < 0.65 * full.bytes["memory"]
    assert kept.bytes["L1"] == full.bytes["L1"]


def test_prediction_names_its_bottleneck() -> None:
    nest = matmul()
    untiled = movement(nest, ("i", "j", "k"), (), TINY)
    tiled = movement(nest, ("i", "k", "j"), [{"i": 4, "j": 64, "k": 32}, {"i": 64, "j": 128, "k": 64}], TINY)
    assert list(untiled.bytes) == ["L1", "L2", "L3", "memory"]
    assert untiled.bottleneck == "L2"  # a column of B moves whole lines
    assert tiled.seconds < untiled.seconds
    assert tiled.compute_seconds == 2 * 2000 * 2300 * 2600 / TINY.peak_flops(8)
    assert "limited by L2" in str(untiled)


def test_complex_numbers_are_computed_as_real_ones() -> None:
    """Their peak is that of their parts; a product and a sum of them are eight operations, and counted so."""
    real, complex_ = (
        stage_nest(pipeline(total("F", [(i_, upto(M))], [(k, upto(K))], a * b, dtype=dtype)).stages[0], SIZES)
        for dtype, a, b in (
            (pm.Double, pm.Matrix(pm.Double, "A", [M, K])(i_, k), pm.Vector(pm.Double, "x", [K])(k)),
            (pm.Complex, pm.Matrix(pm.Complex, "A", [M, K])(i_, k), pm.Vector(pm.Complex, "x", [K])(k)),
        )
    )
    one, other = (movement(nest, ("i", "k"), {}, TINY).compute_seconds for nest in (real, complex_))
    assert one == pytest.approx(2 * 50 * 70 / TINY.peak_flops(8))
    assert other == pytest.approx(8 * 50 * 70 / TINY.peak_flops(8))
    assert TINY.peak_flops(16) < TINY.peak_flops(8)


def test_threads_share_the_work() -> None:
    nest = matmul(512, 512, 512)
    one, two = (movement(nest, ("i", "k", "j"), {"i": 8, "j": 64, "k": 32}, TINY, threads=t) for t in (1, 2))
    assert two.compute_seconds == one.compute_seconds / 2
    assert two.seconds <= one.seconds
    beyond = movement(nest, ("i", "k", "j"), (), TINY, threads=64)
    assert beyond.compute_seconds == one.compute_seconds / TINY.cores


def test_orders_must_match_the_bands() -> None:
    with pytest.raises(ValueError, match="2 bands of loops need as many orders, got 3"):
        tuple(loops_of(matmul(), [("i", "j", "k")] * 3, T))


def test_lines_of_a_set_associative_cache() -> None:
    cache = CacheShape.of(32 << 10, ways=8, line_bytes=64)
    assert cache.sets == 64
    tiles = {"A": 4097, "B": 3 * 4096, "C": 8}
    assert lines_per_set(tiles, cache) == {"A": 2, "B": 3, "C": 1}
    assert stays_resident(tiles, cache)
    assert not stays_resident({**tiles, "D": 2 * 4096 + 1}, cache)
