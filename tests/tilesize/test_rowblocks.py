"""Chains of products in tiles of rows, around register blocks (`polymat.tilesize.rowblocks`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Options
from polymat.codegen.products.blockshape import Shape
from polymat.codegen.products.microkernel import described
from polymat.codegen.products.registerblock import block_text
from polymat.machine.known import ZEN3, ZEN5
from polymat.plan.schedule import Schedule
from polymat.plan.tile import TilePlan
from polymat.tilesize.tiling import tiling_of
from tests.fixed import compiled_levels
from tests.hosts import CompileFor
from tests.tolerance import assert_close

M, N, D, F = (pm.Parameter(pm.Int, name) for name in "MNDF")
LARGE = {M: 4096, N: 2048, D: 64, F: 64}
OWN = Options(blas="never", reassociate=False, threads=3, parallel_threshold=0)
# Rows: none, a register block, a tile, and what is beside these; columns beside vectors, panels and pieces.
SIZES = (
    *((0, 5, 3, 2), (5, 1, 1, 1), (6, 16, 8, 16), (7, 17, 9, 15), (13, 3, 0, 4)),
    *((12, 0, 3, 32), (12, 32, 0, 32), (12, 32, 3, 0)),
    *((29, 255, 7, 33), (30, 256, 64, 64), (31, 257, 65, 8), (97, 513, 33, 70), (191, 1031, 2, 5)),
)


@pytest.fixture(autouse=True)
def machine(compile_for: CompileFor) -> None:
    compile_for(ZEN3)


def matrices(dtype: Any) -> tuple[pm.Matrix, pm.Matrix, pm.Matrix]:
    return (
        pm.Matrix(dtype, "Q", [M, D]),
        pm.Matrix(dtype, "K", [N, D]),
        pm.Matrix(dtype, "V", [N, F]),
    )


def attention(dtype: Any) -> tuple[pm.Function, Sequence[pm.Matrix]]:
    Q, K, V = matrices(dtype)
    S = (Q @ K.T) * 0.125
    E = pm.Exp(S - S.max(axis=1, keepdims=True))
    return ((E / E.sum(axis=1, keepdims=True)) @ V).named("O"), (Q, K, V)


def two_products(dtype: Any) -> tuple[pm.Function, Sequence[pm.Matrix]]:
    Q, K, V = matrices(dtype)
    return ((Q @ K.T) @ V).named("O"), (Q, K, V)


def layers(dtype: Any) -> tuple[pm.Function, Sequence[Any]]:
    Q, K, V = matrices(dtype)
    b = pm.Vector(dtype, "b", [N])
    return (pm.Max(Q @ K.T + b, 0.0) @ V).named("O"), (Q, K, V, b)


PROGRAMS = {"attention": attention, "two_products": two_products, "layers": layers}


def compiled(program: str, dtype: Any = pm.Float, options: Options = OWN) -> Any:
    output, inputs = PROGRAMS[program](dtype)
    return pm.compile(output, inputs=inputs, estimates=LARGE, options=options)


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_between_products_stays_in_tiles_of_rows(program: str) -> None:
    (group,) = compiled(program).explain().groups
    assert group.kind == "tiles"
    assert "by register blocks in each tile, K and V packed once before" in group.reason
    assert group.tile_sizes["i"] % 6 == 0
    assert all(place == "scratchpad" for name, place in group.storage.items() if name != "O")


@pytest.mark.parametrize(("last_level", "kinds"), [(8 << 20, ["kernel", "kernel"]), (16 << 20, ["tiles"])])
def test_packed_operands_that_no_cache_holds_come_from_memory_for_each_tile(
    compile_for: CompileFor, last_level: int, kinds: list[str]
) -> None:
    """Both are of 15 MiB, and tiles of 32 rows leave little time for them to arrive."""
    compile_for(replace(ZEN5, l3_bytes=last_level))
    output, inputs = two_products(pm.Double)
    extents = {M: 800, D: 1000, N: 900, F: 1100}
    made = pm.compile(output, inputs=inputs, estimates=extents, options=OWN)
    assert [group.kind for group in made.explain().groups] == kinds


@pytest.mark.parametrize(("columns", "level"), [(8, 2), (2048, 2), (8192, 3), (1 << 19, 4)])
def test_packed_operands_come_from_behind_the_first_level(columns: int, level: int) -> None:
    """Which the rows of a tile and their results fill, however small the operands are."""
    output, inputs = two_products(pm.Float)
    levels = compiled_levels(output, machine=ZEN3, options=OWN, estimates=LARGE, inputs=inputs)
    schedule = levels["tilesize"]
    assert isinstance(schedule, Schedule)
    pipeline, (plan,) = schedule.grouping.pipeline, schedule.plans
    stages = [pipeline.stage(name) for name in plan.group.stages]
    sizes = {"M": 2048, "N": columns, "D": 32, "F": 32}
    assert tiling_of(pipeline, plan, stages, ZEN3, sizes).passed_level == level


def test_register_blocks_request_the_panel_that_follows() -> None:
    """As many bytes a step as make it whole with the last strip of rows that passes this one."""
    shape = Shape("f32", 32, rows=6, vectors=2, panels=True)
    (strip,) = (text for text in map(block_text, described(shape)) if "_pm_strip_f32_2(" in text)
    loop = strip[strip.index("for (") :]
    assert loop.count("__builtin_prefetch(next, 0, 2);") == loop.count("next += pace;") == 1


def test_all_that_share_a_scratchpad_are_at_one_place() -> None:
    plan = SimpleNamespace(places={"P": "S", "Q": "S", "F": "E"})
    shared = {frozenset(pair) for pair in TilePlan.at_one_place.fget(plan)}  # type: ignore[attr-defined]
    assert shared == {frozenset("SP"), frozenset("SQ"), frozenset("PQ"), frozenset("EF")}


@pytest.mark.parametrize("switch", [{"kernels": False}, {"fuse": False}, {"tile": False}])
def test_without_tiles_or_register_blocks_there_are_none(switch: dict[str, Any]) -> None:
    report = compiled("two_products", options=replace(OWN, **switch)).explain()
    assert not any("by register blocks in each tile" in group.reason for group in report.groups)


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [pm.Float, pm.Double], ids=["float", "double"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_numbers(program: str, dtype: Any, seed: int) -> None:
    made = compiled(program, dtype)
    rng = np.random.default_rng(seed)
    for m, n, d, f in SIZES:
        if n == 0 and program == "attention":  # which has no largest element
            continue
        shapes = [(m, d), (n, d), (n, f), *[(n,)] * (program == "layers")]
        arrays = [rng.standard_normal(shape).astype(dtype.dtype) for shape in shapes]
        wanted = made.reference(*arrays)
        magnitude = np.abs(arrays[0]) @ np.abs(arrays[1]).T @ np.abs(arrays[2])
        assert_close(made(*arrays), wanted, roundings=d + n + 64, magnitude=magnitude + 64)
