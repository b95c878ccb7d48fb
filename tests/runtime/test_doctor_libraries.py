"""What doctor says of BLAS and FFT libraries, and of bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from polymat.runtime import providers
from polymat.runtime.doctor import bytes_text, findings
from tests.runtime import library_callers as callers
from tests.runtime.small_blas import small_blas


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test chooses anew."""
    monkeypatch.setattr(providers, "_chosen", {})


def said(topic: str) -> str:
    return next(found.text for found in findings() if found.topic == topic)


def test_what_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    lines = said("BLAS").splitlines()
    assert lines[0].startswith("openblas ")
    assert "tried and right: " in lines[0]
    assert lines[1] == "OpenBLAS uses the kernels that OPENBLAS_CORETYPE=Prescott asks for"
    monkeypatch.delenv("OPENBLAS_CORETYPE")
    assert "OPENBLAS_CORETYPE" not in said("BLAS")
    assert said("FFT").startswith("fftw3 ")


def test_kernels_of_openblas_are_told_of_openblas_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    monkeypatch.setenv("POLYMAT_BLAS", str(small_blas(tmp_path)))
    assert "tried and right: " in said("BLAS")
    assert "OPENBLAS_CORETYPE" not in said("BLAS")


def test_none_and_wrong_ones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POLYMAT_FFT", "none")
    monkeypatch.setenv("POLYMAT_BLAS", str(callers.fake_blas(tmp_path)))
    fft = said("FFT").splitlines()
    assert fft[0] == "none in use: loops are used instead"
    assert any(line.startswith("also found: fftw3 ") for line in fft[1:])
    assert said("BLAS").startswith("ToolchainError: POLYMAT_BLAS is ")
    assert "gives wrong results: cblas_dgemm" in said("BLAS")


def test_bytes_for_people() -> None:
    assert [bytes_text(n) for n in (0, 1023, 1024, 1536, 1 << 20, 3 << 30)] == [
        "0 bytes",
        "1023 bytes",
        "1 KiB",
        "1.5 KiB",
        "1 MiB",
        "3 GiB",
    ]
