"""NPBench's programs: compiled once each, beside NumPy at odd sizes and at the least that each is for."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from benchmarks.cases import Judge
from benchmarks.npbench import PROGRAMS, find_program
from benchmarks.npbench.mandelbrot import followed, grid
from benchmarks.peers.array_libraries import prepare_numpy
from benchmarks.polybench.kernel import Array, Sizes
from benchmarks.sections.npbench import program_case
from polymat import Options

# Odd sizes, then the least ones: by the names of the first, in their order.
SIZES: dict[str, tuple[Sizes, tuple[int, ...]]] = {
    "hdiff": ({"X": 5, "Y": 7, "K": 3}, (1, 1, 0)),
    "vadv": ({"X": 3, "Y": 5, "K": 7}, (1, 1, 2)),
    "cavity_flow": ({"Y": 7, "X": 9, "T": 3, "P": 4}, (3, 3, 1, 0)),
    "nbody": ({"N": 7, "T": 5}, (1, 0)),
    "mandelbrot1": ({"X": 23, "Y": 17, "T": 19}, (2, 2, 0)),
    "mandelbrot2": ({"X": 23, "Y": 17, "T": 19}, (2, 2, 1)),
    "arc_distance": ({"N": 37}, (0,)),
    "compute": ({"M": 5, "N": 7}, (0, 3)),
    "go_fast": ({"N": 13}, (0,)),
    "azimint_naive": ({"N": 101, "B": 7}, (1, 1)),
    "azimint_hist": ({"N": 101, "B": 7}, (2, 1)),
    "crc16": ({"N": 37}, (0,)),
    "spmv": ({"M": 11, "N": 7, "NNZ": 29}, (0, 1, 0)),
    "scattering_self_energies": (
        {"K": 2, "E": 5, "Q": 3, "W": 2, "D": 2, "A": 7, "B": 3, "N": 3}, (1, 1, 1, 3, 1, 1, 1, 1),
    ),
    "softmax": ({"N": 3, "H": 2, "S": 7}, (1, 1, 1)),
    "mlp": ({"N": 3, "C": 3, "S0": 17, "S1": 11, "S2": 5}, (1, 1, 1, 1, 1)),
    "conv2d_bias": ({"N": 2, "C_in": 3, "C_out": 5, "K": 3, "H": 9, "W": 7}, (1, 1, 1, 1, 1, 1)),
    "lenet": ({"N": 2, "H": 17, "W": 22}, (1, 16, 16)),
    "resnet": ({"N": 3, "H": 5, "W": 4, "C": 7, "D": 3}, (1, 1, 1, 1, 1)),
    "channel_flow": ({"Y": 7, "X": 9, "T": 3, "P": 4}, (3, 3, 1, 0)),
    "contour_integral": ({"R": 5, "M": 3, "Z": 4}, (1, 1, 1)),
    "stockham_fft": ({"N": 32}, (1,)),
}  # fmt: skip
EACH = pytest.mark.parametrize("name", SIZES)


@cache
def compiled(name: str) -> Any:
    """In blocks for two threads however small arrays are."""
    return find_program(name).compile(options=Options(parallel_threshold=0, threads=2))


def test_every_program_has_sizes() -> None:
    assert list(SIZES) == [program.name for program in PROGRAMS]


@EACH
def test_compiled_equals_numpy(name: str, seed: int) -> None:
    program, (odd, least) = find_program(name), SIZES[name]
    for sizes in (odd, dict(zip(odd, least, strict=True))):
        arrays = program.inputs(sizes, np.random.default_rng(seed))
        found = compiled(name)(*arrays.values(), **program.named(sizes))
        bounds = program.bounds(arrays, sizes)
        results = found if isinstance(found, tuple) else (found,)
        for (result, right), array in zip(program.solve(arrays, sizes).items(), results, strict=True):
            assert array.dtype == right.dtype
            assert array.shape == right.shape
            assert np.array_equal(np.isnan(array), np.isnan(right))
            assert not np.any(np.abs(array - right) > bounds[result])


@EACH
def test_interpreted_equals_numpy(name: str, seed: int) -> None:
    program, (sizes, _) = find_program(name), SIZES[name]
    arrays = program.inputs(sizes, np.random.default_rng(seed))
    found = compiled(name).reference(*arrays.values(), **program.named(sizes))
    bounds = program.bounds(arrays, sizes)
    results = found if isinstance(found, tuple) else (found,)
    for (result, right), array in zip(program.solve(arrays, sizes).items(), results, strict=True):
        assert not np.any(np.abs(array - right) > bounds[result])


def test_a_case_is_judged_by_its_own_bounds() -> None:
    case = program_case(find_program("conv2d_bias"), "S")
    (right,) = prepare_numpy(case.task).call()
    assert Judge(case).error(right) == 0
    right[..., -1, -1] *= 1.001
    assert Judge(case).error(right) > 1


def solved(name: str, sizes: Sizes, *arrays: Array) -> dict[str, Array]:
    program = find_program(name)
    return program.reference(*arrays, **program.named(sizes))


def test_numpy_checks_the_digits_that_every_check_sum_is_told_by() -> None:
    """CRC-16/X-25 of "123456789" is 0x906E, here with its bytes the other way round."""
    digits = np.frombuffer(b"123456789", np.uint8)
    assert solved("crc16", {}, digits)["crc"] == 0x6E90


def test_numpy_solves_the_systems_of_each_column(seed: int) -> None:
    arrays = find_program("vadv").inputs({"X": 2, "Y": 3, "K": 6}, np.random.default_rng(seed))
    tendency, now, wind, before, forcing = arrays.values()
    x = solved("vadv", {}, *arrays.values())["out"] / 0.15 + before
    half = 0.125 * (wind[1:] + wind[:-1])
    for i, j in np.ndindex(2, 3):
        w = half[i, j, 1:]
        matrix = np.diag(0.15 + np.append(0, w) - np.append(w, 0)) + np.diag(w, 1) - np.diag(w, -1)
        coupled = np.append(0, w * np.diff(now[i, j])) + np.append(w * np.diff(now[i, j]), 0)
        right = 0.15 * before[i, j] + forcing[i, j] + tendency[i, j] - coupled
        np.testing.assert_allclose(matrix @ x[i, j], right, atol=1e-8 * np.abs(x).max())


def test_numpy_leaves_two_bodies_apart() -> None:
    alone = solved("nbody", {"T": 3}, np.ones(2), np.array([[0.0] * 3, [1e6, 0, 0]]), np.eye(2, 3))
    np.testing.assert_allclose(alone["kinetic"], alone["kinetic"][0])
    np.testing.assert_allclose(alone["potential"], -1e-6, rtol=1e-5)


def test_numpy_follows_the_edge_of_the_plane() -> None:
    z, count = followed(np.array([0, -2, 1, 0.25, 3 + 0j]), 50)
    assert count.tolist() == [50, 1, 2, 50, 1]
    assert abs(z[1]) == 2
    assert z[2] == 2
    assert grid(3, 2, -1.0, 1.0, 0.0, 1.0).tolist() == [[-1, 0, 1], [-1 + 1j, 1j, 1 + 1j]]
