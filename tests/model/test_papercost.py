from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from polymat.lang.affine import Affine
from polymat.model.loopnest import Dim, LoopNest, Statement
from polymat.model.papercost import (
    Weights,
    busy_cores,
    existing_cost,
    extent_difference,
    overlap_margins,
    overlap_points,
    updated_cost,
)
from polymat.model.reference import Reference
from tests.model.nests import TINY, i, j, matmul

PLANE = (Dim("i", 1000), Dim("j", 1000))


def stage(name: str, *reads: Reference, dims: tuple[Dim, ...] = PLANE) -> Statement:
    own = tuple(Affine.name(dim.name) for dim in dims)
    return Statement(name, dims, (Reference(name, own, 4, reads=False, writes=True), *reads))


def blurs(radius: int = 1) -> LoopNest:
    """Two blurs along i: b from a, c from b."""
    first = stage("b", *(Reference("a", (i + s, j), 4) for s in (-radius, 0, radius)))
    second = stage("c", *(Reference("b", (i + s, j), 4) for s in (-radius, 0, radius)))
    return LoopNest(PLANE, (first, second), ("c",))


def biased_matmul() -> LoopNest:
    product = matmul()
    plane = product.dims[:2]
    bias = Statement(
        "out",
        plane,
        (Reference("out", (i, j), reads=False, writes=True), Reference("C", (i, j)), Reference("b", (j,))),
    )
    return LoopNest(product.dims, (*product.statements, bias), ("out",))


def test_a_full_last_round_of_tiles_is_the_largest_benefit() -> None:
    assert [busy_cores(n, 4) for n in (1, 2, 3, 4, 5, 8)] == [0, 1, 2, 3, 0, 3]
    even, odd = (updated_cost(matmul(n, 256, 256), TINY) for n in (2048, 2064))
    assert even.busy_cores == 3
    assert odd.busy_cores < 3


def test_margins_add_up_along_a_chain() -> None:
    third = stage("d", Reference("c", (i, j - 2), 4))
    nest = LoopNest(PLANE, (*blurs().statements, third), ("d",))
    assert overlap_margins(nest) == {
        "b": {"i": (1, 1), "j": (2, 0)},
        "c": {"i": (0, 0), "j": (2, 0)},
        "d": {},
    }


def test_overlap_of_a_tile() -> None:
    margins = overlap_margins(blurs())
    assert margins is not None
    assert overlap_points(blurs(), margins, {"i": 8, "j": 16}) == 2 * 16


def test_other_slopes_have_no_constant_dependence() -> None:
    transposed = LoopNest(PLANE, (stage("b"), stage("c", Reference("b", (j, i), 4))), ("c",))
    assert overlap_margins(transposed) is None
    for cost in (existing_cost, updated_cost):
        found = cost(transposed, TINY)
        assert found.value == inf
        assert found.explain() == "refused: a dependence is not constant, tiles cannot overlap"


def test_only_the_updated_cost_fuses_reductions() -> None:
    assert existing_cost(biased_matmul(), TINY).value == inf
    assert existing_cost(matmul(), TINY).value < inf
    found = updated_cost(biased_matmul(), TINY)
    assert found.value < inf
    assert found.relative_overlap == 0
    assert found.tiles is not None
    assert found.tiles.method == "Algorithm 3"
    assert found.tiles.inner == "j"


def test_the_terms_add_up() -> None:
    weights = Weights(data=2, parallelism=3, overlap=5, extents=7)
    found = updated_cost(blurs(), TINY, weights)
    expected = 2 * found.bytes_per_point - 3 * found.busy_cores + 5 * found.relative_overlap
    assert found.value == pytest.approx(expected + 7 * found.extent_difference)
    assert found.relative_overlap > 0
    assert "cost" in found.explain()


def test_overlap_beyond_the_tile_takes_the_second_cache() -> None:
    small = replace(TINY, l1_bytes=1 << 10)
    near, far = (updated_cost(blurs(r), small, inner_tile=32).tiles for r in (1, 400))
    assert near is not None
    assert far is not None
    assert (near.level, far.level) == ("L1", "L2")


def test_fusing_a_producer_saves_its_traffic() -> None:
    first, second = (LoopNest(PLANE, (s,), (s.name,)) for s in blurs().statements)
    apart = updated_cost(first, TINY).bytes_per_point + updated_cost(second, TINY).bytes_per_point
    assert updated_cost(blurs(), TINY).bytes_per_point < apart / 2


def test_extents_that_differ_cost() -> None:
    half = (Dim("i", 500), Dim("j", 1000))
    nest = LoopNest(PLANE, (stage("b"), stage("c", dims=half)), ("b", "c"))
    assert extent_difference(nest) == pytest.approx(250 / 750)
    assert extent_difference(blurs()) == 0


def test_nothing_to_tile() -> None:
    nest = LoopNest((), (stage("s", dims=()),), ("s",))
    assert existing_cost(nest, TINY).value == updated_cost(nest, TINY).value == inf
