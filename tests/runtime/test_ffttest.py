"""FFT libraries that are right but for one thing: found out before the first program that calls them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Float, Int, Options, Parameter, Signal
from polymat.errors import ToolchainError
from polymat.lang.types import ScalarType
from polymat.runtime import providers
from polymat.runtime.ffttest import wrong_transforms
from polymat.runtime.libraries import Library
from polymat.runtime.providers import provider
from tests.runtime import library_callers as callers

N = Parameter(Int, "N")
HEAD = """
#define _GNU_SOURCE
#include <dlfcn.h>
typedef struct { long n, is, os; } dim;
#define NEXT(name) dlsym(RTLD_NEXT, name)
"""
_PLAN_COMPLEX = """
void *@P@_plan_guru64_dft(int rank, dim *dims, int more, dim *batch, void *x, void *y, int sign, unsigned f)
{
    void *(*const next)(int, dim *, int, dim *, void *, void *, int, unsigned) =
        NEXT("@P@_plan_guru64_dft");
    return next(@ARGUMENTS@);
}
"""
_PLAN_BACK = """
void *@P@_plan_guru64_dft_c2r(int rank, dim *dims, int more, dim *batch, void *x, void *y, unsigned f)
{
    void *(*const next)(int, dim *, int, dim *, void *, void *, unsigned) =
        NEXT("@P@_plan_guru64_dft_c2r");
    return next(@ARGUMENTS@);
}
"""
_DESTROYS = """
void @P@_execute_dft_c2r(void *plan, char *x, void *y)
{
    void (*const next)(void *, void *, void *) = NEXT("@P@_execute_dft_c2r");
    next(@ARGUMENTS@);
    x[2] ^= 1;
}
"""
_IDLE = "void @P@_execute_@ARGUMENTS@(void *plan, void *x, void *y) { (void)plan, (void)x, (void)y; }\n"
_NO_PLAN = "void *@P@_plan_guru64_@ARGUMENTS@(int rank) { (void)rank; return 0; }\n"
LIES = {
    "the other sign": (_PLAN_COMPLEX, "rank, dims, more, batch, x, y, -sign, f"),
    "one of several": (_PLAN_COMPLEX, "rank, dims, 0, batch, x, y, sign, f"),
    "one dimension of two": (_PLAN_COMPLEX, "rank > 1 ? 1 : rank, dims, more, batch, x, y, sign, f"),
    "not in place": (_PLAN_COMPLEX, "x == y ? 0 : rank, dims, more, batch, x, y, sign, f"),
    "destroys its input": (_DESTROYS, "plan, x, y"),
    "one spectrum of several": (_PLAN_BACK, "rank, dims, 0, batch, x, y, f"),
    **{f"idle {kind}": (_IDLE, kind) for kind in ("dft", "dft_r2c", "dft_c2r")},
    **{f"no plan {kind}": (_NO_PLAN, kind) for kind in ("dft", "dft_r2c", "dft_c2r")},
}


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test chooses anew."""
    monkeypatch.setattr(providers, "_chosen", {})
    monkeypatch.setattr(providers, "_wrong", {})


def liar(directory: Path, lie: str, prefix: str) -> Path:
    """The usual library with something else before one of its routines."""
    usual = provider("fft")
    assert usual is not None
    text, arguments = LIES[lie]
    source = HEAD + text.replace("@P@", prefix).replace("@ARGUMENTS@", arguments)
    return callers.library(directory, "libfftw3.so.3", source, *usual.paths)


@pytest.mark.parametrize("prefix", ["fftw", "fftwf"])
def test_the_usual_library_is_right(prefix: str) -> None:
    usual = provider("fft")
    assert usual is not None
    assert wrong_transforms(usual.address, prefix) == ""


@pytest.mark.covering
@pytest.mark.parametrize("prefix", ["fftw", "fftwf"])
@pytest.mark.parametrize("lie", sorted(LIES))
def test_a_lie_is_found_out(lie: str, prefix: str, tmp_path: Path) -> None:
    path = liar(tmp_path, lie, prefix)
    handle = providers._open("fft", path)
    other = "fftwf" if prefix == "fftw" else "fftw"
    library = providers.Provider("fft", "fftw3", (path,), "environment", "", (handle,))
    assert "gives wrong results: a " in library.wrong([f"{prefix}_execute_dft"])
    assert library.wrong([f"{other}_execute_dft"]) == ""


@pytest.mark.parametrize(("dtype", "calls"), [(Double, [("fft",)]), (Float, [()])])
def test_one_precision_is_used_until_the_other_is_wrong(
    dtype: ScalarType, calls: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    path = liar(tmp_path, "the other sign", "fftwf")
    library = Library("fft", "fftw3", path, "environment")
    monkeypatch.setattr(providers, "found_libraries", lambda: iter((library,)))
    monkeypatch.setattr(providers, "_chosen", {})
    x = Signal(dtype, "x", N)
    options = Options(fft="auto", cflags=("-O1",))
    with caplog.at_level(logging.WARNING, "polymat.libraries"):
        compiled: Any = pm.compile(pm.rfft(x), inputs=[x], options=options, estimates={N: 4096})
    assert [group.library_calls for group in compiled.explain().groups] == calls
    assert ("gives wrong results: a transform of 7 in complex64" in caplog.text) is (dtype == Float)
    samples = np.arange(9, dtype=dtype.dtype)
    np.testing.assert_allclose(compiled(samples), np.fft.rfft(samples), atol=1e-4)


def test_single_precision_alone_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = provider("fft")
    assert usual is not None
    monkeypatch.setenv("POLYMAT_FFT", str(usual.paths[1]))
    for dtype, calls in ((Float, [("fft",)]), (Double, [()])):
        x = Signal(dtype, "x", N)
        options = Options(cflags=("-O1",))
        compiled: Any = pm.compile(pm.rfft(x), inputs=[x], options=options, estimates={N: 4096})
        assert [group.library_calls for group in compiled.explain().groups] == calls
    with pytest.raises(ToolchainError, match=r"calls fftw_\w+, which fftw") as caught:
        pm.compile(pm.rfft(x), inputs=[x], options=Options(fft="always"))
    assert "double precision in a library of its own, libfftw3:" in str(caught.value.hint)
