"""The time of calls from measurements: which routine, which extents, and how threads share them."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import pytest

from polymat import Complex, Double, Exp, Matrix, Vector, symm, syrk, trmm
from polymat.idiom.librarymodel import AXES, LibraryModel
from polymat.idiom.librarytransforms import transform_seconds
from polymat.idiom.measuredcalls import measured_seconds
from polymat.idiom.profit import DIAGONAL, call_seconds, completed
from polymat.machine.calibrate import Rate
from polymat.machine.grid import Grid
from polymat.machine.known import GENERIC
from polymat.machine.producttimes import ProductTimes
from tests.idiom.recognise import K, M, N, alpha, beta, i, j, k, recognised, total, upto
from tests.machine.test_model import MEASURED

LEVELS = (1, 64)
X, Z = Matrix(Double, "X", [M, N]), Matrix(Complex, "Z", [M, N])
SIZES = {"M": 5, "N": 6, "K": 7}
A, B, C = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Matrix(Double, "C", [M, M])
E, F = Matrix(Double, "E", [N, K]), Matrix(Double, "F", [K, M])
D, x, y = Matrix(Double, "D", [M, N]), Vector(Double, "x", [K]), Vector(Double, "y", [M])


def model(scale: float = 1.0, dtype: str = "float64") -> LibraryModel:
    """Times from which the routine and the order of extents can be told."""
    grids = {}
    for number, (routine, axes) in enumerate(AXES.items(), 1):
        levels = (LEVELS,) * len(axes)
        powers = range(1, len(axes) + 1)
        seconds = [scale * number * _product(point, powers) for point in itertools.product(*levels)]
        grids[routine, dtype] = Grid(levels, tuple(seconds))
    return LibraryModel("", "", "", grids)


def _product(point: tuple[int, ...], powers: Any) -> float:
    result = 1e-9
    for extent, power in zip(point, powers, strict=True):
        result *= float(extent) ** power
    return result


def expected(routine: str, *extents: float) -> float:
    number = list(AXES).index(routine) + 1
    result = number * 1e-9
    for power, extent in enumerate(extents, 1):
        result *= extent**power
    return result


@pytest.mark.parametrize(
    ("output", "routine", "extents"),
    [
        (lambda: A * B, "gemm", (5, 6, 7)),
        (lambda: A * E.T, "gemm_t", (5, 6, 7)),
        (lambda: F.T * E.T, "gemm", (5, 6, 7)),
        (lambda: A * x, "gemv", (5, 7)),
        (lambda: y @ A, "gemv_t", (5, 7)),
        (lambda: symm(C, D, Matrix(Double, "E", [M, N]), M, N, alpha, beta), "symm", (5, 6)),
        (lambda: syrk(A, C, alpha, beta), "syrk", (5, 7)),
        (lambda: trmm(C, D, alpha), "trmm", (5, 6)),
    ],
)
def test_the_extents_of_routines(output: Any, routine: str, extents: tuple[float, ...]) -> None:
    found = recognised(output()).idiom
    assert found is not None
    (call,) = found.calls
    assert call.routine == routine.removesuffix("_t")
    assert measured_seconds(call, model(), SIZES, 1) == pytest.approx(expected(routine, *extents))


def test_threads_share_the_longest_axis_or_the_batch() -> None:
    found = recognised(A * B).idiom
    assert found is not None
    (call,) = found.calls
    assert measured_seconds(call, model(), SIZES, 2) == pytest.approx(expected("gemm", 5, 3, 7))
    assert measured_seconds(call, model(), {**SIZES, "M": 8}, 4) == pytest.approx(expected("gemm", 2, 6, 7))
    assert measured_seconds(call, model(), {**SIZES, "N": 0}, 4) == pytest.approx(
        expected("gemm", 1.25, 1, 7)
    )


def test_threads_share_a_triangle_in_strips_of_the_same_area() -> None:
    """Each calls for its part of the diagonal, and for the product beside that."""
    found = recognised(syrk(A, C, alpha, beta)).idiom
    assert found is not None
    (call,) = found.calls
    sizes, half = {**SIZES, "M": 50}, 50.0 * math.sqrt(0.5)
    first, last = expected("syrk", half, 7), expected("syrk", 50 - half, 7)
    strips = (first, last + expected("gemm", 50 - half, half, 7))
    assert measured_seconds(call, model(), sizes, 2) == pytest.approx(max(strips))
    assert measured_seconds(call, model(), sizes, 1) == pytest.approx(expected("syrk", 50, 7))


def test_threads_together_are_as_much_slower_as_their_peak() -> None:
    """Of routines whose sharing nobody timed; each thread computes as fast as it does beside the others."""
    found = recognised(symm(C, D, Matrix(Double, "E", [M, N]), M, N, alpha, beta)).idiom
    assert found is not None
    slow = replace(MEASURED, threads=2, flops64=Rate(2e10, 3e10))
    machine = replace(GENERIC, cores=2).with_calibration(slow)
    sizes = {**SIZES, "N": 12}
    assert call_seconds(found, machine, sizes, 1, model()) == pytest.approx(expected("symm", 5, 12))
    assert call_seconds(found, machine, sizes, 2, model()) == pytest.approx(4 / 3 * expected("symm", 5, 6))


@pytest.mark.parametrize("threads", [1, 2])
def test_routines_that_were_not_measured_go_by_whole_products(threads: int) -> None:
    """Where products alone were timed: half of one for a triangle, with the blocks on its diagonal."""
    levels = (50, 1000)
    seconds = tuple(2.0 * m * n * inner / 1e10 for m, n, inner in itertools.product(levels, repeat=3))
    tables = tuple(ProductTimes(8, team, levels, tuple(s / team for s in seconds)) for team in (1, 2))
    machine = replace(GENERIC, cores=2)
    timed = completed(LibraryModel("", "", "", {}, tables), machine)
    sizes, whole = dict.fromkeys("MNK", 1000), 0.2 / threads
    shares = {
        "syrk": (syrk(A, C, alpha, beta), 0.5 * (1 + DIAGONAL / 1000)),
        "symm": (symm(C, D, Matrix(Double, "E", [M, N]), M, N, alpha, beta), 1.0),
        "trmm": (trmm(C, D, alpha), 0.5 * (1 + DIAGONAL / 1000)),
    }
    for routine, (output, share) in shares.items():
        found = recognised(output).idiom
        assert found is not None
        assert [call.routine for call in found.calls] == [routine]
        assert call_seconds(found, machine, sizes, threads, timed) == pytest.approx(share * whole)


def test_what_was_not_measured_goes_by_the_peak() -> None:
    found = recognised(Matrix(Complex, "P", [M, K]) * Matrix(Complex, "Q", [K, N])).idiom
    assert found is not None
    assert measured_seconds(found.calls[0], model(), SIZES, 1) is None
    assert call_seconds(found, GENERIC, SIZES, 1, model()) == call_seconds(found, GENERIC, SIZES, 1)
    assert call_seconds(found, GENERIC, SIZES, 1, model(dtype="complex128")) == pytest.approx(
        expected("gemm", 5, 6, 7)
    )


@pytest.mark.parametrize(("source", "unit"), [(Z, 1e-9), (X, 1e-10)])
def test_transforms(source: Any, unit: float) -> None:
    """A batch is shared out; real inputs have times of their own; what was not measured goes by the peak."""
    grids = {
        ("fft", "complex128"): Grid((LEVELS,), (1e-9, 64e-9)),
        ("fft", "float64"): Grid((LEVELS,), (1e-10, 64e-10)),
    }
    speeds = LibraryModel("", "", "", grids)
    wave = Exp(-2j * math.pi * j * k / N)
    value = source(i, k) * wave
    rows = total("y", [(i, upto(M)), (j, upto(N))], [(k, upto(N))], value, dtype=Complex)
    found = recognised(rows).transform
    assert found is not None
    for threads, batch in ((1, 6), (2, 3)):
        seconds = transform_seconds(found, GENERIC, {"M": 6, "N": 8}, threads, speeds)
        assert seconds == pytest.approx(batch * 8 * unit)
    prime = {"M": 6, "N": 17}
    estimate = transform_seconds(found, GENERIC, prime, 1)
    assert transform_seconds(found, GENERIC, prime, 1, speeds) == estimate
