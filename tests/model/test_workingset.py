from __future__ import annotations

from itertools import product

import pytest

from polymat.model.hierarchy import hierarchy
from polymat.model.loopnest import LoopNest, single
from polymat.model.polynomial import Polynomial
from polymat.model.reference import Reference
from polymat.model.workingset import held_reuses, rank, sort_by_level, tile_nest, variant_cost, working_sets
from tests.model.nests import TINY, i, is_parallel, j, matmul

N, K = Polynomial.name("j"), Polynomial.name("k")


def test_reuse_of_a_along_j_as_printed() -> None:
    (found,) = [w for w in working_sets(matmul(), in_bytes=False) if w.array == "A"]
    assert (found.loop, found.least, found.most) == ("j", K * 2 + 3, N * K + N + 1)


def counted(nest: LoopNest, source: tuple[int, ...], target: tuple[int, ...]) -> int:
    points = [p for p in product(*(range(d.extent) for d in nest.dims)) if source <= p <= target]
    names = nest.names
    return len(
        {
            (r.array, *(form.evaluate(dict(zip(names, p, strict=True))) for form in r.indices))
            for r in nest.references()
            for p in points
        }
    )


@pytest.mark.parametrize("loop", [0, 1, 2])
def test_working_sets_equal_counted_elements(loop: int) -> None:
    nest = matmul(3, 4, 5)
    found = next(w for w in working_sets(nest, in_bytes=False) if w.loop == nest.names[loop])
    unit = [0, 0, 0]
    unit[loop] = 1
    last = tuple(u * (d.extent - 1) for u, d in zip(unit, nest.dims, strict=True))
    assert found.least.evaluate(nest.extents) == counted(nest, (0, 0, 0), tuple(unit))
    assert found.most.evaluate(nest.extents) == counted(nest, (0, 0, 0), last)


def test_a_stencil_is_reused_a_row_later() -> None:
    nest = single({"i": 6, "j": 7}, [Reference("a", (i + 1, j)), Reference("a", (i, j))])
    (found,) = working_sets(nest, in_bytes=False)
    assert found.loop == "i"
    assert found.least.evaluate(nest.extents) == counted(nest, (0, 0), (1, 0)) == 15


def test_a_parallel_loop_needs_all_that_it_touches() -> None:
    (found,) = [w for w in working_sets(matmul(3, 4, 5), parallel=("j",), in_bytes=False) if w.loop == "j"]
    assert found.least == found.most == N * K + N + K


def test_reuses_are_served_by_the_level_that_holds_them() -> None:
    nest = matmul(30, 40, 50)
    found = {(each.array, each.loop): each for each in held_reuses(nest, TINY)}
    assert [*found] == [("C", "k"), ("A", "j"), ("B", "i")]
    for each in working_sets(nest):
        held = found[each.array, each.loop]
        assert held.least == each.least.evaluate(nest.extents)
        assert held.most == each.most.evaluate(nest.extents)
    small = next(level.bytes for level in hierarchy(TINY) if level.name == "L1")
    for held in found.values():
        assert (held.nearest == "L1") is (held.least <= small)
        assert (held.furthest == "L1") is (held.most <= small)


def test_of_several_distances_the_first_and_the_last_count() -> None:
    nest = single({"i": 6, "j": 7}, [Reference("a", (i + each, j)) for each in (3, 1, 0)])
    (held,) = held_reuses(nest, TINY)
    sizes = [end.evaluate(nest.extents) for found in working_sets(nest) for end in (found.least, found.most)]
    assert len(sizes) > 2
    assert (held.least, held.most) == (min(sizes), max(sizes))


def test_bytes_follow_the_element_size() -> None:
    single_precision = working_sets(matmul(element_bytes=4))
    assert [w.least for w in single_precision] == [
        w.least * 4 for w in working_sets(matmul(), in_bytes=False)
    ]


def test_each_working_set_goes_to_the_nearest_cache_that_holds_it() -> None:
    levels = hierarchy(TINY)
    sizes = [1 << 10, 30 << 10, 40 << 10, 1 << 20, 1 << 30]
    assert sort_by_level(sizes, levels) == {"L1": 31 << 10, "L2": 40 << 10, "L3": 1 << 20, "memory": 1 << 30}
    crowded = sort_by_level([20 << 10, 30 << 10], levels, cumulative=True)
    assert crowded == {"L1": 20 << 10, "L2": 30 << 10, "L3": 0, "memory": 0}


def test_cost_is_working_set_times_latency_over_bandwidth() -> None:
    nest = single({"i": 10}, [Reference("s", (), writes=True), Reference("a", (i,))], sequential=["i"])
    level = hierarchy(TINY)[0]
    # Until the next iteration s and two elements of a, until the last one s and all ten.
    assert variant_cost(nest, TINY) == pytest.approx((3 + 11) * 8 * level.latency / level.bandwidth)


def test_tiles_that_fit_a_nearer_cache_rank_higher() -> None:
    nest = matmul(1024, 1024, 1024)
    variants = {size: tile_nest(nest, dict.fromkeys("ijk", size)) for size in (256, 16, 64)}
    assert variants[16].names == ("i.tile", "j.tile", "k.tile", "i", "j", "k")
    assert rank(list(variants), lambda size: variant_cost(variants[size], TINY)) == (16, 64, 256)


def test_equal_variants_keep_their_order() -> None:
    assert rank("bca", lambda _: 0.0) == ("b", "c", "a")


def test_tiling_keeps_points_and_elements() -> None:
    nest = matmul(10, 33, 7)
    tiled = tile_nest(nest, {"i": 4, "j": 8, "k": 7})
    assert tiled.extents == {"i.tile": 3, "j.tile": 5, "i": 4, "j": 8, "k": 7}
    assert tiled.points == pytest.approx(nest.points)
    assert not is_parallel(tiled, "k")
    assert is_parallel(tiled, "i.tile")
