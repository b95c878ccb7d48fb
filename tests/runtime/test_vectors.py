"""Flags that leave fewer vectors than the processor has: code is written for those that are left."""

from __future__ import annotations

import platform

import numpy as np
import pytest

import polymat as pm
from polymat.machine.known import HASWELL, ZEN5
from polymat.runtime.vectors import under_flags
from tests.hosts import CompileFor
from tests.tolerance import assert_close

M, K, N = (pm.Parameter(pm.Int, name) for name in "MKN")
A, B = pm.Matrix(pm.Double, "A", [M, K]), pm.Matrix(pm.Double, "B", [K, N])
X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the flags are those of x86-64")


@X86
@pytest.mark.parametrize(
    ("flags", "bits", "registers", "units"),
    [
        (("-march=x86-64",), 128, 16, 1),
        (("-march=sandybridge",), 256, 16, 1),
        (("-march=haswell",), 256, 16, 2),
        (("-mno-avx512f",), 256, 16, 2),
        (("-march=skylake-avx512", "-mno-fma"), 512, 32, 1),
        (("-march=skylake-avx512",), 512, 32, 2),
        (("-march=x86-64", "-march=skylake-avx512"), 512, 32, 2),
        (("-mtune=generic", "-march=nonsense"), 512, 32, 2),
        (("-O2", "-DFLAGS"), 512, 32, 2),
    ],
)
def test_what_flags_leave(flags: tuple[str, ...], bits: int, registers: int, units: int) -> None:
    found = under_flags(ZEN5, flags)
    assert (found.vector_bits, found.vector_registers, found.fma_units) == (bits, registers, units)


@X86
def test_flags_do_not_widen() -> None:
    assert under_flags(HASWELL, ("-march=skylake-avx512",)) is HASWELL


@X86
@pytest.mark.parametrize("size", [0, 1, 7, 33])
@pytest.mark.parametrize(("flag", "bytes_"), [("-march=x86-64", 16), ("-march=haswell", 32)])
def test_products_fit_the_flags(flag: str, bytes_: int, size: int, compile_for: CompileFor) -> None:
    compile_for(ZEN5)
    options = pm.Options(blas="never", cflags=("-O1", flag))
    product = pm.compile(A @ B, name="product", options=options)
    assert f"typedef double _pm_vector_f64 __attribute__((vector_size({bytes_})))" in product.source
    rng = np.random.default_rng(size)
    a, b = rng.normal(size=(size, size + 1)), rng.normal(size=(size + 1, 5))
    bound = np.abs(a) @ np.abs(b)
    assert_close(product(a, b), a @ b, roundings=2 * size + 4, magnitude=bound)
