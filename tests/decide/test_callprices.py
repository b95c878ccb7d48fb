"""The same source with two libraries: the sizes from which each is called follow what was measured of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import polymat as pm
from benchmarks.providers import triangle
from polymat import Case, Condition, Double, Int, Matrix, Options, Parameter, Variable, Vector
from polymat.decide import callprices
from polymat.decide.callplans import TRUSTED, CallPlanner
from polymat.decide.decider import Decider
from polymat.errors import ToolchainError
from polymat.idiom.librarymodel import Kind, Libraries, LibraryModel
from polymat.machine.grid import Grid
from polymat.machine.known import GENERIC
from polymat.machine.model import Machine
from polymat.plan.kernel import KernelPlan
from polymat.plan.library import CallPlan
from polymat.plan.schedule import Schedule
from polymat.tilesize.cost import PlanCost, plan_cost
from polymat.tilesize.home import Home
from polymat.tilesize.loopprice import OVERLAP_LOSS
from tests.hosts import CompileFor, StatedLibraries, as_stated
from tests.idiom.recognise import pipeline, point, total, upto
from tests.tolerance import assert_close

N = Parameter(Int, "N")
LEVELS = tuple(2**k for k in range(11))
MEASURED = as_stated(GENERIC)


def library(call_seconds: float, flops: float, routine: str = "gemm", sizes: int = 3) -> LibraryModel:
    """A library that computes so fast; `sizes` is how many a routine takes."""
    points = itertools.product(LEVELS, repeat=sizes)
    seconds = tuple(call_seconds + 2.0 * math.prod(point) / flops for point in points)
    return LibraryModel("", "", "", {(routine, "float64"): Grid((LEVELS,) * sizes, seconds)})


def blas(model: LibraryModel) -> StatedLibraries:
    """Libraries of which the BLAS alone was measured."""
    return StatedLibraries({"blas": model})


def least(libraries: Libraries) -> float:
    """The multiplications from which a product is called."""
    A, B = Matrix(Double, "A", [N, N]), Matrix(Double, "B", [N, N])
    built = pipeline(A * B)
    names = tuple(stage.name for stage in built.stages)
    plan = CallPlanner(built, MEASURED, {"N": 100}, Options(blas="auto"), 1, libraries).plan(names)
    assert isinstance(plan, CallPlan)
    return plan.least


def test_the_crossover_follows_the_measurements() -> None:
    peak = GENERIC.peak_flops(8)
    nimble, sluggish = library(2e-8, 1.2 * peak), library(2e-6, 1.4 * peak)
    assert least(blas(nimble)) < least(blas(sluggish)) < 256**3
    assert least(blas(library(1e-8, peak / 1000))) == 256**3


def test_a_library_that_cannot_be_used_leaves_the_estimate() -> None:
    @dataclass(frozen=True)
    class Missing:
        def has(self, kind: Kind, routines: Collection[str]) -> bool:
            return True

        def model(self, kind: Kind) -> LibraryModel:
            raise ToolchainError("POLYMAT_BLAS names no library")

    assert least(Missing()) == least(StatedLibraries())


A, B, C = (Matrix(Double, name, [N, N]) for name in "ABC")
HALVES: dict[str, Callable[[], Any]] = {
    "syrk": lambda: pm.syrk(A, C, 2.0, 3.0),
    "syr2k": lambda: pm.syr2k(A, B, C, 2.0, 3.0),
    "symm": lambda: pm.symm(A, B, C, N, N, 2.0, 3.0),
    "trmm": lambda: pm.trmm(A, B, 2.0),
    "gemm": lambda: pm.gemm(A, B, C, 2.0, 3.0),
}


@pytest.mark.parametrize("routine", HALVES)
def test_calls_with_register_blocks_for_small_sizes(compile_for: CompileFor, routine: str) -> None:
    """Both ways are in one library, and the crossover lies between the sizes that are tried."""
    fast = library(1e-5, 1e15, routine, 2 if routine in ("syrk", "syr2k", "symm", "trmm") else 3)
    compile_for(libraries=blas(fast))
    compiled = pm.compile(HALVES[routine](), name="half", inputs=None, estimates={N: 500})
    (group,) = compiled.explain().groups
    assert group.library_calls == (routine,), str(group)
    assert "at each call" in group.reason
    for size in (0, 1, 7, 33, 150):
        arrays = np.random.default_rng(size).random((len(compiled.signature.inputs), size, size))
        bound = 100.0 * (size + 1) ** 2
        assert_close(compiled(*arrays), compiled.reference(*arrays), roundings=size + 4, magnitude=bound)


def awkward(slow: float, fast: float, dtype: str = "float64") -> LibraryModel:
    """A library that is fast at products with few columns alone."""
    points = itertools.product(LEVELS, repeat=3)
    seconds = tuple(2.0 * m * n * k * (fast if n <= 16 else slow) for m, n, k in points)
    return LibraryModel("", "", "", {("gemm", dtype): Grid((LEVELS,) * 3, seconds)})


def test_the_shape_of_complex_products_decides_at_each_call(compile_for: CompileFor) -> None:
    """Own code multiplies pairs and real parts, which are no arrays of the program."""
    compile_for(libraries=blas(awkward(1e-8, 1e-14, "complex128")))
    M, K = Parameter(Int, "M"), Parameter(Int, "K")
    left, right = Matrix(pm.Complex, "A", [M, K]), Matrix(pm.Complex, "B", [K, N])
    compiled = pm.compile([left @ right], name="pairs")
    assert compiled.source is not None
    assert "_pm_seconds_gemm_complex128(" in compiled.source
    for m, n, k in ((0, 1, 1), (3, 3, 0), (1, 1, 1), (300, 3, 70), (50, 60, 70)):
        A, B = (np.random.default_rng(m).random((2, *shape)) for shape in ((m, k), (k, n)))
        A, B = A[0] + 1j * A[1], B[0] + 1j * B[1]
        assert_close(compiled(A, B), A @ B, roundings=k + 4, magnitude=2.0 * k + 1.0)


def test_complex_products_with_a_plane_of_each_step(compile_for: CompileFor) -> None:
    """The step in an index of an operand is no dimension of the product."""
    compile_for(libraries=blas(awkward(1e-8, 1e-14, "complex128")))
    T, i, j = Parameter(Int, "T"), pm.Variable(Int, "i"), pm.Variable(Int, "j")
    planes, first = pm.Image(pm.Complex, "planes", [T, N, N]), Matrix(pm.Complex, "first", [N, N])

    def step(state: Any, t: Any) -> Any:
        plane = pm.Function(([i, j], [pm.Interval(Int, 0, N - 1)] * 2), pm.Complex, "plane")
        plane.defn = [pm.Conj(planes(t - 1, i, j))]
        return pm.einsum("ab,ac,bd->cd", state, plane, planes_at(t))

    def planes_at(t: Any) -> Any:
        plane = pm.Function(([i, j], [pm.Interval(Int, 0, N - 1)] * 2), pm.Complex, "other")
        plane.defn = [planes(t - 1, i, j)]
        return plane

    compiled = pm.compile(pm.iterate(step, first, steps=T), inputs=[planes, first], name="planes_of_steps")
    for steps, size in ((0, 3), (1, 1), (3, 7)):
        parts = np.random.default_rng(size).random((2, steps + 1, size, size))
        *several, state = parts[0] + 1j * parts[1]
        given = np.array(several, dtype=complex).reshape(steps, size, size)
        wanted = state
        for plane in given:
            wanted = plane.conj().T @ wanted @ plane
        np.testing.assert_allclose(compiled(given, state), wanted, rtol=1e-12)


def test_the_shape_decides_at_each_call(compile_for: CompileFor) -> None:
    """Where nothing is said of the sizes, the generated code compares both ways at each call."""
    compile_for(libraries=blas(awkward(1e-8, 1e-14)))
    M, K = Parameter(Int, "M"), Parameter(Int, "K")
    product = Matrix(Double, "A", [M, K]) @ Matrix(Double, "B", [K, N])
    compiled = pm.compile([product], name="skewed")
    (group,) = compiled.explain().groups
    assert group.library_calls == ("gemm",)
    assert "at each call" in group.reason
    assert compiled.source is not None
    assert "_pm_seconds_gemm_float64(" in compiled.source
    for m, n, k in ((0, 1, 1), (1, 0, 3), (3, 3, 0), (1, 1, 1), (300, 3, 300), (50, 60, 70), (3, 300, 300)):
        A, B = np.random.default_rng(m).random((m, k)), np.random.default_rng(n).random((k, n))
        assert_close(compiled(A, B), A @ B, roundings=k + 4, magnitude=k + 1.0)


def test_estimates_decide_where_they_are_given(compile_for: CompileFor) -> None:
    compile_for(libraries=blas(awkward(1e-8, 1e-14)))
    M, K = Parameter(Int, "M"), Parameter(Int, "K")
    product = Matrix(Double, "A", [M, K]) @ Matrix(Double, "B", [K, N])
    for columns, calls in ((8, ("gemm",)), (500, ())):
        compiled = pm.compile([product], name="given", estimates={M: 500, K: 500, N: columns})
        (group,) = compiled.explain().groups
        assert group.library_calls == calls


def test_loops_over_a_triangle_are_cheaper() -> None:
    """Per multiplication of the square around it, which is what a call counts."""
    libraries = blas(library(1e-8, 1e9, "trmm", 2))
    options = Options(blas="auto", kernels=False)
    built = pipeline(triangle()[0])
    whole, half = (_choice(built, libraries, options, TRIANGLE=share) for share in (1.0, 0.25))
    assert half == pytest.approx(0.25 * whole)


def test_loops_down_columns_are_dearer() -> None:
    """Of a symmetric matrix one triangle is read along its rows and the other one down its columns."""
    libraries = blas(library(1e-8, 1e9, "symv", 1))
    i, k = Variable(Int, "i"), Variable(Int, "k")
    x, square = Vector(Double, "x", [N]), [(i, upto(N)), (k, upto(N))]
    lower = [Case(Condition(k, "<=", i), A(i, k)), Case(Condition(k, ">", i), A(k, i))]
    full = point("full", square, lower)
    built = pipeline(total("y", square[:1], square[1:], full(i, k) * x(k)))
    rows, both = (_choice(built, libraries, Options(blas="auto"), COLUMNS=times) for times in (1.0, 9.0))
    assert both == pytest.approx(5.0 * rows)


def _choice(built: Any, libraries: Libraries, options: Options, **prices: float) -> float:
    """Seconds of a multiplication in loops, with such a price of a triangle or of columns."""
    with pytest.MonkeyPatch.context() as patched:
        for name, price in prices.items():
            patched.setattr(callprices, name, price)
        planner = CallPlanner(built, MEASURED, {"N": 100}, options, 1, libraries)
        plan = planner.plan(tuple(s.name for s in built.stages))
    assert isinstance(plan, CallPlan)
    assert plan.choice is not None
    return plan.choice.each


@pytest.mark.covering
@pytest.mark.parametrize("options", [Options(), Options.paper()], ids=["default", "paper"])
@pytest.mark.parametrize(("first", "less"), [(3, 1), (0, 4), (1, 2)])
def test_products_over_a_part_of_a_matrix(first: int, less: int, options: Options) -> None:
    """At the smallest of the sizes that a price is asked for, the part is empty and costs nothing."""
    K = Parameter(Int, "K")
    A, B = Matrix(Double, "A", [N, K]), Matrix(Double, "B", [K, N])
    i, j, k = (pm.Variable(Int, name) for name in "ijk")
    part, whole, depth = (
        pm.Interval(Int, lower, upper) for lower, upper in ((first, N - less), (0, N - 1), (0, K - 1))
    )
    C = pm.Reduction(([i, j], [part, whole]), ([i, j, k], [part, whole, depth]), Double, "C")
    C.defn = [pm.Reduce(C(i, j), A(i, k) * B(k, j), pm.Op.Sum)]
    compiled = pm.compile(C, inputs=[A, B], options=options)
    rng = np.random.default_rng(3)
    for n, depths in ((4, 3), (5, 0), (17, 65)):
        a, b = rng.standard_normal((n, depths)), rng.standard_normal((depths, n))
        assert_close(
            compiled(a, b), compiled.reference(a, b), roundings=2 * depths + 2, magnitude=depths * 20.0
        )


SQUARES = [Matrix(Double, name, [500, 500]) for name in "ABC"]
WHOLE: dict[str, Callable[..., Any]] = {
    "gemm": lambda A, B, C: A @ B,
    "gemm and more": lambda A, B, C: pm.gemm(A, B, C, 2.0, 3.0),
    "syrk": lambda A, B, C: pm.syrk(A, C, 2.0, 3.0),
    "trmm": lambda A, B, C: pm.trmm(A, B, 2.0),
}


def scheduled(output: Any, machine: Machine, libraries: Libraries | None = None) -> Schedule:
    """The schedule of an output on one thread, by libraries of which nothing was measured."""
    decider = Decider(pipeline(output), machine, {}, Options(threads=1), libraries or StatedLibraries())
    return decider.schedule(decider.grouping())


@pytest.mark.parametrize("what", WHOLE)
def test_without_measurements_the_library_is_preferred(what: str) -> None:
    """Where it computes all of a group, and own code is predicted to be somewhat quicker."""
    output = WHOLE[what](*SQUARES)
    (own,), (call,) = (scheduled(output, machine).plans for machine in (MEASURED, GENERIC))
    assert not own.library
    assert call.library == "blas"
    assert call.reason.endswith(f"; {TRUSTED}")


@pytest.mark.parametrize(
    ("times", "measured", "without"),
    [(0.7, "call", "call"), (0.95, "own", "trusted"), (1.3, "own", "trusted"), (1.37, "own", "own")],
)
def test_the_library_is_preferred_within_a_third(times: float, measured: str, without: str) -> None:
    """times: as long as own code it is predicted to take."""
    A, B, _ = SQUARES
    built = pipeline(A @ B)
    (stage,) = (stage.name for stage in built.stages)
    planner = CallPlanner(built, GENERIC, {}, Options(), 1, StatedLibraries())
    plan = planner.plan((stage,))
    assert isinstance(plan, CallPlan)
    assert isinstance(plan.loops, KernelPlan)
    seconds = times * planner.prices.kernel_seconds(plan.loops, {})
    libraries = blas(library(1e-12, 2.0 * 500**3 / seconds))
    found = [scheduled(A @ B, machine, libraries).plans[0] for machine in (MEASURED, GENERIC)]
    ways = ["own" if not each.library else "trusted" if TRUSTED in each.reason else "call" for each in found]
    assert ways == [measured, without]


def test_what_follows_a_product_stays_with_it_without_measurements() -> None:
    """A library computes only a part of that group, and is predicted to be slower."""
    A, B, _ = SQUARES
    positive = pm.Max(A @ B, 0.0)
    assert [plan.library for plan in scheduled(positive, GENERIC).plans] == [""]


def test_asking_at_each_call_is_no_gain_by_itself() -> None:
    """Where own code is quicker at the assumed sizes, a call that asks costs what own code does.

    A product alone asks; what follows it stays in its registers rather than let it ask.
    """
    M, K = Parameter(Int, "M"), Parameter(Int, "K")
    product = Matrix(Double, "A", [M, K]) @ Matrix(Double, "B", [K, N])
    libraries = blas(awkward(1e-8, 1e-14))
    (alone,) = scheduled(product, MEASURED, libraries).plans
    assert alone.library == "blas"
    assert [plan.library for plan in scheduled(pm.Max(product, 0.0), MEASURED, libraries).plans] == [""]


def priced(output: Any, machine: Machine = MEASURED) -> tuple[CallPlan, PlanCost]:
    """The calls of all stages of an output, of a quick library, and what they are predicted to take."""
    built = pipeline(output)
    planner = CallPlanner(built, machine, {}, Options(threads=1), 1, QUICK)
    plan = planner.plan(tuple(stage.name for stage in built.stages))
    assert isinstance(plan, CallPlan)
    return plan, plan_cost(built, plan, machine, {}, 1, Home.of(built, machine, {}))


QUICK = StatedLibraries(
    {
        "blas": LibraryModel(
            "",
            "",
            "",
            {
                **library(1e-9, 4.0 * GENERIC.peak_flops(8)).grids,
                **library(1e-9, 4.0 * GENERIC.peak_flops(8), "gemv", sizes=2).grids,
            },
        )
    }
)


@pytest.mark.parametrize(
    ("shape", "share"),
    [((2, 4, 16384), (2 + 16384) * 4 / (2 * 4 + 4 * 16384 + 2 * 16384)), ((500, 500, 500), 0.0)],
)
def test_nothing_hides_that_a_library_packs_what_own_code_reads_in_place(
    shape: tuple[int, int, int], share: float
) -> None:
    m, k, n = shape
    plan, cost = priced(Matrix(Double, "A", [m, k]) @ Matrix(Double, "B", [k, n]))
    assert plan.called
    assert cost.apart == pytest.approx(share * cost.moving)
    shorter, longer = sorted((cost.computing, cost.moving))
    apart = min(cost.apart, shorter)
    assert cost.seconds == pytest.approx(longer + apart + OVERLAP_LOSS * (shorter - apart))


def test_a_matrix_that_meets_a_vector_is_streamed() -> None:
    plan, cost = priced(SQUARES[0] @ Vector(Double, "x", [500]))
    assert plan.called
    assert cost.apart == 0.0


def test_what_calls_add_to_is_written_and_read_once_more() -> None:
    A, B, C = SQUARES
    alone, added = (priced(output)[1] for output in (A @ B, pm.gemm(A, B, C, 2.0, 3.0)))
    assert added.bytes - alone.bytes == (1 + 2) * 500 * 500 * 8  # C itself, and the result twice


def test_calls_without_measurements_are_priced_as_before() -> None:
    """They are preferred by a share of a time that nobody knows."""
    plan, cost = priced(SQUARES[0] @ SQUARES[1], GENERIC)
    assert not plan.called
    assert cost.apart == 0.0
