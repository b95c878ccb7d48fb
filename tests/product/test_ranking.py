"""Blocks for the caches by the ranking of working sets: what is tried, what is first, what it computes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.machine.known import GENERIC, ZEN3
from polymat.machine.model import Machine
from polymat.product.blocks import blocks_of
from polymat.product.cutting import cut_of
from polymat.product.ranking import ranked, variants
from tests.hosts import CompileFor
from tests.tolerance import assert_close

SMALL_CACHES = replace(GENERIC, l1_bytes=1 << 13, l2_bytes=1 << 15, l3_bytes=1 << 17)
M, N, K = (pm.Parameter(pm.Int, name) for name in "MNK")


@pytest.mark.parametrize("machine", [GENERIC, ZEN3, SMALL_CACHES], ids=["generic", "zen3", "small"])
def test_variants_are_whole_register_blocks_and_fit_where_the_usual_ones_do(machine: Machine) -> None:
    usual = blocks_of(machine, 8)
    found = variants(usual)
    assert found[0] == usual
    assert len(set(found)) == len(found) > 1
    for each in found:
        assert each.mc % each.rows == 0 < each.mc
        assert each.nc % each.columns == 0 < each.nc
        assert each.kc * each.mc <= max(usual.kc * usual.mc, each.kc * each.rows)
        assert each.kc * each.nc <= max(usual.kc * usual.nc, each.kc * each.columns)


@pytest.mark.parametrize("shape", [(0, 1, 1), (1, 1, 1), (7, 5, 3), (97, 101, 4001), (4096, 32, 2048)])
def test_no_variant_costs_less_than_the_first(shape: tuple[int, int, int]) -> None:
    order = ranked(blocks_of(ZEN3, 8), *shape, 8, ZEN3)
    costs = [cost for _, cost in order]
    assert costs == sorted(costs)
    assert len({cut_of(blocks, *shape) for blocks, _ in order}) == len(order)


def test_the_choice_depends_on_the_caches() -> None:
    usual = blocks_of(ZEN3, 8)
    roomy = replace(ZEN3, l1_bytes=1 << 28, l2_bytes=1 << 29, l3_bytes=1 << 30)
    (small, _), *_ = ranked(usual, 2000, 2000, 2000, 8, ZEN3)
    (large, cost), *_ = ranked(usual, 2000, 2000, 2000, 8, roomy)
    assert cost < ranked(usual, 2000, 2000, 2000, 8, ZEN3)[0][1]
    assert small != large


def compiled(compile_for: CompileFor, **options: Any) -> pm.Compiled:
    """The product for a machine of small caches, estimated so large that blocks matter."""
    compile_for(SMALL_CACHES)
    A, B = pm.Matrix(pm.Double, "A", [M, K]), pm.Matrix(pm.Double, "B", [K, N])
    estimates = {M: 600, N: 500, K: 400}
    settings = pm.Options(blas="never", cflags=("-O1",), **options)
    return pm.compile((A @ B).named("C"), inputs=[A, B], estimates=estimates, options=settings)


def test_the_policy_chooses_other_blocks_and_the_same_numbers(compile_for: CompileFor) -> None:
    usual = compiled(compile_for)
    other = compiled(compile_for, blocks="working-sets")
    assert "by working sets" not in usual.explain().groups[0].reason
    assert "by working sets" in other.explain().groups[0].reason
    assert usual.source != other.source
    rng = np.random.default_rng(3)
    for m, n, k in [(0, 3, 2), (3, 2, 0), (1, 1, 1), (7, 23, 5), (61, 97, 103), (129, 131, 257)]:
        a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
        bound = np.abs(a) @ np.abs(b)
        assert_close(other(a, b), a @ b, roundings=2 * k + 4, magnitude=bound)


def test_an_unknown_policy_is_refused() -> None:
    A, B = pm.Matrix(pm.Double, "A", [M, K]), pm.Matrix(pm.Double, "B", [K, N])
    unknown: Any = "random"
    with pytest.raises(
        pm.LangError, match=r"Options\.blocks is 'random', not one of 'shares', 'working-sets', 'model'"
    ):
        pm.compile(A @ B, inputs=[A, B], options=pm.Options(blocks=unknown))
