"""Code for processors that this one is not: their vectors and caches decide, and the numbers are the same."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.driver import compile_request, request_for
from polymat.lang.types import ScalarType
from polymat.machine import known
from polymat.machine.model import Machine
from tests.compilers import clang
from tests.elsewhere import INSTALLED, run_on_aarch64
from tests.tolerance import assert_close

M, K, N = (pm.Parameter(pm.Int, name) for name in "MKN")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
SIZES = {"M": 37, "K": 29, "N": 67}
TAPS = tuple(np.linspace(-1.0, 1.0, 17))

SSE2 = replace(known.GENERIC, vector_bits=128, fma_units=1, l1_bandwidth=6e10)
AVX = replace(known.GENERIC, fma_units=1)
# The flags come after -march=native and leave what the processor lacks.
PROCESSORS = {
    "SSE2": (SSE2, ("-mno-avx",)),
    "AVX": (AVX, ("-mno-avx2", "-mno-fma")),
    "Haswell": (known.HASWELL, ("-mno-avx512f",)),
    "vectors of 512 bits, no masks": (known.ZEN4, ("-mno-avx512f",)),
}


def outputs(real: ScalarType) -> list[Any]:
    """A product, half a product, two sums over one matrix, one sum, rows, columns, samples, and a filter."""
    A, B, C = (pm.Matrix(real, name, dims) for name, dims in (("A", [M, K]), ("B", [K, N]), ("C", [M, M])))
    x, y = pm.Vector(real, "x", [K]), pm.Vector(real, "y", [M])
    samples = pm.Signal(real, "samples", N)
    rows, inner = pm.Interval(pm.Int, 1, K - 2), pm.Interval(pm.Int, 2, N - 3)
    across = pm.Function(([i, j], [rows, pm.Interval(pm.Int, 0, N - 1)]), real, "across")
    across.defn = [B(i - 1, j) + B(i, j) - B(i + 1, j)]
    blurred = pm.Function(([i, j], [rows, inner]), real, "blurred")
    blurred.defn = [across(i, j - 2) + across(i, j - 1) - across(i, j) / 3 + across(i, j + 2)]
    doubled = pm.Function(([i, j], [rows, pm.Interval(pm.Int, 0, 2 * N - 1)]), real, "doubled")
    doubled.defn = [pm.Exp(B(i, j // 2)) + pm.Floor(B(i - 1, j // 2))]
    products = [A @ B, pm.syrk(A, C, 2.0, 1.0), A @ x, y @ A, pm.dot(x, x)]
    return [*products, blurred, doubled, B.T, samples.fir(list(TAPS))]


@cache
def described(real: ScalarType) -> tuple[Any, ...]:
    """The outputs and their inputs in order, and arrays for them."""
    listed = outputs(real)
    rng = np.random.default_rng(1)
    extents = {"A": "MK", "B": "KN", "x": "K", "C": "MM", "y": "M", "samples": "N"}
    arrays = {
        name: rng.normal(size=[SIZES[letter] for letter in letters]).astype(real.dtype)
        for name, letters in extents.items()
    }
    return listed, arrays


def compiled_for(machine: Machine, real: ScalarType, cflags: tuple[str, ...]) -> pm.Compiled:
    options = pm.Options(blas="never", fft="never", parallel_threshold=0, threads=2, cflags=("-O1", *cflags))
    request = request_for(described(real)[0], name="all", options=options)
    return compile_request(replace(request, machine=replace(machine, cores=2)))


def assert_right(results: Any, expected: Any, real: ScalarType) -> None:
    assert len(results) == len(expected) == len(outputs(real))
    for index, (actual, wanted) in enumerate(zip(results, expected, strict=True)):
        assert np.abs(wanted).max() > 1
        assert_close(actual, wanted, roundings=4 * SIZES["K"] + 40, magnitude=40.0, name=f"output {index}")


@pytest.mark.covering
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the flags are those of x86-64")
@pytest.mark.parametrize("real", [pm.Float, pm.Double], ids=str)
@pytest.mark.parametrize("name", PROCESSORS)
def test_another_x86(name: str, real: ScalarType) -> None:
    machine, cflags = PROCESSORS[name]
    compiled = compiled_for(machine, real, cflags)
    assert f"vector_size({machine.vector_bits // 8})" in compiled.source
    arrays = described(real)[1]
    assert_right(compiled(**arrays), compiled.reference(**arrays), real)


@pytest.mark.parametrize("real", [pm.Float, pm.Double], ids=str)
def test_clang(real: ScalarType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMAT_CC", clang() or pytest.skip("no clang with OpenMP"))
    compiled = compiled_for(known.HASWELL, real, ())
    arrays = described(real)[1]
    assert_right(compiled(**arrays), compiled.reference(**arrays), real)


@pytest.mark.parametrize("real", [pm.Float, pm.Double], ids=str)
def test_code_for_aarch64_reaches_nothing_of_x86(real: ScalarType) -> None:
    """What is left of the C where no macro of x86 is defined; the preprocessor is this machine's."""
    source = compiled_for(known.NEOVERSE_N1, real, ()).source
    assert "ia32" in source or "__asm__" in source or "__AVX" in source  # there is something to leave out
    macros = subprocess.run(
        ["gcc", "-dM", "-E", "-x", "c", os.devnull], capture_output=True, text=True, check=True
    )
    foreign = re.findall(r"#define (__(?:x86_64|amd64|i386|SSE|MMX|AVX|FMA|k8|SSSE)\w*)", macros.stdout)
    kept = re.sub(r"^\s*#\s*include.*$", "", source, flags=re.M)
    left = subprocess.run(
        ["gcc", "-E", "-P", "-x", "c", *(f"-U{name}" for name in foreign), "-D__aarch64__=1", "-"],
        input=kept,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "_pm_entry" in left
    assert re.findall(r"__builtin_ia32_\w+|_mm\d*_\w+|__m(?:128|256|512)\w*|\bxmm|\brep\b", left) == []


@pytest.mark.skipif(not INSTALLED, reason="no compiler for aarch64, or no emulator")
@pytest.mark.parametrize("real", [pm.Float, pm.Double], ids=str)
def test_aarch64(real: ScalarType, tmp_path: Path) -> None:
    compiled = compiled_for(known.NEOVERSE_N1, real, ())
    arrays = described(real)[1]
    expected = compiled.reference(**arrays)
    before = [np.zeros_like(array) for array in expected]
    given = [arrays[name] for name in compiled.signature.order]
    results = run_on_aarch64(compiled, tmp_path, given, before, SIZES, flags=("-O1", "-mcpu=neoverse-n1"))
    assert_right(results, expected, real)
