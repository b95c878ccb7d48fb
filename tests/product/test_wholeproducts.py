"""The price of a whole product of two matrices is that of the plan of one, on every number of threads."""

from __future__ import annotations

from dataclasses import replace

import pytest

import polymat as pm
from polymat.graph.group import Group
from polymat.machine.calibrate import Rate
from polymat.machine.known import HASWELL, ZEN4
from polymat.machine.model import Machine
from polymat.machine.producttimes import ProductTimes
from polymat.plan.kernel import KernelPlan
from polymat.product.blocks import blocks_of, modelled_block
from polymat.product.wholeproducts import measured_ratios, product_operations
from polymat.tilesize.kernelplanner import kernel_operations, plan_kernel
from tests.idiom.recognise import pipeline
from tests.machine.test_model import MEASURED

M, K, N = (pm.Parameter(pm.Int, name) for name in "MKN")
SHAPES = (
    (1, 40, 40),
    (17, 17, 17),
    (64, 256, 800),
    (800, 64, 256),
    (1000, 1000, 1000),
    (24, 1000, 96),
    (513, 511, 7),
)


def plan(machine: Machine, sizes: dict[str, int], threads: int) -> KernelPlan:
    A, B = pm.Matrix(pm.Double, "A", [M, K]), pm.Matrix(pm.Double, "B", [K, N])
    built = pipeline((A @ B).named("product"))
    (stage,) = built.stages
    found = plan_kernel(Group((stage.name,)), stage, built.context, machine, sizes, threads=threads)
    assert found is not None
    return found


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("machine", [HASWELL, ZEN4], ids=["narrow", "wide"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_it_is_the_price_of_a_plan(shape: tuple[int, int, int], machine: Machine, threads: int) -> None:
    m, n, k = shape
    sizes = {"M": m, "N": n, "K": k}
    made = plan(machine, sizes, threads)
    shared = threads if made.parallel is not None else 1
    assert shared * product_operations(blocks_of(machine, 8), shape, threads) == pytest.approx(
        kernel_operations(made, sizes, threads)
    )


def test_a_plan_takes_as_long_as_was_measured() -> None:
    """At the extents that were timed, and on so many threads."""
    machine, levels = replace(HASWELL, cores=2), (50, 1000)
    sizes = {"M": 1000, "N": 1000, "K": 1000}
    seconds = [2.0 * m * n * k / 2e10 for m in levels for n in levels for k in levels]
    block = modelled_block(machine)
    tables = tuple(ProductTimes(8, threads, levels, tuple(seconds), block) for threads in (1, 2))
    measured = machine.with_calibration(replace(MEASURED, threads=2, blocks=(), products=tables))
    for threads in (1, 2):
        found = kernel_operations(plan(measured, sizes, threads), sizes, threads)
        assert found / measured.peak_flops(8, threads) == pytest.approx(2e9 / 2e10)
    assert measured_ratios(machine, blocks_of(machine, 8), 8) is None


def test_times_of_other_register_blocks_say_nothing() -> None:
    """Nor those of which nobody has noted the blocks."""
    blocks, seconds = blocks_of(HASWELL, 8), (1e-6,) * 8
    for block, is_known in (((blocks.rows, blocks.vectors), True), ((2, 4), False), (None, False)):
        table = ProductTimes(8, 1, (50, 1000), seconds, block)
        machine = HASWELL.with_calibration(replace(MEASURED, blocks=(), products=(table,)))
        assert (measured_ratios(machine, blocks, 8) is not None) is is_known


def test_threads_that_share_cores_cut_for_half_of_their_caches() -> None:
    together = replace(MEASURED, threads=2, flops64=Rate(48e9, 55e9), blocks=())
    machine = replace(HASWELL, cores=2).with_calibration(together)
    sizes = {"M": 1000, "N": 1000, "K": 1000}
    alone, shared = (plan(machine, sizes, threads).blocks for threads in (1, 2))
    assert alone == blocks_of(machine, 8)
    assert shared.small == alone.small // 2
    assert shared.mc * shared.kc < alone.mc * alone.kc
