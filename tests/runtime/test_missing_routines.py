"""Libraries that have little: what they lack is done without, or said where a call is wanted in any case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Complex, Double, Float, Int, Matrix, Options, Parameter, Signal
from polymat.errors import ToolchainError
from polymat.lang.types import ScalarType
from polymat.runtime import providers
from polymat.runtime.providers import provider
from tests.runtime.small_blas import small_blas
from tests.tolerance import assert_close

M, K, N = (Parameter(Int, name) for name in "MKN")


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test chooses anew."""
    monkeypatch.setattr(providers, "_chosen", {})


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Products of all types, and syrk of doubles alone."""
    return small_blas(tmp_path_factory.mktemp("small"))


@pytest.fixture
def doubles_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """An FFTW without its single precision, which distributions have as a package of its own."""
    usual = provider("fft")
    assert usual is not None
    monkeypatch.setenv("POLYMAT_FFT", str(usual.paths[0]))


def called(compiled: Any) -> list[str]:
    return [name for group in compiled.explain().groups for name in group.library_calls]


@pytest.mark.covering
@pytest.mark.parametrize("blas", ["auto", "always"])
@pytest.mark.parametrize(("dtype", "routine"), [(Double, "syrk"), (Float, "gemm"), (Complex, "gemm")])
def test_a_product_with_its_own_transpose_is_whole_without_syrk(
    dtype: ScalarType, routine: str, blas: Any, monkeypatch: pytest.MonkeyPatch, small: Path
) -> None:
    monkeypatch.setenv("POLYMAT_BLAS", str(small))
    A = Matrix(dtype, "A", [M, K])
    options = Options(blas=blas, kernels=False, cflags=("-O1",))
    compiled: Any = pm.compile(A @ A.T, inputs=[A], options=options, estimates={M: 2000, K: 2000})
    assert called(compiled) == [routine]
    rng = np.random.default_rng(3)
    for shape in ((0, 3), (1, 1), (17, 5)):
        a = rng.integers(-3, 4, shape).astype(dtype.dtype)
        np.testing.assert_array_equal(compiled(a), a @ a.T)


@pytest.mark.usefixtures("doubles_alone")
def test_transforms_in_a_precision_that_is_not_there_are_sums() -> None:
    rng = np.random.default_rng(4)
    for dtype, calls in ((Float, []), (Double, ["fft"])):
        x = Signal(dtype, "x", N)
        compiled: Any = pm.compile(
            pm.rfft(x), inputs=[x], estimates={N: 4096}, options=Options(cflags=("-O1",))
        )
        assert called(compiled) == calls
        samples = rng.standard_normal(31).astype(dtype.dtype)
        expected = np.fft.rfft(samples.astype("f8"))
        magnitude = np.full(16, np.abs(samples).sum())
        assert_close(
            compiled(samples), expected.astype(compiled(samples).dtype), roundings=64, magnitude=magnitude
        )


@pytest.mark.usefixtures("doubles_alone")
def test_a_filter_in_a_precision_that_is_not_there_is_a_sum() -> None:
    for dtype, transformed in ((Float, False), (Double, True)):
        x = Signal(dtype, "x", N)
        y = x.fir(pm.firwin(2001, 0.2), mode="valid")
        compiled: Any = pm.compile(y, inputs=[x], estimates={N: 1 << 20}, options=Options(cflags=("-O1",)))
        assert ("fft" in called(compiled)) is transformed
        ones = np.ones(2011, dtype.dtype)
        np.testing.assert_allclose(compiled(ones), np.ones(11), rtol=1e-4)


@pytest.mark.usefixtures("doubles_alone")
def test_a_transform_that_is_wanted_says_which_precision_is_missing() -> None:
    x = Signal(Float, "x", N)
    with pytest.raises(ToolchainError, match=r"calls fftwf_\w+, which fftw .*does not have") as caught:
        pm.compile(pm.rfft(x), name="spectrum", inputs=[x], options=Options(fft="always"))
    assert "single precision in a library of its own, libfftw3f" in str(caught.value.hint)
