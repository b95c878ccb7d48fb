"""Sweeps whose steps threads take by turns: results are those of one thread, and of the interpreter."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import polymat as pm
from benchmarks.polybench import seidel_2d
from polymat import Case, Compiled, Condition, Double, Function, Int, Interval, Options

L, M, N, T = (pm.Parameter(Int, name) for name in "LMNT")
t, i, j, k = (pm.Variable(Int, name) for name in "tijk")
SHARED = Options(parallel_threshold=0)
SIZES = (0, 1, 2, 3, 9, 10, 11, 17, 31, 40)


@cache
def sweeps(threads: int) -> Compiled:
    compiled = seidel_2d.KERNEL.compile(options=Options(threads=threads, parallel_threshold=0))
    assert isinstance(compiled, Compiled)
    return compiled


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_threads_compute_the_same(steps: int, threads: int) -> None:
    for size in SIZES:
        given = np.random.default_rng(size).random((size, size))
        found = sweeps(threads)(given, T=steps)
        np.testing.assert_array_equal(found, sweeps(1)(given, T=steps))
        np.testing.assert_allclose(found, sweeps(1).reference(given, T=steps), rtol=1e-12)


def wavefront() -> Function:
    """A sweep whose edge is given at each step, of which a field of one point has nothing else."""
    A = pm.Matrix(Double, "A", [N, N])
    X = Function(([t, i, j], [Interval(Int, 0, T), *[Interval(Int, 0, N - 1)] * 2]), Double, "X")
    inside, edge = Condition(t, ">", 0), Condition(t, "==", 0)
    for index in (i, j):
        inside = inside & Condition(index, ">", 0) & Condition(index, "<", N - 1)
        edge = edge | Condition(index, "==", 0) | Condition(index, "==", N - 1)
    near = X(t, i - 1, j) + X(t, i, j - 1) + X(t - 1, i + 1, j) + X(t - 1, i, j + 1)
    X.defn = [Case(edge, A(i, j)), Case(inside, near / 4)]
    last = Function(([i, j], [Interval(Int, 0, N - 1)] * 2), Double, "last")
    last.defn = [X(T, i, j)]
    return last


@pytest.mark.parametrize("turns", [True, False])
def test_steps_without_loops_over_rows_wait_for_whole_steps(turns: bool) -> None:
    compiled = pm.compile(wavefront(), name="front", options=replace(SHARED, threads=2, unroll=turns))
    for size in SIZES:
        given = np.random.default_rng(size).random((size, size))
        for steps in (0, 1, 4):
            expected = compiled.reference(given, T=steps)
            np.testing.assert_allclose(compiled(given, T=steps), expected, rtol=1e-12)


def test_steps_with_an_edge_of_their_own_that_are_all_kept() -> None:
    """Beside an edge of one column isl does not make all of the parts that it is asked for."""
    A = pm.Matrix(Double, "A", [M, N])
    box = [Interval(Int, 0, T), Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)]
    x = Function(([t, i, j], box), Double, "x")
    inside, edge = Condition(t, ">=", 1), Condition(t, "<", 1)
    for index, size in ((i, M), (j, N)):
        inside = inside & Condition(index, ">=", 1) & Condition(index, "<=", size - 2)
        edge = edge | Condition(index, "<", 1) | Condition(index, ">", size - 2)
    near = x(t, i, j - 1) + x(t, i - 1, j - 1) + x(t - 1, i + 1, j - 1)
    x.defn = [Case(inside, near / 4), Case(edge, A(i, j))]
    compiled = pm.compile(x, inputs=[A], name="kept", options=SHARED)
    for shape in ((0, 0), (1, 1), (2, 9), (9, 2), (17, 11), (30, 33)):
        given = np.random.default_rng(5).random(shape)
        np.testing.assert_allclose(compiled(given, T=4), compiled.reference(given, T=4), rtol=1e-12)


def test_steps_over_a_triangle() -> None:
    """For which isl fails to join sets in one of its ways."""
    A = pm.Matrix(Double, "A", [M, N])
    box = [Interval(Int, 0, T), Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)]
    x = Function(([t, i, j], box), Double, "x", default=A(i, j))
    rows = Condition(i, ">=", 2) & Condition(i, "<=", M - 3) & Condition(i, "<=", j)
    inner = rows & Condition(j, ">=", 1) & Condition(j, "<=", N - 2) & Condition(t, ">=", 1)
    near = x(t, i, j - 1) + x(t - 1, i + 2, j + 1) + x(t - 1, i, j)
    x.defn = [Case(inner, near / 4)]
    last = Function(([i, j], box[1:]), Double, "last")
    last.defn = [x(T, i, j)]
    compiled = pm.compile(last, inputs=[A], name="triangle", options=SHARED)
    for shape in ((0, 0), (5, 5), (17, 11), (30, 33)):
        given = np.random.default_rng(6).random(shape)
        np.testing.assert_allclose(compiled(given, T=4), compiled.reference(given, T=4), rtol=1e-12)


def test_one_sweep_over_planes() -> None:
    """Planes behind each other, of which each needs the one before and its own points."""
    A = pm.Image(Double, "A", [L, M, N])
    box = [Interval(Int, 0, each - 1) for each in (L, M, N)]
    x = Function(([i, j, k], box), Double, "x", default=A(i, j, k))
    inner = Condition(i, ">=", 1) & Condition(j, ">=", 1) & Condition(k, ">=", 1) & Condition(j, "<=", M - 2)
    x.defn = [Case(inner, 0.3 * (x(i, j, k - 1) + x(i - 1, j + 1, k) + x(i, j - 1, k)) + A(i, j, k))]
    compiled = pm.compile(x, inputs=[A], name="planes", options=SHARED)
    assert "by turns, each behind the one before" in str(compiled.explain())
    for shape in ((0, 3, 4), (1, 1, 1), (5, 1, 7), (3, 11, 5), (9, 23, 6)):
        given = np.random.default_rng(7).random(shape)
        np.testing.assert_allclose(compiled(given), compiled.reference(given), rtol=1e-12)


@pytest.mark.parametrize("begin", [0, 3])
def test_steps_before_any_has_rows(begin: int) -> None:
    """Threads wait only for steps that run: of those before the first rows there are none to wait for."""
    A = pm.Matrix(Double, "A", [N, N])
    box = [Interval(Int, 0, T), Interval(Int, 0, t - begin), Interval(Int, 0, N - 1)]
    x = Function(([t, i, j], box), Double, "x", default=A(0, j))
    inner = Condition(t, ">", begin) & Condition(i, ">=", 1) & Condition(i, "<=", t - begin - 2)
    near = x(t, i, j - 1) + x(t, i - 1, j) + x(t - 1, i + 1, j)
    x.defn = [Case(inner & Condition(j, ">=", 1), near / 4)]
    compiled = pm.compile(x, inputs=[A], name="later", options=SHARED)
    assert ("by turns, each behind the one before" in str(compiled.explain())) == (begin == 0)
    for steps in (begin, 9, 40):
        given = np.random.default_rng(steps).random((5, 5))
        np.testing.assert_allclose(compiled(given, T=steps), compiled.reference(given, T=steps), rtol=1e-12)
