"""What is fused, as data; and fused code against the interpreter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

import polymat as pm
from benchmarks.polybench import find_kernel
from benchmarks.stencils import chain
from polymat.decide.decider import Decider
from polymat.driver import levels, request_for
from polymat.graph.aligned import Refused
from polymat.graph.build import build
from polymat.graph.pipeline import Pipeline
from polymat.machine.model import Machine
from polymat.options import Options
from polymat.plan.kernel import KernelPlan
from polymat.plan.tile import TilePlan
from polymat.runtime.host import InstalledLibraries
from tests.tolerance import assert_close

MACHINE = Machine("test", cores=2, l1_bytes=32 << 10, l2_bytes=1 << 20, l3_bytes=8 << 20)


def pipeline_of(name: str) -> Pipeline:
    description = next(iter(find_kernel(name).builds.values()))()
    found = levels(request_for(description.outputs, name="x", inputs=description.inputs))
    return next(level for word, level in found if word == "graph")  # type: ignore[return-value]


def shape(name: str, **options: Any) -> list[tuple[str, ...]]:
    """For each group the kinds of its stages' loops, `+` for private sums, and its tiles."""
    decider = Decider(pipeline_of(name), MACHINE, {}, Options(**options), InstalledLibraries())
    found = []
    for plan in decider.schedule(decider.grouping()).plans:
        if isinstance(plan, TilePlan):
            kinds = [plan.loops[m.stage].kind + ("+" if m.private else "") for m in plan.members]
            found.append((*kinds, *map(str, plan.sizes)))
        else:
            found.append((plan.kind,))
    return found


def test_atax_passes_once_over_its_matrix() -> None:
    assert shape("atax") == [("reduce", "row+", "8")]


def test_siblings_pass_once_over_what_they_share() -> None:
    assert shape("bicg") == [("row+", "reduce", "8")]
    assert shape("mvt") == [("reduce", "map", "row+", "8"), ("map",)]


def test_a_product_takes_its_epilogue_along() -> None:
    assert shape("gemm", blas="never", kernels=False) == [("row", "map", "8")]
    assert shape("gemm", blas="always") == [("call",)]
    assert shape("gemm", blas="always", fuse=False) == [("call",), ("call",)]  # gemm, then axpy


def test_calls_do_not_prevent_a_better_fusion() -> None:
    assert shape("atax", blas="auto") == shape("atax", blas="never")
    assert shape("mvt", blas="auto") == shape("mvt", blas="never")
    assert shape("gesummv", blas="auto") == shape("gesummv", blas="never")


def test_a_product_of_matrices_is_worth_register_blocks() -> None:
    assert shape("gemm", blas="never") == [("kernel",)]
    assert shape("2mm", blas="never", kernels=False) != shape("2mm", blas="never")


@pytest.mark.parametrize(
    ("sizes", "kinds"), [((300, 1, 300), "kernel"), ((1, 300, 300), "row"), ((2, 300, 300), "kernel")]
)
def test_a_column_is_sums_of_register_blocks_and_a_row_is_loops(
    sizes: tuple[int, int, int], kinds: str
) -> None:
    M, N, K = (pm.Parameter(pm.Int, name) for name in "MNK")
    A, B = pm.Matrix(pm.Double, "A", [M, K]), pm.Matrix(pm.Double, "B", [K, N])
    estimates = dict(zip((M, N, K), sizes, strict=True))
    found = pm.compile(A @ B, inputs=[A, B], estimates=estimates, options=Options(blas="never"))
    assert f": {kinds} [" in found.source or f": {kinds} loops" in str(found.explain())


def test_both_sums_of_gesummv_and_their_combination_are_one_group() -> None:
    assert shape("gesummv") == [("reduce", "reduce", "map", "8")]


def stencils(machine: Machine) -> Decider:
    description = chain.build()
    found = levels(request_for(description.outputs, name="x", inputs=description.inputs))
    pipeline = next(level for word, level in found if word == "graph")
    assert isinstance(pipeline, Pipeline)
    return Decider(pipeline, machine, chain.SIZES["LARGE"], Options(), InstalledLibraries())


@pytest.mark.parametrize(("cache", "width"), [(32 << 10, 256), (48 << 10, 512), (128 << 10, 512)])
def test_stencils_roll_in_rows_that_fit_the_nearest_cache(cache: int, width: int) -> None:
    decider = stencils(replace(MACHINE, l1_bytes=cache))
    (group,) = decider.grouping().groups
    plans = decider.candidates.of(group.stages)
    assert not isinstance(plans, Refused)
    rolling = {plan.sizes for plan in plans if isinstance(plan, TilePlan) and plan.rolling}
    assert rolling == {(2,), (2, width)}


def test_stencils_roll_over_whole_rows_whose_rings_fit_in_a_share_of_the_last_cache() -> None:
    """Rows that tiles cut have more ends, and rings in the last cache are read from there."""
    decider = stencils(MACHINE)
    (plan,) = decider.schedule(decider.grouping()).plans
    assert isinstance(plan, TilePlan)
    assert plan.sizes == (2,)


def test_fusion_can_be_switched_off() -> None:
    assert all(len(group) <= 2 for group in shape("gesummv", fuse=False))
    assert shape("gesummv", fuse=False, tile=False) == [("reduce",), ("reduce",), ("map",)]


def blurred(rows: pm.Parameter, columns: pm.Parameter) -> tuple[pm.Function, pm.Image]:
    i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
    image = pm.Image(pm.Double, "image", [rows, columns])

    def stage(name: str, border: int) -> pm.Function:
        spans = [pm.Interval(pm.Int, border, extent - 1 - border) for extent in (rows, columns)]
        return pm.Function(([i, j], spans), pm.Double, name)

    across, down, sharp = stage("across", 1), stage("down", 2), stage("sharp", 3)
    across.defn = [image(i, j - 1) + 2 * image(i, j) + image(i, j + 1)]
    down.defn = [across(i - 1, j) + 2 * across(i, j) + across(i + 1, j)]
    sharp.defn = [image(i, j) - 0.1 * (down(i, j - 1) + down(i, j + 1) + down(i - 1, j) + down(i + 1, j))]
    return sharp, image


@pytest.mark.parametrize("shape", [(0, 0), (1, 9), (6, 6), (7, 7), (8, 31), (67, 130), (140, 520)])
def test_a_stencil_chain_in_overlapped_tiles(shape: tuple[int, int]) -> None:
    rows, columns = pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "C")
    sharp, image = blurred(rows, columns)
    estimates = {rows: 4096, columns: 4096}
    options = Options(parallel_threshold=0, threads=2)
    compiled = pm.compile(sharp, inputs=[image], name="sharpen", estimates=estimates, options=options)
    (group,) = compiled.explain().groups
    assert group.stages == ("across", "down", "sharp")
    assert [group.storage[name] for name in group.stages] == ["scratchpad", "scratchpad", "output"]
    array = np.random.default_rng(0).standard_normal(shape)
    assert_close(compiled(array), compiled.reference(array), roundings=20, magnitude=np.float64(40.0))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_private_sums_are_added_in_a_fixed_order(threads: int) -> None:
    kernel = find_kernel("bicg")
    compiled = kernel.compile(options=Options(threads=threads, parallel_threshold=0))
    arrays = kernel.inputs({"M": 61, "N": 83})
    first = compiled(*arrays.values())
    for _ in range(5):
        for again, before in zip(compiled(*arrays.values()), first, strict=True):
            np.testing.assert_array_equal(again, before)


def test_explain_tells_what_the_other_ways_would_cost() -> None:
    decider = Decider(pipeline_of("symm"), MACHINE, {}, Options(), InstalledLibraries())
    schedule = decider.schedule(decider.grouping())
    ((plan,), (decision,)) = schedule.plans, schedule.decisions
    assert plan.group.stages[-1] == "out"
    assert " s as tiles of " in decision.terms
    assert "gemm" not in decision.terms


@pytest.mark.parametrize("number", range(5))
def test_stages_grouped_over_arrays_known_to_be_empty(number: int) -> None:
    """Nothing is read of an array of 0 bytes, and a sum over none of its elements has no terms."""
    N = pm.Parameter(pm.Int, "N")
    x, z, h = pm.Signal(pm.Double, "x", 0), pm.Signal(pm.Double, "z", N), pm.Vector(pm.Double, "h", [100])
    A, v = pm.Matrix(pm.Double, "A", [0, 5]), pm.Vector(pm.Double, "v", [5])
    full = x.fir(np.ones(100), "full").named("full")
    cases: list[tuple[list[Any], list[Any]]] = [
        ([x * 2.0, x + 1.0], [x]),
        ([x.fir(np.ones(9), "causal") * 2.0, pm.fft(x)], [x]),
        ([z * 2.0, z + 1.0], [z]),
        ([A * v, A.T * (A * v)], [A, v]),
        ([full * 2.0, x.fir(h, "full").down(3)], [x, h]),
    ]
    outputs, inputs = cases[number]
    for options in (Options(), Options(fir="direct")):
        sizes = {N: 0} if number == 2 else {}
        compiled = pm.compile(outputs, name="empty", inputs=inputs, sizes=sizes, options=options)
        arrays = [np.ones([length.const if length.is_constant else 0 for length in a.shape]) for a in inputs]
        for found, wanted in zip(compiled(*arrays), compiled.reference(*arrays), strict=True):
            assert found.shape == wanted.shape
            np.testing.assert_array_equal(found, np.zeros(wanted.shape))
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("blocks", ["shares", "working-sets"])
def test_the_threads_that_were_asked_for_count_and_not_the_cores(
    blocks: Literal["shares", "working-sets"],
) -> None:
    """Six products are shared out to few threads, and cut for many; blocks are cut for a thread's part."""
    sizes = {"B": 6, "M": 30, "N": 300, "K": 200}
    B, M, N, K = (pm.Parameter(pm.Int, name) for name in sizes)
    x, y = pm.Image(pm.Double, "x", [B, M, K]), pm.Image(pm.Double, "y", [B, K, N])
    products = build([pm.einsum("bij,bjk->bik", x, y).named("z")], inputs=[x, y])

    def decided(cores: int, threads: int) -> tuple[KernelPlan, str]:
        options = Options(threads=threads, blocks=blocks, blas="never")
        decider = Decider(products, replace(MACHINE, cores=cores), sizes, options, InstalledLibraries())
        schedule = decider.schedule(decider.grouping())
        ((plan,), (decision,)) = schedule.plans, schedule.decisions
        assert isinstance(plan, KernelPlan)
        return plan, decision.terms

    alone, priced = decided(1, 0)
    asked, terms = decided(8, 1)
    every, _ = decided(8, 0)
    assert terms == priced
    assert (asked.parallel, asked.way, asked.scheme) == (alone.parallel, alone.way, alone.scheme)
    assert (asked.blocks.kc, asked.blocks.mc) == (alone.blocks.kc, alone.blocks.mc)
    # Of the last level a core has its part, whoever else computes.
    assert asked.blocks.nc < alone.blocks.nc
    assert (asked.parallel, every.parallel) == ("b", "k")
    assert (asked.blocks.mc < every.blocks.mc) == (blocks == "working-sets")
