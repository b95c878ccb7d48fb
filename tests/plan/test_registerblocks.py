"""The register blocks, or the loops of a scheme, of plans of every kind, and what plans answer alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import polymat as pm
from polymat import Double, Options
from polymat.plan.epilogue import EpiloguePlan
from polymat.plan.kernel import KernelPlan
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import MergedPlan
from polymat.plan.registerblocks import kernel_of, own_kernel, scheme_of
from polymat.plan.schedule import Schedule
from polymat.plan.tile import Plan, TilePlan
from tests.fixed import compiled_levels
from tests.product.test_schemegroups import blurred

M, K, N = (pm.Parameter(pm.Int, name) for name in "MKN")
A, B, C = (pm.Matrix(Double, x, dims) for x, dims in (("A", [M, K]), ("B", [K, N]), ("C", [M, N])))
SIZES = {M: 300, K: 300, N: 300}
OWN = Options(blas="never")


def plan_of(output: Any, options: Options = OWN) -> Plan:
    """The one plan of an output."""
    schedule = compiled_levels(output.named("y"), options=options, estimates=SIZES)["tilesize"]
    assert isinstance(schedule, Schedule)
    (plan,) = schedule.plans
    return plan


KERNELS: dict[str, tuple[Callable[[], Any], type]] = {
    "alone": (lambda: A @ B, KernelPlan),
    "added": (lambda: pm.gemm(A, B, C, 2.0, 1.0), MergedPlan),
    "read": (lambda: pm.Exp(A @ B), EpiloguePlan),
}


@pytest.mark.parametrize("what", KERNELS)
def test_products_are_made_around_register_blocks(what: str) -> None:
    make, kind = KERNELS[what]
    plan = plan_of(make())
    kernel = kernel_of(plan)
    assert isinstance(plan, kind)
    assert isinstance(kernel, KernelPlan)
    assert own_kernel(plan) is kernel
    assert scheme_of(plan) is None
    assert {kernel.contraction.left.source, kernel.contraction.right.source} == {"A", "B"}


def test_a_scheme_is_found_where_it_is_all_of_a_plan_or_within() -> None:
    text = "[Par(i), R(k), R(i), R(j), V(j, 4)]"
    alone = plan_of(A @ B, Options(blas="never", scheme={"y": text}))
    fused = {"y": f"[fuse(tmp_A_B), {text[1:]}"}
    within = plan_of(pm.gemm(A, B, C, 2.0, 1.0), Options(blas="never", scheme=fused))
    assert isinstance(within, MergedPlan)
    for plan in (alone, within):
        found = scheme_of(plan)
        assert found is not None
        assert text[1:] in str(found.scheme)
        assert kernel_of(plan) is None


def test_loops_and_tiles_have_neither() -> None:
    loops = plan_of(C + C)
    assert isinstance(loops, LoopPlan)
    schedule = compiled_levels(blurred(), options=Options(inline=False, tile_sizes=(8, 64)))["tilesize"]
    assert isinstance(schedule, Schedule)
    (tiles,) = schedule.plans
    assert isinstance(tiles, TilePlan)
    for plan in (loops, tiles):
        assert [kernel_of(plan), own_kernel(plan), scheme_of(plan)] == [None] * 3
        assert (plan.kernels, plan.trailing, plan.library) == ((), None, "")
    assert tiles.part("across") is tiles.loops["across"]
    assert loops.part("y") is loops
