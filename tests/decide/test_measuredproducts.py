"""Own products or the library's, where both were timed as a whole: the quicker one, with what follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import polymat as pm
from polymat.idiom.librarymodel import LibraryModel
from polymat.machine.calibrate import Rate
from polymat.machine.grid import Grid
from polymat.machine.known import HASWELL
from polymat.machine.model import Machine
from polymat.machine.producttimes import SHARED, ProductTimes, triples
from polymat.product.blocks import modelled_block
from tests.hosts import CompileFor, StatedLibraries
from tests.machine.test_model import MEASURED
from tests.tolerance import assert_close

N = pm.Parameter(pm.Int, "N")
A, B = pm.Matrix(pm.Double, "A", [N, N]), pm.Matrix(pm.Double, "B", [N, N])
LEVELS = (50, 1000)
PEAK = 48e9  # of one thread
Speed = Callable[[int, int, int], float]


def tables(speed: Speed, levels: tuple[int, ...] = LEVELS) -> tuple[ProductTimes, ...]:
    """Products of both types at so much of the peak, of one thread and of two, which share large ones."""
    points = [*triples(levels)]

    def seconds(m: int, n: int, k: int, size: int, threads: int) -> float:
        team = threads if m * n * k >= SHARED else 1
        return 2.0 * m * n * k / (PEAK * 8 / size * team * speed(m, n, k))

    return tuple(
        ProductTimes(
            *(size, threads, levels, tuple(seconds(*point, size, threads) for point in points)),
            modelled_block(HASWELL),
        )
        for size in (4, 8)
        for threads in (1, 2)
    )


def stated(own: Speed, calls: Speed, levels: tuple[int, ...] = LEVELS) -> tuple[Machine, StatedLibraries]:
    """A machine on which products are so fast, and a library of which nothing else was timed."""
    flops = (Rate(2 * PEAK, 4 * PEAK), Rate(PEAK, 2 * PEAK))
    calibration = replace(MEASURED, threads=2, blocks=(), flops32=flops[0], flops64=flops[1])
    calibration = replace(calibration, products=tables(own, levels))
    machine = replace(HASWELL, cores=2).with_calibration(calibration)
    return machine, StatedLibraries({"blas": LibraryModel("", "", "", {}, tables(calls, levels))})


def routines(compiled: pm.Compiled) -> list[str]:
    """The routine of each group, or a dash."""
    return [",".join(group.library_calls) or "-" for group in compiled.explain().groups]


def groups(compile_for: CompileFor, product: pm.Function, size: int, own: Speed, calls: Speed) -> list[str]:
    """The same of a product of squares, at a size."""
    compile_for(*stated(own, calls))
    compiled = pm.compile(product, inputs=[A, B], estimates={N: size}, name="timed")
    return routines(compiled)


def even(speed: float) -> Speed:
    """The same share of the peak at all extents."""
    return lambda _m, _n, _k: speed


@pytest.mark.parametrize("size", [300, 1000, 3000])
def test_the_quicker_way_is_taken(compile_for: CompileFor, size: int) -> None:
    assert groups(compile_for, A @ B, size, even(0.8), even(0.9)) == ["gemm"]
    assert groups(compile_for, A @ B, size, even(0.9), even(0.8)) == ["-"]


def test_what_differs_by_less_than_is_measured_stays_own_code(compile_for: CompileFor) -> None:
    assert groups(compile_for, A @ B, 1000, even(0.9), even(0.91)) == ["-"]


def test_extents_decide(compile_for: CompileFor) -> None:
    """Between those that were timed, too."""

    def calls(m: int, n: int, k: int) -> float:
        return 0.45 if min(m, n, k) < 1000 else 0.98

    sizes = (50, 200, 900, 1000)
    found = [groups(compile_for, A @ B, size, even(0.7), calls) for size in sizes]
    assert found == [["-"], ["-"], ["gemm"], ["gemm"]]


@pytest.mark.parametrize(("between", "taken"), [(0.9, "gemm"), (0.6, "-")])
def test_calls_that_some_extents_say_little_of_at_others_have_to_be_clearly_quicker(
    compile_for: CompileFor, between: float, taken: str
) -> None:
    """They are predicted to take 0.89 of the time at 700, by what was timed at 300 and at 1000."""
    levels = (100, 300, 1000)
    machine, libraries = stated(even(0.8), lambda m, n, k: between if 100 in (m, n, k) else 0.9, levels)
    compile_for(machine, libraries)
    assert routines(pm.compile(A @ B, inputs=[A, B], estimates={N: 700}, name="timed")) == [taken]


def test_what_follows_a_product_counts(compile_for: CompileFor) -> None:
    """In registers it costs nothing: a library has to save more than a pass over the result takes."""
    C, D = pm.Matrix(pm.Double, "C", [1000, 100]), pm.Matrix(pm.Double, "D", [100, 1000])
    positive = pm.Max(C @ D, 0.0).named("positive")

    def found(product: pm.Function, own: float, calls: float) -> list[str]:
        compile_for(*stated(even(own), even(calls)))
        return routines(pm.compile(product, inputs=[C, D], name="timed"))

    assert found(C @ D, 0.8, 0.9) == ["gemm"]
    assert found(positive, 0.8, 0.9) == ["-"]
    assert found(positive, 0.4, 0.9) == ["gemm", "-"]


def test_routines_that_were_not_timed_are_estimated_as_ever(compile_for: CompileFor) -> None:
    """How products of a library do beside their estimates says nothing of its products with triangles."""
    half = pm.trmm(A, B, 2.0).named("half")
    assert groups(compile_for, half, 1000, even(0.85), even(0.95)) == ["-"]


@pytest.mark.parametrize(("speed", "taken"), [(0.9, "-"), (1.2, "trmm")])
def test_routines_that_were_timed_alone_have_to_be_clearly_quicker(
    compile_for: CompileFor, speed: float, taken: str
) -> None:
    """What is known of products by turns says nothing of them."""
    levels = (1, *LEVELS)
    seconds = tuple(m * m * n / (PEAK * speed) for m in levels for n in levels)
    machine, _ = stated(even(0.85), even(0.95))
    grids = {("trmm", "float64"): Grid((levels, levels), seconds)}
    model = LibraryModel("", "", "", grids, tables(even(0.95)))
    compile_for(machine, StatedLibraries({"blas": model}))
    half = pm.trmm(A, B, 2.0).named("half")
    found = pm.compile(half, inputs=[A, B], estimates={N: 1000}, name="timed")
    assert routines(found) == [taken]


def test_fast_shapes_of_a_library_are_asked_for_where_nothing_is_said_of_sizes(
    compile_for: CompileFor,
) -> None:
    """Own code is quicker at the sizes that are assumed."""
    narrow = stated(even(0.8), lambda m, n, k: 0.95 if min(m, n, k) < max(m, n, k) else 0.6)
    compile_for(*narrow)
    M, K = pm.Parameter(pm.Int, "M"), pm.Parameter(pm.Int, "K")
    product = pm.Matrix(pm.Double, "C", [M, K]) @ pm.Matrix(pm.Double, "D", [K, N])
    assert routines(pm.compile(product, name="shaped")) == ["gemm"]


def test_the_generated_code_chooses_at_each_call(compile_for: CompileFor) -> None:
    compile_for(*stated(even(0.7), lambda m, n, k: 0.35 if min(m, n, k) < 1000 else 0.98))
    compiled = pm.compile(A @ B, name="chosen")
    assert compiled.source is not None
    assert "_pm_ratio_8(" in compiled.source
    for size in (0, 1, 40, 130):
        a, b = np.random.default_rng(size).random((2, size, size))
        assert_close(compiled(a, b), a @ b, roundings=size + 4, magnitude=size + 1.0)
