"""Maps that read arrays across their rows run in tiles of whole lines, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.decide.decider import Decider
from polymat.driver import levels, request_for
from polymat.graph.pipeline import Pipeline
from polymat.model.associativity import CacheShape, rows_kept, rows_that_stay
from polymat.options import Options
from polymat.plan.tile import TilePlan
from polymat.runtime.host import InstalledLibraries
from tests.decide.test_decider import MACHINE

M, N, K = (pm.Parameter(pm.Int, name) for name in "MNK")
i, j, k = (pm.Variable(pm.Int, name) for name in "ijk")
A, B = pm.Matrix(pm.Double, "A", [M, N]), pm.Matrix(pm.Double, "B", [N, M])
cube = pm.Image(pm.Float, "cube", [K, N, M])
spans = {name: pm.Interval(pm.Int, 0, size - 1) for name, size in (("M", M), ("N", N), ("K", K))}


def added() -> pm.Function:
    f = pm.Function(([i, j], [spans["N"], spans["M"]]), pm.Double, "added")
    f.defn = [A(j, i) - 2 * B(i, j)]
    return f


def reversed_axes() -> pm.Function:
    f = pm.Function(([i, j, k], [spans["M"], spans["N"], spans["K"]]), pm.Float, "turned")
    f.defn = [cube(k, j, i) * 2]
    return f


def backwards() -> pm.Function:
    f = pm.Function(([i, j], [spans["N"], spans["M"]]), pm.Double, "backwards")
    f.defn = [A(M - 1 - j, N - 1 - i)]
    return f


Case = tuple[Callable[[], Any], tuple[str, ...], Callable[..., Any]]
CASES: dict[str, Case] = {
    "transposed": (lambda: A.T, ("A",), lambda a: a.T),
    "added": (added, ("A", "B"), lambda a, b: a.T - 2 * b),
    "three axes": (reversed_axes, ("cube",), lambda c: c.transpose(2, 1, 0) * np.float32(2)),
    "backwards": (backwards, ("A",), lambda a: a[::-1, ::-1].T),
}
SHAPES = [
    (0, 3, 2),
    (3, 0, 2),
    (1, 1, 1),
    (7, 8, 9),
    (8, 7, 5),
    (9, 257, 3),
    (257, 9, 17),
    (65, 512, 2),
    (512, 31, 1),
]


@pytest.mark.covering
@pytest.mark.parametrize("tiles", [(), (1,), (3, 7)])
@pytest.mark.parametrize("name", CASES)
def test_numbers(name: str, tiles: tuple[int, ...]) -> None:
    build, inputs, expected = CASES[name]
    compiled = pm.compile(build(), options=Options(threads=2, parallel_threshold=0, tile_sizes=tiles))
    rng = np.random.default_rng(0)
    for m, n, depth in SHAPES:
        shapes = {"A": (m, n), "B": (n, m), "cube": (depth, n, m)}
        arrays = [rng.standard_normal(shapes[each]) for each in inputs]
        arrays = [array.astype(np.float32) if array.ndim == 3 else array for array in arrays]
        assert np.array_equal(compiled(*arrays), expected(*arrays))


def test_in_place() -> None:
    square = pm.Matrix(pm.Double, "S", [N, N])
    turned: Any = square.T
    compiled = pm.compile(turned, options=Options(threads=2, parallel_threshold=0))
    s = np.random.default_rng(1).standard_normal((301, 301))
    expected = s.T.copy()
    assert np.array_equal(compiled(s, out=s), expected)


def plan_of(output: Any, estimates: dict[str, int], options: Options | None = None, **given: Any) -> Any:
    found = levels(request_for([output], name="x", options=options or Options(), **given))
    pipeline = next(level for word, level in found if word == "graph")
    assert isinstance(pipeline, Pipeline)
    decider = Decider(pipeline, MACHINE, estimates, options or Options(), InstalledLibraries())
    (plan,) = decider.schedule(decider.grouping()).plans
    return plan


def test_the_width_follows_the_distance_of_the_rows() -> None:
    kept = rows_kept(CacheShape.of(MACHINE.l1_bytes, MACHINE.l1_ways, MACHINE.line_bytes))
    for columns, width in ((1000, 256), (512, kept), (4096, kept), (256, 2 * kept)):
        plan = plan_of(A.T, {"M": 4096, "N": columns})
        assert isinstance(plan, TilePlan)
        assert (plan.dims, plan.sizes) == (("i", "j"), (8, width))
    turned: Any = A.T
    assert "_pm_width" in pm.compile(turned, name="t").source


def test_every_axis_between_is_tiled_by_single_points() -> None:
    plan = plan_of(reversed_axes(), {})
    assert plan.dims == ("i", "j", "k")
    assert plan.sizes[:2] == (16, 1)


def test_what_is_read_along_its_rows_or_small_or_switched_off_is_not_tiled() -> None:
    for output in (A + A, A * 2.0):
        assert not isinstance(plan_of(output, {}), TilePlan)
    assert not isinstance(plan_of(A.T, {}, sizes={M: 8, N: 8}), TilePlan)
    assert not isinstance(plan_of(A.T, {}, Options(tile=False)), TilePlan)


@pytest.mark.parametrize("ways", [4, 8, 12, 16])
def test_rows_that_stay_are_those_whose_lines_find_room(ways: int) -> None:
    cache = CacheShape(sets=64, ways=ways, line_bytes=64)
    for apart in (8, 64, 100 * 8, 24 * 64, 4096, 4096 * 3, 8192):
        rows = rows_that_stay(apart, cache)
        filled: dict[int, int] = {}
        lines = {row * apart // 64 for row in range(rows)}
        for line in lines:
            filled[line % 64] = filled.get(line % 64, 0) + 1
        assert max(filled.values()) <= max(1, ways)
