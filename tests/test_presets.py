"""The presets and the switches of `Options`: what each decides, and that each does something."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from benchmarks.polybench import find_kernel
from polymat.decide.decider import Decider
from polymat.driver import levels, request_for
from polymat.graph.pipeline import Pipeline
from polymat.namedfields import whole_text
from polymat.options import Options
from polymat.plan.loops import LoopPlan
from polymat.plan.tile import Plan, TilePlan
from polymat.runtime.host import InstalledLibraries
from polymat.runtime.providers import provider
from tests.decide.test_decider import MACHINE, blurred, pipeline_of
from tests.tolerance import assert_close


def plans(pipeline: Pipeline, options: Options, estimates: dict[str, int] | None = None) -> tuple[Plan, ...]:
    """What is decided without library calls and register kernels, which have tests of their own."""
    loops = replace(options, blas="never", fft="never", kernels=False)
    decider = Decider(pipeline, MACHINE, estimates or {}, loops, InstalledLibraries())
    return decider.schedule(decider.grouping()).plans


def described(name: str) -> Any:
    description = next(iter(find_kernel(name).builds.values()))()
    return description.outputs


def stencils() -> Pipeline:
    sharp, image = blurred(pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "C"))
    found = levels(request_for([sharp], name="sharpen", inputs=[image]))
    return next(level for word, level in found if isinstance(level, Pipeline) and word == "graph")


def test_naive_leaves_every_stage_alone() -> None:
    found = plans(pipeline_of("gesummv"), Options.naive())
    assert [plan.group.stages for plan in found] == [("tmp_A_x",), ("tmp_B_x",), ("out",)]
    assert all(isinstance(plan, LoopPlan) and plan.unroll == 1 and plan.vector is None for plan in found)


def test_polymage_leaves_reductions_alone_and_untiled_and_fuses_stencils() -> None:
    found = plans(pipeline_of("gesummv"), Options.polymage())
    assert all(len(plan.group.stages) == 1 and not isinstance(plan, TilePlan) for plan in found)
    (tiled,) = plans(stencils(), Options.polymage())
    assert isinstance(tiled, TilePlan)
    assert tiled.group.stages == ("across", "down", "sharp")


def test_paper_fuses_a_product_with_what_follows_in_tiles_of_algorithm_3() -> None:
    (tiled,) = plans(pipeline_of("gemm"), Options.paper(), {"NI": 1000, "NJ": 1000, "NK": 1000})
    assert isinstance(tiled, TilePlan)
    assert tiled.dims == ("i", "j")
    assert tiled.sizes[1] == 256  # the innermost loop by Algorithm 5 is the one whose tile is fixed
    assert 1 < tiled.sizes[0] < 16


def test_paper_tiles_a_product_by_itself_along_all_three_dimensions() -> None:
    M, N, K = (pm.Parameter(pm.Int, name) for name in "MNK")
    A, B = pm.Matrix(pm.Float, "A", [M, K]), pm.Matrix(pm.Float, "B", [K, N])
    estimates = {M: 2000, N: 2000, K: 2000}
    options = Options.paper(threads=2, parallel_threshold=0, blas="never")
    compiled = pm.compile((A @ B).named("C"), inputs=[A, B], estimates=estimates, options=options)
    (group,) = compiled.explain().groups
    assert group.order == ("i", "j", "k")
    assert group.vector == "j"
    rng = np.random.default_rng(0)
    for m, n, k in [(0, 3, 2), (3, 2, 0), (1, 1, 1), (17, 259, 37), (64, 513, 31)]:
        a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((m, k), (k, n)))
        assert_close(compiled(a, b), a @ b, roundings=k + 1, magnitude=np.abs(a) @ np.abs(b))


def test_siblings_can_be_switched_off() -> None:
    assert [len(plan.group.stages) for plan in plans(pipeline_of("bicg"), Options())] == [2]
    assert [len(plan.group.stages) for plan in plans(pipeline_of("bicg"), Options(siblings=False))] == [1, 1]


def test_private_sums_can_be_switched_off() -> None:
    for name in ("bicg", "atax"):
        on, off = (plans(pipeline_of(name), Options(private=flag)) for flag in (True, False))
        assert any(member.private for plan in on if isinstance(plan, TilePlan) for member in plan.members)
        assert not any(
            member.private for plan in off if isinstance(plan, TilePlan) for member in plan.members
        )


@pytest.mark.parametrize("switch", ["tile", "fuse"])
def test_without_tiles_and_without_fusion_every_stage_is_a_group(switch: str) -> None:
    found = plans(pipeline_of("gemm"), Options(**{switch: False}))  # type: ignore[arg-type]
    assert [plan.group.stages for plan in found] == [("tmp_A_B",), ("out",)]


def test_vectors_can_be_switched_off() -> None:
    sources = []
    for flag in (True, False):
        options = Options(vector=flag, kernels=False, blas="never")
        program = dict(levels(request_for(described("gemm"), name="x", options=options)))["source"]
        sources.append("omp simd" in str(program).split("_pm_nest_", 1)[1])
    assert sources == [True, False]


def test_without_overlap_a_stencil_chain_has_no_margins() -> None:
    chained = stencils()
    (whole,) = plans(chained, Options())
    assert isinstance(whole, TilePlan)
    assert any(margin != (0, 0) for member in whole.members for margin in member.margins)
    apart = plans(chained, Options(overlap=False))
    assert all(
        margin == (0, 0)
        for plan in apart
        if isinstance(plan, TilePlan)
        for member in plan.members
        for margin in member.margins
    )


def test_rolling_tiles_can_be_switched_off() -> None:
    for options in (Options(rolling=False), Options.paper(), Options.polymage()):
        assert not any(isinstance(plan, TilePlan) and plan.rolling for plan in plans(stencils(), options))
    assert any(isinstance(plan, TilePlan) and plan.rolling for plan in plans(stencils(), Options()))


def test_unrolling_can_be_switched_off() -> None:
    (jammed,), (plain,) = (
        plans(pipeline_of("doitgen"), Options(unroll=flag, kernels=False)) for flag in (True, False)
    )
    assert isinstance(jammed, LoopPlan)
    assert isinstance(plain, LoopPlan)
    assert jammed.unroll > plain.unroll == 1


def test_common_stages_are_shared_unless_that_is_switched_off() -> None:
    x = pm.Vector(pm.Double, "x", [pm.Parameter(pm.Int, "N")])
    outputs = [pm.dot(x + x, x).named("one"), pm.dot(x + x, x + x).named("two")]
    counts = []
    for share in (True, False):
        found = levels(request_for(outputs, name="twice", options=Options(share=share, inline=False)))
        pipeline = next(level for word, level in found if word == "graph")
        assert isinstance(pipeline, Pipeline)
        counts.append(len(pipeline.stages))
    assert counts == [3, 5]


@pytest.mark.parametrize(("forced", "sizes"), [((3, 5), (3, 5)), ((7,), (7, 7)), ((2**31 - 1,), (300, 300))])
def test_forced_tile_sizes_are_clipped_to_known_extents(
    forced: tuple[int, ...], sizes: tuple[int, ...]
) -> None:
    (plan,) = plans(stencils(), Options(tile_sizes=forced), {"R": 302, "C": 302})
    assert isinstance(plan, TilePlan)
    assert plan.sizes == sizes[: len(plan.dims)]


def test_forced_tile_sizes_that_no_memory_holds_are_halved() -> None:
    (plan,) = plans(stencils(), Options(tile_sizes=(2**31 - 1,)))
    assert isinstance(plan, TilePlan)
    assert all(8 <= size < 2**31 - 1 for size in plan.sizes)


@pytest.mark.parametrize("preset", ["naive", "polymage", "paper", "default"])
def test_presets_take_changes(preset: str) -> None:
    make = getattr(Options, preset)
    assert make(threads=3).threads == 3
    assert make(fuse=True).fuse
    with pytest.raises(pm.OptionError, match=r"Options has no 'fuse_all'\n.*\nhint: did you mean fuse"):
        make(fuse_all=True)


@pytest.mark.parametrize("preset", ["polymage", "paper"])
def test_library_calls_that_are_wanted_are_made_at_the_published_costs(preset: str) -> None:
    """Not only by themselves: what follows is not fused with them in tiles."""
    N = pm.Parameter(pm.Int, "N")
    A, B, C = (pm.Matrix(pm.Double, name, [N, N]) for name in "ABC")
    x = pm.Signal(pm.Float, "x", N)
    i, j, whole = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j"), pm.Interval(pm.Int, 0, N - 1)
    f, product = pm.Function(([i, j], [whole, whole]), pm.Double, "f"), A @ B
    f.defn = [pm.Abs(product(i, j)) + C(i, j)]
    options = getattr(Options, preset)(blas="always", fft="always", cflags=("-O1",))
    rng = np.random.default_rng(0)
    for output, inputs, expected in (
        (f, [A, B, C], [("gemm",), ()]),
        (A @ B * 2.0 + C, [A, B, C], [("gemm",)]),
        (pm.irfft(pm.rfft(x) * 2.0, N), [x], [("fft",), ("fft",)]),
    ):
        compiled: Any = pm.compile(output, inputs=inputs, options=options)
        assert [group.library_calls for group in compiled.explain().groups] == expected
        for n in (1, 7):
            shapes = [(n,) if each is x else (n, n) for each in inputs]
            types = [each.dtype.dtype for each in inputs]
            values = [rng.integers(-3, 4, shape).astype(t) for shape, t in zip(shapes, types, strict=True)]
            assert_close(compiled(*values), compiled.reference(*values), roundings=64, magnitude=100.0)


@pytest.mark.parametrize(("extent", "kind"), [(255, "tiles"), (256, "call")])
def test_the_thesis_maps_products_to_a_library_from_256_cubed_on(extent: int, kind: str) -> None:
    if provider("blas") is None:
        pytest.skip("no BLAS library is installed")
    sizes = dict.fromkeys(("NI", "NJ", "NK"), extent)
    decider = Decider(pipeline_of("gemm"), MACHINE, sizes, Options.paper(), InstalledLibraries())
    (plan,) = decider.schedule(decider.grouping()).plans
    assert ("tiles" if isinstance(plan, TilePlan) else plan.kind) == kind


def test_options_print_what_was_given_and_are_made_of_it_again() -> None:
    given = pm.Options(threads=2, tile_sizes=(32, 64))
    assert str(pm.Options()) == "Options()"
    assert str(given) == "Options(threads=2, tile_sizes=(32, 64))"
    for options in (given, pm.Options.naive(), pm.Options.polymage(), pm.Options.paper(skip=("borders",))):
        assert eval(f"pm.{options}", {"pm": pm}) == options
    assert f"options: 'Options' = {pm.Options()})" in str(inspect.signature(pm.compile))


def test_the_whole_text_has_every_option() -> None:
    text = whole_text(pm.Options(threads=2))
    assert text.startswith("Options(threads=2, cost='time', share=True, ")
    assert all(f"{item.name}=" in text for item in fields(pm.Options))
