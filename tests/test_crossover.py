"""The same source with two libraries: the sizes from which each is called follow what was measured of it."""

from __future__ import annotations

import itertools

import pytest

from polymat import Double, Int, Matrix, Options, Parameter, callplans
from polymat.callplans import CallPlanner
from polymat.errors import ToolchainError
from polymat.idiom.plan import CallPlan
from polymat.machine.grid import Grid
from polymat.machine.known import GENERIC
from polymat.machine.librarymodel import LibraryModel
from tests.idiom.recognise import pipeline

N = Parameter(Int, "N")
LEVELS = tuple(2**k for k in range(11))


def library(call_seconds: float, flops: float) -> LibraryModel:
    points = itertools.product(LEVELS, repeat=3)
    seconds = tuple(call_seconds + 2.0 * m * n * k / flops for m, n, k in points)
    return LibraryModel("", "", "", {("gemm", "float64"): Grid((LEVELS,) * 3, seconds)})


def least(monkeypatch: pytest.MonkeyPatch, model: LibraryModel | None) -> float:
    monkeypatch.setattr(callplans, "library_model", lambda kind: model)
    A, B = Matrix(Double, "A", [N, N]), Matrix(Double, "B", [N, N])
    built = pipeline(A * B)
    names = tuple(stage.name for stage in built.stages)
    plan = CallPlanner(built, GENERIC, {"N": 100}, Options(blas="auto"), 1).plan(names)
    assert isinstance(plan, CallPlan)
    return plan.least


def test_the_crossover_follows_the_measurements(monkeypatch: pytest.MonkeyPatch) -> None:
    peak = GENERIC.peak_flops(8)
    nimble, sluggish = library(2e-8, 0.8 * peak), library(2e-6, 0.9 * peak)
    assert least(monkeypatch, nimble) < least(monkeypatch, sluggish) < 256**3
    assert least(monkeypatch, library(1e-8, peak / 1000)) == 256**3


def test_a_library_that_cannot_be_used_leaves_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    estimate = least(monkeypatch, None)

    def missing(kind: str) -> LibraryModel:
        raise ToolchainError("POLYMAT_BLAS names no library")

    A, B = Matrix(Double, "A", [N, N]), Matrix(Double, "B", [N, N])
    built = pipeline(A * B)
    monkeypatch.setattr(callplans, "library_model", missing)
    plan = CallPlanner(built, GENERIC, {"N": 100}, Options(blas="auto"), 1).plan(
        tuple(stage.name for stage in built.stages)
    )
    assert isinstance(plan, CallPlan)
    assert plan.least == estimate
