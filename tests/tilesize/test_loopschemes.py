"""Loops and tiles that a scheme says: read from its atoms, made for a stage, or why they are none of it."""

from __future__ import annotations

import pytest

import polymat as pm
from polymat.plan.loops import LoopPlan
from polymat.plan.schedule import Schedule
from polymat.product.scheme import Scheme
from polymat.product.schemetext import Misfit, read_scheme
from polymat.tilesize.loopschemes import Tiled, loops_by_scheme, outside_tiles, tiled_loops, tiled_product
from tests.fixed import compiled_levels

M, N = (pm.Parameter(pm.Int, name) for name in "MN")
A = pm.Matrix(pm.Double, "A", [M, N])


def scheme(text: str) -> Scheme:
    found = read_scheme(text)
    assert isinstance(found, Scheme)
    return found


def made(text: str) -> LoopPlan | Misfit:
    """The loops of sums y(i) of rows over j that a scheme says, for vectors of four."""
    schedule = compiled_levels(A.sum(axis=1).named("y"), options=pm.Options(threads=1))["tilesize"]
    assert isinstance(schedule, Schedule)
    (plan,) = schedule.plans
    assert isinstance(plan, LoopPlan)
    tiled = tiled_loops(scheme(text))
    assert isinstance(tiled, Tiled)
    return loops_by_scheme(schedule.grouping.pipeline.stage("y"), plan, tiled, 4)


def test_tiles_are_outside_and_loops_within() -> None:
    found = tiled_loops(scheme("[Par(i*j), T(i, 8), T(j, 16), R(i), R(j), V(j)]"))
    assert isinstance(found, Tiled)
    assert (found.dims, found.sizes, found.parallel) == (("i", "j"), (8, 16), "i*j")
    assert [str(atom) for atom in found.inner] == ["R(i)", "R(j)", "V(j)"]


def test_tiles_of_tiles_divide_them() -> None:
    found = tiled_loops(scheme("[T(i, 256), T(i, 32), R(i)]"))
    assert isinstance(found, Tiled)
    assert (found.sizes, found.nest) == ((32,), (("i", 256), ("i", 32)))
    assert isinstance(tiled_loops(scheme("[T(i, 256), T(i, 30), R(i)]")), Misfit)


def test_tiles_of_a_product_end_where_its_own_loops_begin() -> None:
    tiled, atoms = tiled_product(scheme("[Par(i), T(i, 8), R(k), R(j), R(i), V(j)]"), ["i", "j"])
    assert (tiled.dims, tiled.sizes, tiled.parallel) == (("i",), (8,), "i")
    assert [str(atom) for atom in atoms] == ["R(k)", "R(j)", "R(i)", "V(j)"]


def test_ways_of_tiles_are_for_tiles() -> None:
    assert outside_tiles(scheme("[R(i), R(j)]")) is None
    assert isinstance(outside_tiles(scheme("[roll(i), R(i)]")), Misfit)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("[R(i), R(j)]", "y: reduce i,j"),
        ("[Par(i), R(i), R(j), V(j)]", "y: reduce i,j omp(i) simd(j)"),
        ("[R(j), R(i), V(i)]", "y: row j,i simd(i)"),  # another order: sums in memory
    ],
)
def test_loops_are_those_of_the_scheme(text: str, printed: str) -> None:
    assert str(made(text)) == printed


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[R(i)]", "nothing runs over all of j"),
        ("[R(i), R(j), R(i)]", "two loops run over all of i"),
        ("[R(i), R(k)]", "R(k) names k, which is no dimension of it"),
        ("[Par(j), R(i), R(j)]", "Par(j) shares out no dimension of the result"),
        ("[R(i), R(j), V(j, 3)]", "V(j, 3) is no vector"),
    ],
)
def test_what_does_not_fit_is_said(text: str, problem: str) -> None:
    found = made(text)
    assert isinstance(found, Misfit)
    assert found.problem == problem
