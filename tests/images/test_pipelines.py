"""The six image pipelines: compiled and interpreted beside NumPy, at sizes around nothing and at odd ones."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.cases import Judge
from benchmarks.colours import LOWEST, curve_of, matrix_of
from benchmarks.images import PROGRAMS, find_program
from benchmarks.peers.array_libraries import prepare_numpy
from benchmarks.peers.scipy_images import prepare_pipeline
from benchmarks.program import Program
from benchmarks.sections.images import image_case
from polymat import Options
from tests.differential.under_sanitizers import clean_output
from tests.images.solving import assert_solves, drawn

Array = npt.NDArray[Any]
EACH = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
# Nothing but a border, one element, primes, around the cells of a grid, around the levels of a pyramid.
EXTENTS = (
    (1, 1), (1, 7), (2, 3), (3, 2), (4, 4), (5, 5), (5, 9), (7, 8), (8, 7), (9, 16), (11, 13), (15, 17),
    (16, 31), (17, 15), (23, 64), (29, 3), (31, 33), (32, 32), (33, 31), (37, 53), (47, 61), (63, 65),
    (64, 2), (67, 129), (131, 71),
)  # fmt: skip


# In blocks for two threads however small the image is, and otherwise.
BLOCKS = Options(parallel_threshold=0, threads=2)
OTHERWISE = (replace(BLOCKS, cflags=("-O3",)), Options(threads=1), Options(cflags=("-O3",)))


@cache
def compiled(name: str, options: Options = BLOCKS) -> Any:
    return find_program(name).compile(options=options)


@EACH
def test_compiled_equals_numpy(program: Program, seed: int) -> None:
    for rows, columns in EXTENTS:
        arrays = drawn(program, rows, columns, seed)
        assert_solves(program, compiled(program.name)(*arrays.values(), **program.scalars), arrays)


@pytest.mark.drawn(3)
@EACH
@pytest.mark.parametrize(
    "options", OTHERWISE, ids=("as users do", "one thread", "as users do, small ones on one")
)
def test_compiled_otherwise_equals_numpy(options: Options, program: Program, seed: int) -> None:
    for rows, columns in EXTENTS:
        arrays = drawn(program, rows, columns, seed)
        assert_solves(program, compiled(program.name, options)(*arrays.values(), **program.scalars), arrays)


@pytest.mark.drawn(4)
@EACH
def test_a_pipeline_under_sanitizers(program: Program) -> None:
    """At small odd sizes, on two threads."""
    assert clean_output([sys.executable, "-m", "tests.images.sanitized", program.name]).split() == [
        program.name
    ]


@EACH
def test_interpreted_equals_numpy_bit_by_bit(program: Program, seed: int) -> None:
    for rows, columns in ((1, 1), (11, 13), (37, 53)):
        arrays = drawn(program, rows, columns, seed)
        (expected,) = program.solve(arrays).values()
        found = compiled(program.name).reference(*arrays.values(), **program.scalars)
        np.testing.assert_array_equal(found, expected)


@EACH
def test_arrays_are_drawn_as_stated(program: Program) -> None:
    sizes = program.sizes["MINI"]
    arrays = program.inputs(sizes, np.random.default_rng(0))
    (result,) = program.solve(arrays).values()
    assert result.shape[-2:] == (sizes["R"], sizes["C"])
    assert np.all(np.isfinite(result))
    assert np.ptp(result) > 0
    for array in arrays.values():
        assert 0 <= array.min() < array.max() <= (1023 if array.dtype == np.int16 else 1)


@EACH
def test_a_case_is_judged_by_its_own_bounds(program: Program) -> None:
    case = image_case(program, "MINI")
    (right,) = prepare_numpy(case.task).call()
    assert Judge(case).error(right) == 0
    right[..., -1, -1] += 1
    assert Judge(case).error(right) > 1


@pytest.mark.parametrize("name", ["unsharp", "harris-corner"])
def test_filters_of_scipy_solve_it(name: str) -> None:
    case = image_case(find_program(name), "MINI")
    assert Judge(case).error(prepare_pipeline(case.task).call()) <= 1


def solved(name: str, *arrays: Array, **scalars: float) -> Array:
    program = find_program(name)
    (found,) = program.reference(*arrays, **{**program.scalars, **scalars}).values()
    return found


def test_numpy_keeps_what_a_filter_must_keep() -> None:
    constant = np.full((40, 56), 0.3, np.float32)
    padded = np.full((3, 45, 61), 0.3, np.float32)
    np.testing.assert_allclose(solved("unsharp", padded), 0.3, rtol=1e-6)
    assert np.all(solved("harris-corner", constant) == 0)
    np.testing.assert_allclose(solved("bilateral-grid", constant), 0.3, rtol=1e-6)
    np.testing.assert_allclose(solved("bilateral-grid-c", np.pad(constant, 28, mode="edge")), 0.3, rtol=1e-6)
    ones = np.ones((37, 53), np.float32)
    assert np.array_equal(solved("bilateral-grid", ones), ones)


def test_numpy_fills_in_nothing_where_alpha_is_one() -> None:
    arrays = drawn(find_program("interpolate"), 37, 53, 0)
    image = arrays["image"]
    image[3, 1:-1, 1:-1] = 1
    assert np.array_equal(solved("interpolate", image), image[:3, 1:-1, 1:-1])
    image[3, 5:9, 7:20] = 0
    image[:3] = 0.25 * (image[3] > 0)
    np.testing.assert_allclose(solved("interpolate", image), 0.25, rtol=1e-6)


def test_numpy_blends_equal_images_to_themselves() -> None:
    first, second, mask = drawn(find_program("pyramid-blend"), 40, 64, 0).values()
    inner = (slice(None), slice(31, -29), slice(31, -29))
    np.testing.assert_allclose(solved("pyramid-blend", first, first, mask), first[inner], atol=1e-6)
    assert np.allclose(solved("pyramid-blend", first, second, np.ones_like(mask)), first[inner], atol=1e-6)
    assert np.allclose(solved("pyramid-blend", first, second, np.zeros_like(mask)), second[inner], atol=1e-6)


def test_numpy_takes_a_lone_hot_pixel_away() -> None:
    raw = np.full((80, 112), 300, np.int16)
    plain = solved("camera", raw)
    raw[40, 50] = 1023
    assert np.array_equal(solved("camera", raw), plain)


def test_the_camera_s_numbers() -> None:
    """At 3700 kelvin, contrast 50 and gamma 2: what other implementations of it have."""
    matrix = [[548, -103, 7, -10220], [-96, 373, 61, -7254], [-30, -260, 882, -5562]]
    assert matrix_of(3700).tolist() == matrix
    curve = curve_of(50, 2)
    places = np.array([-5, 0, 1, 10, 100, 256, 500, 1000, 1023, 2000]) - LOWEST
    assert curve[places].tolist() == [0, 0, 4, 16, 67, 128, 191, 254, 255, 255]
    assert curve.sum(dtype=np.int64) == 8273369
