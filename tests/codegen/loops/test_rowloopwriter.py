"""All stages of a rolling tile in one loop over vectors, against the interpreter."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.machine.known import GENERIC
from polymat.options import Options
from tests.differential.under_sanitizers import clean_output
from tests.hosts import compiling_for
from tests.tolerance import assert_close

R, C = pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "C")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
WIDE = replace(GENERIC, vector_bits=512, vector_registers=32)
PAST = replace(WIDE, l3_bytes=64)  # writes every result past the caches
MACHINES = {"cached": WIDE, "past": PAST}
SHAPES = [(0, 0), (1, 1), (5, 9), (9, 8), (12, 17), (13, 23), (17, 33), (21, 41), (30, 65), (43, 131)]
ONE_LOOP = "all stages in one loop"
SCALE = 2.5
Build = Callable[[Any], tuple[list[Any], list[pm.Function]]]


def stage(kind: Any, name: str, rows: tuple[int, int], columns: tuple[int, int], value: Any) -> pm.Function:
    """A function from so many rows and columns after the first to so many before the last."""
    spans = [pm.Interval(pm.Int, low, size - 1 - high) for size, (low, high) in ((R, rows), (C, columns))]
    found = pm.Function(([i, j], spans), kind, name)
    found.defn = [value]
    return found


def blurred(kind: Any) -> tuple[list[Any], list[pm.Function]]:
    """Along rows, along columns, along rows again."""
    image = pm.Image(kind, "image", [R, C])
    a = stage(kind, "a", (0, 0), (2, 2), sum(w * image(i, j + k - 2) for k, w in enumerate((1, 4, 6, 4, 1))))
    b = stage(kind, "b", (2, 2), (2, 2), 0.25 * (a(i - 2, j) + a(i - 1, j) + a(i + 1, j) + a(i + 2, j)))
    return [image], [stage(kind, "c", (2, 2), (3, 3), 2 * b(i, j) - 0.5 * (b(i, j - 1) + b(i, j + 1)))]


def windows(kind: Any) -> tuple[list[Any], list[pm.Function]]:
    """Windows of a stage and of the image: kept rows that are shifted, and rows that stages share."""
    image = pm.Image(kind, "image", [R, C])

    def window(f: Any) -> Any:
        return sum(f(i + row, j + column) for row in (-1, 0, 1) for column in (-1, 0, 1))

    a = stage(kind, "a", (1, 1), (1, 1), window(image))
    return [image], [stage(kind, "b", (2, 2), (2, 2), window(a) / (1.0 + image(i + 1, j)))]


def uneven(kind: Any) -> tuple[list[Any], list[pm.Function]]:
    """Reads far ahead and not behind, and a producer that is only read further along."""
    image = pm.Image(kind, "image", [R, C])
    a = stage(kind, "a", (0, 3), (0, 0), image(i, j) + 2 * image(i + 3, j))
    b = stage(kind, "b", (0, 5), (0, 6), a(i + 2, j + 1) - a(i + 2, j + 6))
    return [image], [stage(kind, "c", (1, 5), (4, 6), -b(i, j - 4) + b(i - 1, j) + a(i, j))]


def several(kind: Any) -> tuple[list[Any], list[pm.Function]]:
    """Two results, of different extents; planes, a row and a scalar among the inputs; a shared value."""
    planes, row = pm.Image(kind, "planes", [2, R, C]), pm.Image(kind, "row", [C])
    scale = pm.Parameter(kind, "scale")
    a = stage(kind, "a", (0, 0), (0, 0), planes(0, i, j) * row(j) + planes(1, i, j) * (scale * 2.0))
    slope = a(i + 1, j) - a(i - 1, j)
    b = stage(kind, "b", (1, 1), (0, 0), slope * slope + slope)
    return [planes, row, scale], [b, stage(kind, "d", (1, 1), (2, 1), a(i, j - 2) * row(j + 1) - a(i - 1, j))]


BUILDS: dict[str, Build] = {build.__name__: build for build in (blurred, windows, uneven, several)}

SANITIZED = ["blurred", "several"]


def compiled_chain(build: Build, kind: Any, machine: Any = WIDE, **options: Any) -> pm.Compiled:
    inputs, outputs = build(kind)
    with compiling_for(machine):
        return pm.compile(
            outputs,
            inputs=inputs,
            name=build.__name__,
            options=Options(parallel_threshold=0, **options),
            estimates={R: 4096, C: 4096},
        )


def arguments(compiled: pm.Compiled, build: Build, shape: tuple[int, int], dtype: Any) -> list[Any]:
    random = np.random.default_rng(shape[1])
    if build is not several:
        return [random.random(shape).astype(dtype)]
    return [random.random((2, *shape)).astype(dtype), random.random(shape[1]).astype(dtype), SCALE]


@pytest.mark.covering
@pytest.mark.parametrize("name", BUILDS)
@pytest.mark.parametrize(
    ("machine", "kind", "tiles", "threads"),
    [("past", pm.Float, (), 2), ("cached", pm.Float, (2, 19), 1), ("past", pm.Double, (1, 33), 3)],
)
def test_every_shape(name: str, machine: str, kind: Any, tiles: tuple[int, ...], threads: int) -> None:
    build = BUILDS[name]
    compiled = compiled_chain(build, kind, MACHINES[machine], tile_sizes=tiles, threads=threads)
    assert ONE_LOOP in compiled.source
    for shape in SHAPES:
        given = arguments(compiled, build, shape, kind.dtype)
        found, wanted = compiled(*given), compiled.reference(*given)
        for one, other in zip(*map(as_list, (found, wanted)), strict=True):
            assert_close(one, other, roundings=30, magnitude=200.0)


def as_list(values: Any) -> list[Any]:
    return list(values) if isinstance(values, tuple | list) else [values]


@pytest.mark.parametrize("tiles", [(4, 7), (3, 33)])
def test_four_rows(tiles: tuple[int, int]) -> None:
    compiled = compiled_chain(blurred, pm.Float, PAST, tile_sizes=tiles)
    assert ONE_LOOP in compiled.source
    for shape in SHAPES:
        image = np.random.default_rng(shape[1]).random(shape, dtype=np.float32)
        assert_close(compiled(image), compiled.reference(image), roundings=30, magnitude=64.0)


@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_beside_the_result_is_left_alone(machine: str) -> None:
    compiled = compiled_chain(blurred, pm.Float, MACHINES[machine])
    for columns in range(30, 64):
        image = np.random.default_rng(columns).random((14, columns), dtype=np.float32)
        memory = np.full(12 * (columns - 3) + 40, 7.0, np.float32)
        out = memory[columns % 20 :][: 12 * (columns - 3)].reshape(12, columns - 3)
        compiled(image, out=out)
        assert_close(out[2:, 3:], compiled.reference(image)[2:, 3:], roundings=30, magnitude=64.0)
        assert (memory[: columns % 20] == 7.0).all()
        assert (memory[columns % 20 + out.size :] == 7.0).all()


def test_special_values_stay_where_they_are() -> None:
    compiled = compiled_chain(blurred, pm.Float)
    image = np.zeros((40, 80), np.float32)
    image[11, 33], image[20, 70], image[30, 10], image[39, 79], image[0, 0] = (
        np.nan,
        np.inf,
        -0.0,
        np.nan,
        np.nan,
    )
    np.testing.assert_array_equal(np.isnan(compiled(image)), np.isnan(compiled.reference(image)))
    np.testing.assert_array_equal(np.isinf(compiled(image)), np.isinf(compiled.reference(image)))


def test_explained_and_switched_off() -> None:
    compiled = compiled_chain(blurred, pm.Float)
    assert "4 rows of all stages in one loop over vectors of 16" in str(compiled.explain())
    assert re.search("results of more than .* MB written past the caches", str(compiled.explain()))
    for options in ({"rolling": False}, {"vector": False}, {"unroll": False}):
        assert ONE_LOOP not in compiled_chain(blurred, pm.Float, **options).source


def long_chain(kind: Any) -> tuple[list[Any], list[pm.Function]]:
    """Eight stages, along rows and columns in turn."""
    image = pm.Image(kind, "image", [R, C])
    last: Any = image
    for k in range(1, 9):
        down, across = k % 2, 1 - k % 2
        near = 0.25 * (last(i - down, j - across) + last(i + down, j + across)) + 0.5 * last(i, j)
        last = stage(kind, f"s{k}", (k, k), (k, k), near)
    return [image], [last]


def test_nests_of_many_stages_are_not_inlined() -> None:
    """Together in one function they take the C compiler twice as long."""
    apart = re.compile(r"__attribute__\(\(noinline\)\) void _pm_nest_")
    compiled = compiled_chain(long_chain, pm.Float)
    assert len(apart.findall(compiled.source)) == 8
    assert not apart.search(compiled_chain(blurred, pm.Float).source)
    for shape in ((0, 0), (16, 17), (17, 16), (19, 37), (67, 131)):
        given = arguments(compiled, long_chain, shape, np.float32)
        assert_close(compiled(*given), compiled.reference(*given), roundings=40, magnitude=2.0)


def root(kind: Any) -> tuple[list[Any], list[pm.Function]]:
    """A function, which vectors of C have not."""
    (image,), (c,) = blurred(kind)
    return [image], [stage(kind, "d", (3, 3), (3, 3), pm.Sqrt(c(i - 1, j) * c(i - 1, j)) + c(i + 1, j))]


def far(kind: Any) -> tuple[list[Any], list[pm.Function]]:
    """Reads of one row that are further apart than a vector."""
    image = pm.Image(kind, "image", [R, C])
    a = stage(kind, "a", (0, 0), (0, 0), image(i, j) * image(i, j))
    return [image], [stage(kind, "b", (1, 1), (9, 9), a(i - 1, j - 9) + a(i + 1, j + 9))]


def kept(kind: Any) -> tuple[list[Any], list[pm.Function]]:
    """A stage that is a result, and read in the group."""
    (image,), (c,) = blurred(kind)
    return [image], [c, stage(kind, "d", (3, 3), (3, 3), c(i - 1, j) - c(i + 1, j))]


@pytest.mark.parametrize("build", [root, far, kept])
def test_what_stays_stage_by_stage(build: Build) -> None:
    compiled = compiled_chain(build, pm.Float)
    image = np.random.default_rng(0).random((23, 57), dtype=np.float32)
    for one, other in zip(as_list(compiled(image)), as_list(compiled.reference(image)), strict=True):
        assert_close(one, other, roundings=40, magnitude=200.0)
    assert not re.search(r"\+(c|d)\b.*all stages in one loop", compiled.source) or build is kept


def test_no_access_outside_an_array() -> None:
    printed = clean_output([sys.executable, "-m", "tests.codegen.sanitized_rowloop"])
    assert printed.split() == SANITIZED
