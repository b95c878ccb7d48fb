"""Chains of sums along rows and functions of points are one pass, tiled over all outer dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Float, Options
from polymat.machine.known import ICELAKE_SERVER, ZEN3
from tests.decide.rows import PROGRAMS, Rows
from tests.hosts import compiling_for
from tests.tolerance import assert_close

LARGE = (16, 16, 448, 448)  # so that arrays are in memory


def compiled(program: str, rank: int, estimates: tuple[int, ...], dtype: Any = Float, **options: Any) -> Any:
    """A program, compiled for rows of that many dimensions."""
    on = Rows(rank, dtype)
    x = on.image()
    y = PROGRAMS[program](on, x)
    known = dict(zip(on.sizes, estimates[-rank:], strict=True))
    return pm.compile(y, name="rows", inputs=[x], estimates=known, options=Options(**options))


@pytest.mark.covering
@pytest.mark.parametrize("rank", [2, 3, 4])
@pytest.mark.parametrize("program", PROGRAMS)
def test_one_pass(program: str, rank: int) -> None:
    with compiling_for(ZEN3):
        (group,) = compiled(program, rank, LARGE, threads=2).explain().groups
    assert group.kind == "tiles"
    assert {order[-1] for order in group.inside.values() if len(order) == rank} == {"n"}
    assert group.order == tuple("bhmn"[-rank:-1])  # a tile is where it is in memory
    assert all(size == 1 for dim, size in group.tile_sizes.items() if dim != "m")
    assert all(place == "scratchpad" for name, place in group.storage.items() if name != "y")


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [Float, Double], ids=["float", "double"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_numbers(program: str, dtype: Any) -> None:
    made = compiled(program, 3, LARGE, dtype, threads=2, parallel_threshold=0)
    random = np.random.default_rng(1)
    for shape in [
        (1, 1, 1),
        (2, 3, 5),
        (3, 1, 16),
        (1, 7, 17),
        (2, 5, 63),
        (1, 2, 64),
        (3, 9, 449),
        (0, 3, 4),
    ]:
        x = random.standard_normal(shape).astype(dtype.dtype) + 0.25
        wanted = made.reference(x)
        assert_close(made(x), wanted, roundings=shape[-1] + 64, magnitude=np.abs(wanted) + 1)


@pytest.mark.parametrize("program", ["softmax", "scaled_by_largest"])
def test_nan_and_infinity_stay_in_their_row(program: str) -> None:
    made = compiled(program, 2, LARGE)
    for place in (0, 1, 15, 16, 40, 63, 64, 98, 99):
        x = np.random.default_rng(place).standard_normal((12, 100)).astype(np.float32)
        x[3, place], x[7, place], x[9, place] = np.nan, np.inf, -np.inf
        with np.errstate(invalid="ignore"):
            wanted = made.reference(x)
        np.testing.assert_array_equal(np.isnan(made(x)), np.isnan(wanted))
        assert_close(made(x)[[0, 9, 11]], wanted[[0, 9, 11]], roundings=164, magnitude=1.0)


def test_rows_that_share_nothing_are_few_at_a_time() -> None:
    (long,) = compiled("softmax", 2, LARGE).explain().groups
    (short,) = compiled("softmax", 2, (4096, 16)).explain().groups
    assert long.tile_sizes["m"] <= 4 < short.tile_sizes["m"]


def test_large_results_of_tiles_go_past_the_caches() -> None:
    with compiling_for(ICELAKE_SERVER):  # rows in explicit vectors
        made = compiled("softmax", 2, LARGE)
    assert "written past the caches" in made.explain().groups[0].reason
    assert "_pm_row_stream_f32(&y" in made.source


def test_rows_that_the_compiler_vectorises_stay_in_the_caches() -> None:
    """Vectors of 256 bits are the compiler's, which has no stores past the caches."""
    with compiling_for(ZEN3):
        made = compiled("softmax", 2, LARGE)
    assert "written past the caches" not in made.explain().groups[0].reason


def test_the_results_past_the_caches_are_the_same() -> None:
    """Of arrays large enough, in all positions of a line."""
    made = compiled("normalised", 2, LARGE, threads=1)
    rows, length = 34_000, 1031  # 140 MB
    memory = np.empty(rows * length + 16, np.float32)
    x = np.random.default_rng(0).standard_normal((rows, length), np.float32)
    out = memory[3 : 3 + x.size].reshape(x.shape)
    made(x, out=out)
    wanted = x / np.sqrt(np.sum(x * x, axis=1, keepdims=True, dtype=np.float32))
    assert_close(out, wanted, roundings=length, magnitude=np.abs(wanted))


def test_threads_share_tiles_of_all_dimensions() -> None:
    """Two planes of many rows are work for four threads."""
    made = compiled("softmax", 3, (2, 512, 512), threads=4)
    assert made.explain().groups[0].parallel == "h, m"
    x = np.random.default_rng(2).standard_normal((2, 61, 65)).astype(np.float32)
    assert_close(made(x), made.reference(x), roundings=128, magnitude=1.0)
