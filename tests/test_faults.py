"""A call into arrays that are there touches no page for the first time once scratch memory is there."""

from __future__ import annotations

import resource
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Matrix, Parameter, Signal, Vector
from polymat.lang.types import Int
from polymat.runtime.settings import settings

N, M, K = (Parameter(Int, name) for name in "NMK")
Program = tuple[Any, dict[Parameter, int], dict[str, tuple[int, ...]]]


def product() -> Program:
    """Packs both operands."""
    A, B = Matrix(Double, "A", [N, K]), Matrix(Double, "B", [K, M])
    return A @ B, {N: 700, M: 900, K: 800}, {"A": (700, 800), "B": (800, 900)}


def long_filter() -> Program:
    """Transforms of blocks, with plans and spectra of a library."""
    x, h = Signal(Double, "x", N), Vector(Double, "h", [3001])
    return x.fir(h, mode="valid"), {N: 300_000}, {"x": (300_000,), "h": (3001,)}


@pytest.mark.skipif(settings().memory_checker, reason="the tool writes notes of its own")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("program", [product, long_filter])
def test_a_third_call_meets_no_new_page(program: Callable[[], Program], threads: int) -> None:
    definition, estimates, shapes = program()
    compiled = pm.compile(definition, name=program.__name__, estimates=estimates)
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal(shapes[array.name]) for array in compiled.signature.inputs]
    with pm.threads(threads):
        result = compiled(*arrays)
        for _ in range(2):
            compiled(*arrays, out=result)
        met = sorted(pages_met(compiled, arrays, result) for _ in range(11))
    assert met[5] == 0, f"pages that eleven calls met: {met}"


def pages_met(compiled: pm.Compiled, arrays: list[np.ndarray], result: np.ndarray) -> int:
    """The operating system may take pages away between two calls, so that one count alone says little."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    compiled(*arrays, out=result)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
